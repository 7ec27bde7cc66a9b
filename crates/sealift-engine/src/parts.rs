//! One batch as parts on several devices.

use crate::flight::{Completed, Flying};
use crate::offer::Offered;
use crate::shared::{Dispatch, Shared};
use crate::{DeviceId, Report};
use sealift_core::{DeviceError, OwnedOutput, Ticket, Timing};
use std::mem;
use std::sync::Arc;

/// Which part of which batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartOf {
    pub(crate) whole: Ticket,
    index: usize,
}

/// A batch whose parts are in flight.
#[derive(Debug)]
pub(crate) struct Whole {
    batch: Arc<sealift_core::Batch<'static>>,
    /// The results of each part, once they are there.
    outputs: Vec<Option<OwnedOutput>>,
    left: usize,
    report: Option<Report>,
    error: Option<DeviceError>,
}

impl Whole {
    /// Overwrites the results that are there.
    pub(crate) fn wipe(&mut self) {
        self.outputs.iter_mut().flatten().for_each(OwnedOutput::wipe);
    }
}

impl Shared {
    /// Cuts a batch and gives each part to its device. A part that its device does not take goes to
    /// another one, or waits; one that nobody ever takes is an error of the whole.
    pub(crate) fn launch_parts(
        &self,
        dispatch: &mut Dispatch,
        ticket: Ticket,
        whole: Flying,
        mut output: OwnedOutput,
        parts: &[(DeviceId, usize)],
    ) {
        let mut flying = vec![];
        let mut begin = 0;
        for (index, (device, messages)) in parts.iter().enumerate() {
            let part = whole.batch.slice(begin..begin + messages);
            begin += messages;
            // The whole batch was checked, so a part of it is as good.
            let shape = part.shape().unwrap_or(whole.shape);
            let later = output.split_off(*messages);
            flying.push((index, *device, Arc::new(part), shape, mem::replace(&mut output, later)));
        }
        let part_of = |index| Some(PartOf { whole: ticket, index });
        let outputs = parts.iter().map(|_| None).collect();
        let batch = Arc::clone(&whole.batch);
        let left = parts.len();
        dispatch.flight.cut(ticket, Whole { batch, outputs, left, report: None, error: None });
        for (index, device, batch, shape, output) in flying {
            let part = Flying {
                batch,
                shape,
                arrived_ns: whole.arrived_ns,
                named: None,
                preferred: Some(device),
                part_of: part_of(index),
                lease: Arc::clone(&whole.lease),
                tried: vec![],
                attempts: 0,
                current: None,
                error: None,
            };
            let own = dispatch.flight.next_ticket();
            if let Offered::Back(back) = self.offer(dispatch, own, part, Some(output), false) {
                let (part, nobody) = *back;
                self.wait_or_fail(dispatch, own, part, &nobody);
            }
        }
    }

    /// A batch, or a part of one, is over.
    pub(crate) fn over(
        &self,
        dispatch: &mut Dispatch,
        ticket: Ticket,
        part_of: Option<PartOf>,
        batch: Arc<sealift_core::Batch<'static>>,
        outcome: Result<(OwnedOutput, Report), DeviceError>,
    ) {
        let Some(PartOf { whole: ticket, index }) = part_of else {
            return dispatch.flight.finish(Completed { ticket, batch, outcome });
        };
        let Some(whole) = dispatch.flight.whole(ticket) else { return };
        whole.left -= 1;
        match outcome {
            Ok((output, report)) => {
                whole.outputs[index] = Some(output);
                whole.report = Some(whole.report.map_or(report, |before| both(before, report)));
            }
            Err(error) => whole.error = Some(error),
        }
        if whole.left == 0
            && let Some(whole) = dispatch.flight.joined(ticket)
        {
            let Whole { batch, outputs, report, error, .. } = whole;
            let outcome = together(outputs, report, error);
            dispatch.flight.finish(Completed { ticket, batch, outcome });
        }
    }
}

/// The parts' results one behind the other; where a part has none, no result counts.
fn together(
    outputs: Vec<Option<OwnedOutput>>,
    report: Option<Report>,
    error: Option<DeviceError>,
) -> Result<(OwnedOutput, Report), DeviceError> {
    let mut outputs = outputs.into_iter().flatten();
    let (first, failed) = (outputs.next(), error);
    match (first, report, failed) {
        (Some(mut whole), Some(report), None) => {
            outputs.for_each(|next| whole.append(next));
            Ok((whole, report))
        }
        (first, _, failed) => {
            first.into_iter().chain(outputs).for_each(|mut output| output.wipe());
            let device = "the engine".to_owned();
            let reason = "no part of the batch has results".to_owned();
            Err(failed.unwrap_or(DeviceError::Failed { device, reason }))
        }
    }
}

/// One report of two parts: by the device of the one that ended last.
pub(crate) fn both(one: Report, other: Report) -> Report {
    let last = if other.timing.end_ns >= one.timing.end_ns { other } else { one };
    let timing = Timing {
        start_ns: one.timing.start_ns.min(other.timing.start_ns),
        end_ns: last.timing.end_ns,
        copy_in_ns: one.timing.copy_in_ns + other.timing.copy_in_ns,
        compute_ns: one.timing.compute_ns + other.timing.compute_ns,
        copy_out_ns: one.timing.copy_out_ns + other.timing.copy_out_ns,
        origin: last.timing.origin,
        core_ns: None,
        prepared_ns: one.timing.prepared_ns + other.timing.prepared_ns,
        faults: one.timing.faults + other.timing.faults,
        measured_copy_ns: one.timing.measured_copy_ns + other.timing.measured_copy_ns,
    };
    Report {
        device: last.device,
        timing,
        auth_failed: one.auth_failed + other.auth_failed,
        moved: one.moved + other.moved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flight::Flight;
    use sealift_core::{Batch, Column, Keys};

    #[test]
    fn parts_that_nobody_took_are_wiped_with_all_that_is_in_flight() {
        let column = |bytes| Column::Same(vec![1; bytes].into());
        let batch = Arc::new(Batch::seal(1, Keys::Raw(column(16)), column(12), column(100)));
        let mut output = OwnedOutput::for_batch(&batch).unwrap();
        output.fill_text(7);
        let outputs = vec![Some(output), None];
        let whole = Whole { batch, outputs, left: 1, report: None, error: None };
        let mut flight = Flight::default();
        flight.cut(Ticket(1), whole);
        flight.wipe();
        let whole = flight.joined(Ticket(1)).unwrap();
        assert_eq!(whole.outputs[0].as_ref().unwrap().text_of(0), [0; 100]);
    }
}
