//! The devices that come first for a batch, among those that were looked at.

use super::asking::Request;
use super::member::Member;
use crate::DeviceId;

/// Those that are up before those that are down, and among them those that tried the batch least often.
#[derive(Debug, Default)]
pub(super) struct Found {
    limit: u32,
    /// Whether only a few are looked at, and one of them maybe twice.
    few: bool,
    first: Option<DeviceId>,
    best: Option<Rank>,
    /// Of the best rank.
    devices: Vec<DeviceId>,
    /// How many of them have room.
    room: usize,
    stuck: Option<DeviceId>,
    is_one_trusted: bool,
    is_one_tried: bool,
}

/// Why none was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoneFound {
    /// None takes such a batch.
    Takes,
    /// All that do have given wrong results.
    Trusted,
    /// All others have tried it as often as they may.
    Untried,
    /// This one and all others don't answer for what they hold.
    Answers(DeviceId),
}

/// Less is asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_down: bool,
    tries: u32,
}

impl Found {
    /// Begins anew; a device that tried the batch `limit` times is not asked again.
    pub(super) fn begin(&mut self, limit: u32) {
        let mut devices = std::mem::take(&mut self.devices);
        devices.clear();
        *self = Self { limit, devices, ..Self::default() };
    }

    /// The same for looking at a few devices only; `first` is the first one that takes the batch.
    pub(super) fn begin_few(&mut self, limit: u32, first: Option<DeviceId>) {
        self.begin(limit);
        (self.few, self.first) = (true, first);
    }

    /// Looks at a device that takes the batch.
    pub(super) fn add(
        &mut self,
        device: DeviceId,
        member: &Member,
        request: &Request<'_>,
        now_ns: u64,
    ) {
        self.first = self.first.or(Some(device));
        if member.is_quarantined() {
            return;
        }
        self.is_one_trusted = true;
        if !request.here && member.is_stuck() {
            self.stuck = Some(device);
            return;
        }
        let rank = Rank { is_down: !member.is_up(now_ns), tries: request.tries(device) };
        if rank.tries >= self.limit {
            self.is_one_tried = true;
            return;
        }
        if self.best.is_none_or(|best| rank < best) {
            self.best = Some(rank);
            self.devices.clear();
            self.room = 0;
        }
        let is_known = self.few && self.devices.contains(&device);
        if self.best == Some(rank) && !is_known {
            self.devices.push(device);
            self.room += usize::from(request.here || member.has_room());
        }
    }

    /// How many have room that are up and have not tried the batch: no others would come before them.
    pub(super) fn fresh(&self) -> usize {
        let best = Rank { is_down: false, tries: 0 };
        if self.best == Some(best) { self.room } else { 0 }
    }

    /// The first device that takes the batch, and whether those that were found are up.
    pub(super) fn outcome(&self) -> Result<(DeviceId, bool), NoneFound> {
        let first = self.first.ok_or(NoneFound::Takes)?;
        match (self.best, self.stuck) {
            (Some(best), _) => Ok((first, !best.is_down)),
            _ if !self.is_one_trusted => Err(NoneFound::Trusted),
            (None, Some(stuck)) if !self.is_one_tried => Err(NoneFound::Answers(stuck)),
            (None, _) => Err(NoneFound::Untried),
        }
    }

    /// Those that were found, in the engine's order.
    pub(super) fn in_order(&mut self) -> &[DeviceId] {
        self.devices.sort_unstable();
        &self.devices
    }
}
