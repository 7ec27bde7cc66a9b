//! A device for the tests: a cipher that is none, with a fault that can be chosen.

use sealift::{
    Algorithm, Capabilities, Completion, Context, Cost, Cuts, Device, DeviceError, Engine,
    EngineError, Job, NonceLengths, Op, Origin, Refusal, Refused, Resource, Role, SessionId,
    SlotTag, SlotText, Status, Submission, SystemClock, TagLength, Timing, Work,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    WrongByte,
    WrongTag,
    OpensAll,
    LeavesPlaintext,
    WritesNothing,
    /// A fault from its n-th batch on.
    After(u64, &'static Fault),
}

#[derive(Debug)]
pub(crate) struct Toy {
    capabilities: Capabilities,
    context: Context,
    fault: Fault,
    runs: AtomicU64,
}

/// An engine over toys of these names, roles and faults.
pub(crate) fn engine(toys: &[(&'static str, Role, Fault)]) -> Engine {
    let open = toys.iter().map(|(name, role, fault)| {
        move |context: &Context| {
            let toy = Toy::new(name, *role, *fault, context);
            Ok::<_, EngineError>(Arc::new(toy) as Arc<dyn Device>)
        }
    });
    sealift_engine::Engine::over(Arc::new(SystemClock::new()), open).expect("toys open").into()
}

impl Toy {
    fn new(name: &'static str, role: Role, fault: Fault, context: &Context) -> Self {
        let capabilities = Capabilities {
            name: name.into(),
            driver: name,
            role,
            origin: if role == Role::Simulated { Origin::Simulated } else { Origin::Measured },
            detail: "xor".into(),
            algorithms: vec![Algorithm::AesGcm],
            runs_on_calling_thread: true,
            cuts: Cuts::Nothing,
            works_on: Resource::Cores(vec![]),
            cost: Cost::clamped(200.0, 100.0, 1.0),
            in_place: false,
            workers: 1,
            slots: 1,
            messages_max: 1_000,
            text_bytes_max: 10_000,
            aad_bytes_max: usize::MAX,
            prepares: Duration::ZERO,
            nonce_lengths: NonceLengths::of(&[1, 12]),
            tag_lengths: TagLength::ALL.to_vec(),
        };
        Self { capabilities, context: context.clone(), fault, runs: AtomicU64::new(0) }
    }

    fn fault(&self) -> Fault {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            Fault::After(runs, fault) if run >= runs => *fault,
            Fault::After(..) => Fault::None,
            fault => fault,
        }
    }
}

impl Device for Toy {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, work: &mut Work<'_>) -> Result<Timing, DeviceError> {
        let start_ns = self.context.clock.now_ns();
        let fault = self.fault();
        for message in 0..work.len() {
            let mask = mask(work, message)?;
            let slot = work.slot(message);
            let sealing = slot.op == Op::Seal;
            let SlotText::Apart { input, output } = slot.text else { panic!("only apart") };
            if fault == Fault::WritesNothing {
                work.set_status(message, Status::Ok);
                continue;
            }
            output.iter_mut().zip(input).for_each(|(out, byte)| *out = byte ^ mask);
            let plain: &[u8] = if sealing { input } else { output };
            let sum = [plain, slot.aad, slot.nonce]
                .concat()
                .iter()
                .fold(mask, |sum, byte| sum.rotate_left(1) ^ byte);
            let status = match slot.tag {
                SlotTag::Write(tag) => {
                    tag.fill(if fault == Fault::WrongTag { !sum } else { sum });
                    Status::Ok
                }
                SlotTag::Check(tag) if tag.iter().all(|&byte| byte == sum) => Status::Ok,
                SlotTag::Check(_) if fault == Fault::OpensAll => Status::Ok,
                SlotTag::Check(_) | SlotTag::Missing => Status::AuthFailed,
            };
            if status == Status::AuthFailed && fault != Fault::LeavesPlaintext {
                output.fill(0);
            }
            if fault == Fault::WrongByte && message == 3 {
                output[2] ^= 1;
            }
            work.set_status(message, status);
        }
        Ok(Timing::in_memory(start_ns, self.context.clock.now_ns()))
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        Err(Refused { job, refusal: Refusal::Full { in_flight: 1, slots: 1 } })
    }

    fn poll(&self, _: &mut Vec<Completion>) {}

    fn retire(&self, _: SessionId) {}
}

fn mask(work: &Work<'_>, message: usize) -> Result<u8, DeviceError> {
    let fold = |bytes: &[u8]| bytes.iter().fold(0u8, |sum, byte| sum.rotate_left(1) ^ byte);
    match (work.batch().raw_key(message), work.batch().session_of(message)) {
        (Some(key), _) => Ok(fold(key)),
        (None, Some(session)) => Ok(fold(work.key(session, "toy")?.as_bytes())),
        (None, None) => Ok(0),
    }
}
