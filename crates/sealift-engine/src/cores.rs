//! One batch on several cores.

use crate::DeviceId;
use crate::long::LongMessages;
use crate::shared::Shared;
use crate::threads;
use sealift_core::{
    Capabilities, Cuts, DeviceError, MESSAGE_BYTES, PART_BYTES_MIN, Piece, Shape, Timing, Work,
};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

impl Shared {
    /// How a batch is cut that is predicted to take one core so long; none where it had better stay whole.
    /// `may_stop` is whether it may be stopped half-way, for which long ones are cut on a single thread, too.
    pub(crate) fn cut_of(
        &self,
        device: DeviceId,
        shape: &Shape,
        work_ns: f64,
        threads: usize,
        may_stop: bool,
    ) -> Option<Cut> {
        let weight = shape.bytes().saturating_add(MESSAGE_BYTES * shape.messages as u64);
        let is_long = may_stop && weight >= STOPPABLE_BYTES;
        if work_ns < CUT_MIN_NS && !is_long {
            return None;
        }
        let Capabilities { cuts, workers, .. } = self.devices[device.0].capabilities();
        let (texts, most) = (*cuts == Cuts::Texts, shares(*cuts, shape, usize::MAX));
        let may_pay = threads > 1 && work_ns >= CUT_MIN_NS && *workers > 1;
        if !(may_pay || is_long) || most < 2 {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
        let by_time = (work_ns / PIECE_MIN_NS) as usize;
        let by_bytes = usize::try_from(weight / PIECE_BYTES).unwrap_or(usize::MAX);
        let pieces = by_bytes.max(PIECES_A_THREAD * threads).min(by_time).min(most);
        let pays = may_pay
            && pieces > 1
            && self.callers.count() < self.cores
            && self.is_help_near(work_ns)
            && !self.help_pause.is_on(|| self.clock.now_ns())
            && threads::cores_of_caller() > 1;
        match pays {
            true => Some(Cut { pieces, threads, texts }),
            false => is_long.then(|| Cut { pieces: by_bytes.min(most), threads: 1, texts }),
        }
    }

    /// How many of so many threads would share a batch of this size that the calling thread begins now.
    pub(crate) fn free_threads(&self, threads: usize, shape: &Shape) -> usize {
        if threads < 2 || shape.bytes() < SHARED_BYTES_MIN {
            return 1;
        }
        let free = self.cores.saturating_sub(self.callers.count());
        let threads = threads.min(free).min(threads::cores_of_caller()).max(1);
        if self.help_pause.is_on(|| self.clock.now_ns()) { 1 } else { threads }
    }

    /// Whether other threads begin soon enough to help with a batch that takes so long: they are awake, or
    /// it is long enough to wake one, or batches follow each other so closely that it stays awake.
    fn is_help_near(&self, work_ns: f64) -> bool {
        let is_in_row = || {
            let ended_ns = self.long_ended_ns.load(Ordering::Relaxed);
            self.clock.now_ns().saturating_sub(ended_ns) < IN_ROW_NS
        };
        work_ns >= WAKE_MIN_NS || threads::is_one_awake() || is_in_row()
    }

    /// Notes when a batch ended that might have been cut.
    pub(crate) fn note_end(&self, work_ns: f64, timing: &Timing) {
        if work_ns >= CUT_MIN_NS {
            self.long_ended_ns.store(timing.end_ns, Ordering::Relaxed);
        }
    }

    /// Works a batch in pieces, on the calling thread and on others that have time. `stop` is asked after each piece
    /// of the calling thread; when it says so, pieces that are begun are finished and no other is begun.
    ///
    /// # Errors
    /// That of the first piece that failed; the others may be worked then, or not. It was stopped.
    #[inline(never)]
    pub(crate) fn run_in_parts(
        &self,
        device: DeviceId,
        work: &mut Work<'_>,
        cut: Cut,
        stop: Stop<'_>,
    ) -> Result<Timing, RunError> {
        let start_ns = self.clock.now_ns();
        let batch = work.batch();
        let mut pieces = work.cut(cut.pieces, cut.texts);
        let mut long = LongMessages::of(self, device, batch, &pieces)?;
        if long.is_none() {
            pieces = work.cut(cut.pieces, false);
            long = LongMessages::of(self, device, batch, &pieces)?;
        }
        let long = long.unwrap_or_default();
        let pieces: Vec<_> = pieces.into_iter().map(Some).map(Mutex::new).collect();
        let (next, done) = (AtomicUsize::new(0), Mutex::new(PieceResults::default()));
        let finish = |piece: Piece<'_>| {
            let ran = match piece {
                Piece::Messages(messages) => messages.run(|work| {
                    let mut timing = Timing::NONE;
                    self.run_on(device, work, &mut timing).map(|()| timing)
                }),
                Piece::Text(part) => long.work(self, device, part),
            };
            lock(&done).add(ran)
        };
        let work_next = || {
            let piece = pieces.get(next.fetch_add(1, Ordering::Relaxed));
            piece.and_then(|piece| lock(piece).take()).is_some_and(&finish)
        };
        let (mut is_stopped, mut own_end_ns) = (false, start_ns);
        let help = || while work_next() {};
        threads::with_helpers(cut.threads.min(pieces.len()) - 1, &help, || {
            while work_next() {
                if stop() {
                    is_stopped = true;
                    next.store(pieces.len(), Ordering::Relaxed);
                    break;
                }
            }
            own_end_ns = self.clock.now_ns();
        });
        if cut.threads > 1 {
            let now_ns = self.clock.now_ns();
            self.help_pause.note(own_end_ns - start_ns, now_ns - own_end_ns, now_ns);
        }
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let count = pieces.len();
        drop(pieces);
        let concluded = long.conclude(self, device, work);
        let end_ns = self.clock.now_ns();
        if let Some(error) = done.error {
            return Err(error.into());
        }
        concluded?;
        if done.took_ns.len() < count {
            if is_stopped {
                return Err(RunError::Stopped);
            }
            let reason = "a thread that helped it has panicked".to_owned();
            return Err(self.failure(device, reason).into());
        }
        let timing = Timing::in_memory(start_ns, end_ns);
        Ok(match cut.threads {
            1 => Timing { prepared_ns: done.prepared_ns, ..timing },
            _ => Timing { core_ns: Some(done.core_ns()), ..timing },
        })
    }
}

/// Asked again and again whether to stop.
pub(crate) type Stop<'s> = &'s mut dyn FnMut() -> bool;

/// Into how many pieces a batch is cut, and how many threads may work them.
pub(crate) struct Cut {
    pieces: usize,
    threads: usize,
    /// Whether long texts are cut, too.
    texts: bool,
}

/// Into how many pieces a batch can be cut, of so many that are wanted.
pub(crate) fn shares(cuts: Cuts, shape: &Shape, wanted: usize) -> usize {
    let texts = usize::try_from(shape.text_bytes / PART_BYTES_MIN as u64).unwrap_or(usize::MAX);
    let most = match cuts {
        Cuts::Nothing => 1,
        Cuts::Batches => shape.messages,
        Cuts::Texts => shape.messages.max(texts),
    };
    wanted.min(most).max(1)
}

/// How many threads are in the middle of a batch that might be cut. Where they are as many as
/// cores, nobody has time to help.
#[derive(Debug, Default)]
pub(crate) struct Callers(AtomicUsize);

impl Callers {
    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts the calling thread in until the end of a batch that is predicted to take so long, if it is on a core.
    pub(crate) fn enter(
        &self,
        work_ns: f64,
        is_on_core: impl FnOnce() -> bool,
    ) -> Option<impl Drop + '_> {
        struct Inside<'c>(&'c Callers);
        impl Drop for Inside<'_> {
            fn drop(&mut self) {
                self.0.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        (work_ns >= CUT_MIN_NS && is_on_core()).then(|| {
            self.0.fetch_add(1, Ordering::Relaxed);
            Inside(self)
        })
    }
}

/// Whether help is not wanted for a while, because callers waited long for helpers: where other programs want the cores, a
/// helper may lose its own in the middle of a piece.
#[derive(Debug, Default)]
pub(crate) struct HelpPause {
    /// When it ends; 0 where there is none.
    end_ns: AtomicU64,
    /// How long the last one was, where nothing but pauses came since.
    length_ns: AtomicU64,
    /// When a caller last waited long.
    waited_ns: AtomicU64,
}

impl HelpPause {
    fn is_on(&self, now_ns: impl FnOnce() -> u64) -> bool {
        let end_ns = self.end_ns.load(Ordering::Relaxed);
        end_ns > 0 && now_ns() < end_ns
    }

    /// A caller worked so long and then waited so long for helpers.
    fn note(&self, worked_ns: u64, waited_ns: u64, now_ns: u64) {
        let last_ns = self.length_ns.load(Ordering::Relaxed);
        if waited_ns > WAIT_MOST_NS && waited_ns > worked_ns / 4 {
            let before_ns = self.waited_ns.swap(now_ns, Ordering::Relaxed);
            let is_alone = before_ns == 0 || now_ns.saturating_sub(before_ns) > NEAR_NS;
            if is_alone && last_ns == 0 {
                return;
            }
            let length_ns = (2 * last_ns).clamp(PAUSE_MIN_NS, PAUSE_MAX_NS);
            self.length_ns.store(length_ns, Ordering::Relaxed);
            self.end_ns.store(now_ns + length_ns, Ordering::Relaxed);
        } else if last_ns > 0 {
            self.length_ns.store(0, Ordering::Relaxed);
        }
    }
}

/// Why a batch was not worked to its end.
pub(crate) enum RunError {
    Device(DeviceError),
    /// Whoever gave the batch wanted it.
    Stopped,
}

impl From<DeviceError> for RunError {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

/// What became of the pieces so far.
#[derive(Default)]
struct PieceResults {
    took_ns: Vec<u64>,
    prepared_ns: u64,
    error: Option<DeviceError>,
}

impl PieceResults {
    /// Counts a piece in, and says whether to go on.
    fn add(&mut self, ran: Result<Timing, DeviceError>) -> bool {
        match ran {
            Ok(timing) => {
                self.took_ns.push(timing.cost_ns());
                self.prepared_ns += timing.prepared_ns;
            }
            Err(error) => self.error = Some(self.error.take().unwrap_or(error)),
        }
        self.error.is_none()
    }

    /// What the batch would have taken one core: pieces are alike, so that the median is one that nothing
    /// interrupted.
    fn core_ns(mut self) -> u64 {
        let (count, middle) = (self.took_ns.len(), self.took_ns.len() / 2);
        let (_, median, _) = self.took_ns.select_nth_unstable(middle);
        median.saturating_mul(count as u64)
    }
}

/// No code panics while it holds one of these locks.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A smaller batch is not surely shared: waking another thread may take longer.
const SHARED_BYTES_MIN: u64 = 1 << 20;
/// What takes one core less gains too little from others, even if they are awake.
const CUT_MIN_NS: f64 = 30_000.0;
/// Waking another thread takes some 50 us, and 3 us of the caller's time.
const WAKE_MIN_NS: f64 = 200_000.0;
/// Batches no further apart come in a row. A thread that has helped stays awake as long.
const IN_ROW_NS: u64 = 100_000;
/// Taking a piece costs some 0.2 us.
const PIECE_MIN_NS: f64 = 7_000.0;
/// Input and output of a piece fit the second cache.
const PIECE_BYTES: u64 = 512 << 10;
/// Several times what a piece takes.
const WAIT_MOST_NS: u64 = 300_000;
/// Two waits no further apart are no accident.
const NEAR_NS: u64 = 50_000_000;
/// A caller that waits long waits some milliseconds: so it loses a fifth of its time at most, and a hundredth where that goes on.
const PAUSE_MIN_NS: u64 = 40_000_000;
const PAUSE_MAX_NS: u64 = 640_000_000;
/// A batch that weighs so much is cut where it may be stopped: it takes about a millisecond.
const STOPPABLE_BYTES: u64 = 4 << 20;
/// So many at least, where the work is long enough: threads that come late or are interrupted take fewer.
const PIECES_A_THREAD: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_has_as_many_pieces_as_its_device_can_cut() {
        let long = Shape::of_seals(2, 20 * PART_BYTES_MIN);
        let of = |cuts| [1, 3, 64].map(|wanted| shares(cuts, &long, wanted));
        assert_eq!(of(Cuts::Nothing), [1, 1, 1]);
        assert_eq!(of(Cuts::Batches), [1, 2, 2]);
        assert_eq!(of(Cuts::Texts), [1, 3, 40]);
        let many = Shape::of_seals(1_000, 100);
        assert_eq!(shares(Cuts::Texts, &many, 64), 64);
    }

    #[test]
    fn two_long_waits_make_a_pause_and_more_of_them_a_longer_one() {
        let pause = HelpPause::default();
        let ms = 1_000_000;
        pause.note(ms, WAIT_MOST_NS, 0);
        pause.note(100 * ms, 10 * ms, 0);
        assert!(!pause.is_on(|| 1), "waits that are short beside the work");
        pause.note(ms, 4 * ms, 900 * ms);
        pause.note(ms, 4 * ms, 951 * ms);
        assert!(!pause.is_on(|| 952 * ms), "far apart");
        pause.note(ms, 4 * ms, 1_000 * ms);
        assert!(pause.is_on(|| 1_039 * ms) && !pause.is_on(|| 1_040 * ms));
        pause.note(ms, 4 * ms, 2_000 * ms);
        assert!(pause.is_on(|| 2_079 * ms) && !pause.is_on(|| 2_080 * ms));
        (0..9).for_each(|_| pause.note(ms, 4 * ms, 3_000 * ms));
        assert!(!pause.is_on(|| 3_640 * ms), "no longer than that");
        pause.note(ms, 0, 4_000 * ms);
        pause.note(ms, 4 * ms, 4_990 * ms);
        pause.note(ms, 4 * ms, 5_000 * ms);
        assert!(pause.is_on(|| 5_039 * ms) && !pause.is_on(|| 5_040 * ms));
    }
}
