//! The messages of one thread: worked while the clock runs, compared once it has stopped.

use super::lot::Lot;
use super::material::Maker;
use super::rota::Rota;
use super::verify::{self, Expected};
use super::wish::Wish;
use crate::ArmError;
use crate::crew::{Done, Part};
use crate::random::Random;
use sealift::{DeviceId, Engine};

/// The batches of one thread, and what came of them.
pub(crate) struct Messages {
    engine: Engine,
    device: DeviceId,
    pub(crate) lots: Vec<Lot>,
    /// What each batch must give; nothing for a device that encrypts nothing.
    expected: Vec<Expected>,
    next: usize,
    rota: Rota,
    /// Messages that were compared byte by byte before anything was timed.
    pub(crate) checked: u64,
    /// Messages that were compared byte by byte after they were worked in a sample.
    pub(crate) checked_while_timed: u64,
    pub(crate) worked: u64,
    pub(crate) failures_planned: u64,
    pub(crate) failures_found: u64,
}

impl Messages {
    pub(crate) fn make(
        maker: &mut Maker<'_>,
        device: DeviceId,
        thread: usize,
        checked: bool,
        wish: &mut Wish<'_>,
    ) -> Result<Self, ArmError> {
        let mut random = Random::new(maker.spec.seed, 1 + thread as u64);
        let (mut lots, mut all_expected) = (vec![], vec![]);
        for members in maker.members() {
            wish.check()?;
            let (mut lot, expected) = maker.lot(members, &mut random)?;
            if checked {
                verify::check(maker.engine, device, &mut lot, &expected)?;
                all_expected.push(expected);
            }
            lots.push(lot);
        }
        Ok(Self {
            engine: maker.engine.clone(),
            device,
            lots,
            expected: all_expected,
            next: 0,
            rota: Rota::default(),
            checked: if checked { maker.spec.columns.len() as u64 } else { 0 },
            checked_while_timed: 0,
            worked: 0,
            failures_planned: 0,
            failures_found: 0,
        })
    }

    fn wrong(&self, what: String) -> ArmError {
        ArmError::Wrong { device: verify::name_of(&self.engine, self.device), what }
    }
}

impl Part for Messages {
    /// Wipes out the results that will be compared: those of an earlier sample would be right too.
    fn ready(&mut self, times: usize) {
        if self.expected.is_empty() {
            return;
        }
        let lots = &self.lots;
        self.rota.pick(lots.len(), self.next, times, |lot| lots[lot].size());
        for lot in self.rota.picked() {
            self.lots[*lot].spoil();
        }
    }

    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        let mut done = Done::default();
        for _ in 0..times {
            let lot = &mut self.lots[self.next];
            let report = lot.run(&self.engine, self.device)?;
            if !self.expected.is_empty() {
                let (found, planned) = (report.auth_failed, lot.planned_failures);
                if found != planned {
                    let what = verify::failures(found, planned, lot.batch.len);
                    return Err(self.wrong(what));
                }
                self.failures_found += found as u64;
                self.failures_planned += planned as u64;
            }
            done.operations += lot.batch.len as u64;
            done.bytes += lot.text_bytes;
            self.next = (self.next + 1) % self.lots.len();
        }
        self.worked += done.operations;
        Ok(done)
    }

    fn check(&mut self) -> Result<(), ArmError> {
        for at in self.rota.picked() {
            let lot = &self.lots[*at];
            if let Some(what) = verify::first_difference(lot, &self.expected[*at]) {
                return Err(self.wrong(format!("{what}, and did not before it was timed")));
            }
            self.checked_while_timed += lot.batch.len as u64;
        }
        Ok(())
    }
}
