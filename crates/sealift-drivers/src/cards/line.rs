//! The model of a card: what each request takes at each stage, and when an idle card is through.

use super::walk::Walk;
use crate::copying::CopyCost;

/// The stages that each request passes, in times of its bytes.
///
/// The host's processor, the link in, one of several equal units, the link out. One request is at the
/// host at a time, and one on the link in each direction; a link that shares its rate is given to a
/// request for both ways at once. What the host does when results are back, it is taken to do at the
/// start.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// Messages that one request carries.
    pub(super) messages_per_request: usize,
    pub(super) host: Host,
    /// Each way; none where no bus is in between.
    pub(super) link: Option<Link>,
    /// Crypto units.
    pub(super) units: usize,
    /// Time of a unit for each request, and for each of its bytes.
    pub(super) unit: Affine,
    pub(super) interrupts: Interrupts,
    /// Batches that the card holds at most.
    pub(super) slots: usize,
}

/// Time of the host's processor for a request, whose bytes are copied as one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Host {
    pub(super) request_ns: f64,
    /// How often each byte is copied.
    pub(super) copies: f64,
    pub(super) copy: CopyCost,
}

/// A time that grows with bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Affine {
    pub(super) request_ns: f64,
    pub(super) byte_ns: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    pub(super) byte_ns: f64,
    /// Whether what goes in does not slow what comes out.
    pub(super) duplex: bool,
    /// Whether a unit works on what has arrived while the rest is on its way, and sends what it has
    /// worked: the link takes no time of its own then, but a unit is busy for as long as all bytes of a
    /// request need on it.
    pub(super) streams: bool,
    pub(super) latency_ns: f64,
}

/// How the host is told of results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interrupts {
    /// Requests at most behind one of them.
    pub(super) merged_max: usize,
    /// Longest that one is held back to merge with more.
    pub(super) hold_ns: f64,
    /// Time of the host's processor for each.
    pub(super) host_ns: f64,
}

/// What limits how many batches a card works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The host's processor.
    Host,
    /// The link between host and card.
    Link,
    /// The card: its units, or the batches that it holds.
    Card,
}

/// What a card is reckoned to take for a batch of equal messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// From handing over to results, on an idle card, in nanoseconds.
    pub batch_ns: f64,
    /// Time of the host's processor for it, in nanoseconds; where results share interrupts, in a queue.
    pub host_ns: f64,
    /// Between the ends of such batches when as many are queued as the card holds, in nanoseconds. Where
    /// these are less than three requests for each unit, it may be a third more.
    pub interval_ns: f64,
    /// What sets that interval.
    pub bound_by: Bound,
}

impl Line {
    pub(super) fn predict(&self, messages: u64, message_bytes: u64) -> Prediction {
        self.predict_batch(messages, messages as f64 * message_bytes as f64)
    }

    /// The same, given the bytes of all messages together.
    pub(super) fn predict_batch(&self, messages: u64, bytes: f64) -> Prediction {
        let requests = self.requests(messages);
        let each_bytes = bytes / requests.max(1) as f64;
        let stages = self.stages(each_bytes).with_interrupt(self.interrupts);
        let (batch_ns, host_ns) = if self.interrupts.merged_max == 1 {
            (self.idle_ns(messages, bytes, &stages), self.host_ns(messages, bytes, &stages))
        } else {
            self.merging_ns(messages, bytes)
        };
        let card_ns = requests as f64 * stages.unit_ns / self.units as f64;
        // As many batches as there are slots are on the way at once, and none more.
        let others = [
            (requests as f64 * stages.link_ns, Bound::Link),
            (host_ns, Bound::Host),
            (batch_ns / self.slots as f64, Bound::Card),
        ];
        let longer =
            |most: (f64, Bound), other: (f64, Bound)| if other.0 > most.0 { other } else { most };
        let (interval_ns, bound_by) = others.into_iter().fold((card_ns, Bound::Card), longer);
        Prediction { batch_ns, host_ns, interval_ns, bound_by }
    }

    /// As how many workers, each of which takes [`Prediction::batch_ns`] for a batch, the card works
    /// batches of one request: of a middling one, as this can't depend on the batch.
    pub(super) fn workers(&self) -> usize {
        let of_one = self.predict_batch(self.messages_per_request as u64, TYPICAL_REQUEST_BYTES);
        let workers = (of_one.batch_ns / of_one.interval_ns).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let workers = workers.clamp(1.0, self.slots as f64) as usize;
        workers
    }

    /// Into how many requests a batch is cut.
    fn requests(&self, messages: u64) -> usize {
        let requests = messages.div_ceil(self.messages_per_request as u64);
        usize::try_from(requests).unwrap_or(usize::MAX)
    }

    /// What a request takes, without an interrupt.
    pub(super) fn stages(&self, bytes: f64) -> Stages {
        let host_ns = self.host.of(bytes);
        let unit_ns = self.unit.of(bytes);
        let Some(link) = self.link else {
            return Stages { host_ns, transfer_ns: 0.0, link_ns: 0.0, latency_ns: 0.0, unit_ns };
        };
        let (way_ns, latency_ns) = (link.byte_ns * bytes, link.latency_ns);
        let link_ns = if link.duplex { way_ns } else { 2.0 * way_ns };
        if link.streams {
            let unit_ns = unit_ns.max(link_ns);
            return Stages { host_ns, transfer_ns: 0.0, link_ns, latency_ns, unit_ns };
        }
        Stages { host_ns, transfer_ns: way_ns, link_ns, latency_ns, unit_ns }
    }

    /// What the host spends on a batch where each result has an interrupt: copies of a last request that
    /// is less full may take less than their share.
    fn host_ns(&self, messages: u64, bytes: f64, stages: &Stages) -> f64 {
        let full = self.messages_per_request as u64;
        let (rest, before) = (messages % full, messages / full);
        if rest == 0 || before == 0 {
            return self.requests(messages) as f64 * stages.host_ns;
        }
        let request_ns = |messages_in: u64| {
            let bytes = bytes / messages as f64 * messages_in as f64;
            self.host.of(bytes) + self.interrupts.host_ns
        };
        before as f64 * request_ns(full) + request_ns(rest)
    }

    /// When an idle card is through with a batch where each result has an interrupt.
    fn idle_ns(&self, messages: u64, bytes: f64, stages: &Stages) -> f64 {
        let requests = self.requests(messages);
        let rest = messages % self.messages_per_request as u64;
        if rest == 0 || requests == 1 || requests > WALKED_MAX {
            return requests.checked_sub(1).map_or(0.0, |last| stages.out_ns(self.units, last));
        }
        Walk::new(self.units).batch(self, 0.0, &self.each(messages, bytes)).told_ns
    }

    /// When an idle card is through with a batch where results share interrupts, and what the host spends
    /// on each of a queue: how many share one depends on when they come.
    fn merging_ns(&self, messages: u64, bytes: f64) -> (f64, f64) {
        let walked =
            messages.min((WALKED_MAX as u64).saturating_mul(self.messages_per_request as u64));
        let times = messages as f64 / walked.max(1) as f64;
        let each = self.each(walked, bytes / times.max(1.0));
        let batch_ns = Walk::new(self.units).batch(self, 0.0, &each).told_ns;
        let (mut walk, mut told_ns, mut host_ns) = (Walk::new(self.units), vec![], 0.0);
        for at in 0..QUEUED {
            let now_ns = at.checked_sub(self.slots).map_or(0.0, |before: usize| told_ns[before]);
            let walked = walk.batch(self, now_ns, &each);
            told_ns.push(walked.told_ns);
            host_ns += walked.host_ns / QUEUED as f64;
        }
        (batch_ns * times, host_ns * times)
    }

    /// The bytes of each request of a batch of equal messages, of which the last may be less full.
    fn each(&self, messages: u64, bytes: f64) -> Vec<f64> {
        let full = self.messages_per_request as u64;
        let message_bytes = bytes / messages.max(1) as f64;
        let full_bytes = full as f64 * message_bytes;
        let mut each = vec![full_bytes; self.requests(messages)];
        if let Some(last) = each.last_mut().filter(|_| !messages.is_multiple_of(full)) {
            *last = (messages % full) as f64 * message_bytes;
        }
        each
    }
}

/// What one request takes at each stage, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stages {
    pub(super) host_ns: f64,
    /// On the link, one way.
    pub(super) transfer_ns: f64,
    /// Until the link takes the next one in.
    pub(super) link_ns: f64,
    pub(super) latency_ns: f64,
    pub(super) unit_ns: f64,
}

impl Stages {
    /// The same for a request that opens an interrupt.
    pub(super) fn with_interrupt(self, interrupts: Interrupts) -> Self {
        Self { host_ns: self.host_ns + interrupts.host_ns, ..self }
    }

    /// When an idle card has sent back the result of a request, of equal ones handed over at once.
    ///
    /// Requests come to the units at an even pace. Unit `r` works requests `r`, `r + units` and so on,
    /// so that request `i` ends as the later of two: after its own arrival, or after those before it on
    /// its unit. Both grow evenly in turns and in places within a turn, and so does the wait for the
    /// link out: its longest is at a corner.
    fn out_ns(&self, units: usize, request: usize) -> f64 {
        let first_ns = self.host_ns + self.transfer_ns + self.latency_ns;
        let pace_ns = self.host_ns.max(self.link_ns);
        let end_ns = |request: usize| {
            let (turn, place) = ((request / units) as f64, (request % units) as f64);
            let after_arrival = request as f64 * pace_ns + self.unit_ns;
            let after_others = place * pace_ns + (turn + 1.0) * self.unit_ns;
            first_ns + after_arrival.max(after_others)
        };
        let turn = request - request % units;
        let corners = [0, (units - 1).min(request), turn.saturating_sub(1), turn, request];
        let outs_ns = corners.map(|from| {
            let behind = request - from + 1;
            end_ns(from) + behind as f64 * self.transfer_ns
        });
        outs_ns.into_iter().fold(0.0, f64::max) + self.latency_ns
    }
}

impl Host {
    pub(super) fn of(&self, bytes: f64) -> f64 {
        self.request_ns + self.copies * self.copy.of(bytes)
    }
}

impl Affine {
    pub(super) fn of(self, bytes: f64) -> f64 {
        self.request_ns + self.byte_ns * bytes
    }
}

/// Batches that are walked through a card for what they take among others.
const QUEUED: usize = 8;
const TYPICAL_REQUEST_BYTES: f64 = 1_024.0;
/// Of more requests than that, a last one with fewer messages than the others makes no difference, and
/// those beyond share interrupts as the others do.
const WALKED_MAX: usize = 4_096;
