//! Every call fails once.

use super::load::{gpu, raw_keys, seal_and_open, session, sessions, worker};
use fake_cuda::{Fake, Report};
use sealift_core::DeviceError;
use sealift_gpu::Worker;

/// Opens a device and works batches on it.
fn open_and_work(fake: &Fake) -> Result<Worker, String> {
    let gpu = gpu(fake).map_err(|error| error.to_string())?;
    let worker = worker(gpu);
    for keys in [raw_keys(), sessions(), raw_keys()] {
        seal_and_open(&worker, &keys).map_err(|error| match error {
            DeviceError::Failed { device, reason } => {
                assert_eq!(device, "cuda");
                reason
            }
            other => panic!("{other}"),
        })?;
    }
    Ok(worker)
}

/// Gives back what it keeps, and closes it.
fn close(worker: Worker) {
    worker.retire(session(1));
    worker.release();
    drop(worker);
}

fn assert_nothing_is_left(report: &Report, after: &str) {
    for what in ["streams", "events", "modules", "device_memories", "pinned_memories", "contexts"] {
        assert_eq!(report.of(what), 0, "{what} after {after}");
    }
}

fn assert_no_harm(report: &Report, after: &str) {
    for what in ["dirty_pinned_bytes", "hangs", "wrong_calls", "current"] {
        assert_eq!(report.of(what), 0, "{what} after {after}");
    }
}

/// A function, how often it is called while batches are worked, and how often in all.
#[derive(Clone, Copy)]
struct Calls {
    function: &'static str,
    working: u64,
    all: u64,
}

/// Every function that is called where nothing fails.
fn calls(fake: &Fake) -> Vec<Calls> {
    let worker = open_and_work(fake).unwrap();
    let before = fake.report();
    close(worker);
    let report = fake.report();
    assert_no_harm(&report, "no fault");
    assert_nothing_is_left(&report, "no fault");
    assert_eq!(report.of("dirty_device_bytes"), 0);
    let of = |function| Calls { function, working: before.of(function), all: report.of(function) };
    let found: Vec<_> = FUNCTIONS.map(of).into();
    let all: u64 = found.iter().map(|calls| calls.all).sum();
    assert_eq!(all, report.of("calls"), "it calls functions that no fault is ordered for");
    found
}

/// Each time that each of them is called.
fn each_call(fake: &Fake) -> impl Iterator<Item = (Calls, u64)> {
    let each = |calls: Calls| times(calls.all).map(move |nth| (calls, nth));
    calls(fake).into_iter().flat_map(each)
}

/// A call that comes often fails at the first few times, and some later ones.
fn times(all: u64) -> impl Iterator<Item = u64> {
    (1..=all).filter(move |nth| *nth <= 4 || nth % (all / 8).max(1) == 0)
}

#[test]
fn whichever_call_fails_is_an_error_with_its_name_and_nothing_is_left_behind() {
    let fake = Fake::new().unwrap();
    for (Calls { function, working, .. }, nth) in each_call(&fake) {
        let order = format!("{function}@{nth}={INVALID_VALUE}");
        fake.restart(&order);
        match open_and_work(&fake) {
            Err(reason) => {
                assert!(reason.contains(function), "{order}: {reason}");
                assert!(reason.contains("CUDA_ERROR_INVALID_VALUE (1)"), "{order}: {reason}");
            }
            Ok(worker) => {
                // Nothing can be done about what fails while something is given back.
                let is_closing = nth > working || CLOSING.contains(&function);
                assert!(is_closing, "{order} goes unnoticed");
                close(worker);
            }
        }
        let report = fake.report();
        assert_no_harm(&report, &order);
        // A context that can't be entered keeps what it has.
        if function != "cuCtxPushCurrent_v2" {
            assert_nothing_is_left(&report, &order);
            if function != "cuMemsetD8Async" {
                assert_eq!(report.of("dirty_device_bytes"), 0, "{order}");
            }
        }
    }
}

#[test]
fn a_device_that_is_lost_at_any_call_stays_lost_and_nothing_is_left_behind() {
    let fake = Fake::new().unwrap();
    for (Calls { function, .. }, nth) in each_call(&fake) {
        if NOT_OF_A_DEVICE.contains(&function) {
            continue;
        }
        let order = format!("{function}@{nth}={LAUNCH_FAILED}!");
        fake.restart(&order);
        match open_and_work(&fake) {
            Err(reason) => {
                assert!(reason.contains("CUDA_ERROR_LAUNCH_FAILED (719)"), "{order}: {reason}");
            }
            Ok(worker) => close(worker),
        }
        let report = fake.report();
        assert_no_harm(&report, &order);
        if function != "cuCtxPushCurrent_v2" {
            assert_nothing_is_left(&report, &order);
        }
    }
}

const INVALID_VALUE: u32 = 1;
const LAUNCH_FAILED: u32 = 719;
/// What gives something back.
const CLOSING: [&str; 7] = [
    "cuCtxPopCurrent_v2",
    "cuDevicePrimaryCtxRelease_v2",
    "cuEventDestroy_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuModuleUnload",
    "cuStreamDestroy_v2",
];
const NOT_OF_A_DEVICE: [&str; 9] = [
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDeviceTotalMem_v2",
    "cuDeviceGetPCIBusId",
    "cuDevicePrimaryCtxRetain",
];
/// All that are called.
const FUNCTIONS: [&str; 31] = [
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDeviceTotalMem_v2",
    "cuDeviceGetPCIBusId",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuFuncSetAttribute",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemsetD8Async",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuEventQuery",
    "cuEventElapsedTime",
    "cuLaunchKernel",
];
