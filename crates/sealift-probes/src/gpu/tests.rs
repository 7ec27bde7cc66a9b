use super::*;
use crate::Arm;
use fake_cuda::Fake;
use std::env;
use std::process::Command;

fn spec(device: &str) -> GpuSpec {
    GpuSpec {
        device: device.to_owned(),
        code: "as published".to_owned(),
        mode: "partitioned".to_owned(),
        data: "resident".to_owned(),
        grid: Some((2, 4)),
        operation: "seal".to_owned(),
        keys: "own keys".to_owned(),
        key_bits: vec![128],
        s_box: "tables".to_owned(),
        messages: 24,
        message_bytes: 128,
        seed: 1,
    }
}

fn prepare(spec: &GpuSpec) -> Result<GpuArm, ArmError> {
    GpuArm::prepare_while(spec, &mut || true)
}

fn refused(spec: &GpuSpec) -> String {
    prepare(spec).map(drop).unwrap_err().to_string()
}

/// What OpenCL's first device gives, or that it is not here.
fn on_opencl(spec: &GpuSpec) -> Option<GpuArm> {
    match prepare(spec) {
        Ok(arm) => {
            sealift_testing::ran("opencl");
            Some(arm)
        }
        Err(error @ ArmError::Absent { .. }) => {
            sealift_testing::skip("opencl", &error.to_string()).unwrap();
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn what_is_no_device_is_told_with_what_would_be_right() {
    for device in ["cpu", "opencl:one", "cuda:"] {
        let error = refused(&spec(device));
        assert!(error.contains(&format!("a device of {device:?}")), "{error}");
        assert!(error.contains("as in opencl:0"), "{error}");
    }
}

#[test]
fn words_that_are_none_are_told_with_those_there_are() {
    let nowhere = GpuSpec { data: "nowhere".to_owned(), ..spec("opencl:0") };
    assert!(refused(&nowhere).contains("resident, with transfers"));
}

#[test]
fn our_kernels_seal_open_and_count_under_keys_of_all_lengths_with_tables_and_without() {
    let ours = GpuSpec { code: "ours".to_owned(), grid: None, ..spec("opencl:0") };
    let all = [
        ("seal", "own keys", 192, "tables"),
        ("open", "own keys", 256, "without tables"),
        ("open", "one key", 128, "tables"),
        ("counter mode", "one key", 128, "without tables"),
    ];
    for (operation, keys, key_bits, s_box) in all {
        let [operation, keys, s_box] = [operation, keys, s_box].map(str::to_owned);
        let key_bits = vec![key_bits];
        let spec = GpuSpec { operation, keys, key_bits, s_box, ..ours.clone() };
        let Some(mut arm) = on_opencl(&spec) else { return };
        assert!(arm.sample(0.0).unwrap().operations >= 24, "{spec:?}");
        assert_eq!(count(&arm, "results_checked") % 24, 0, "{spec:?}");
    }
    let error = refused(&GpuSpec { key_bits: vec![64], ..ours });
    assert!(error.contains("128, 192, 256"), "{error}");
}

#[test]
fn keys_of_all_lengths_are_worked_one_after_the_other_and_mixed_operations_are_compared() {
    for (code, mode, operation) in [
        ("ours", "partitioned", "mixed, verified"),
        ("as published", "partitioned", "mixed, refused"),
        ("as published", "replicated", "mixed, verified"),
        ("as published", "replicated", "mixed, refused"),
    ] {
        let [code, mode, operation] = [code, mode, operation].map(str::to_owned);
        let key_bits = vec![128, 192, 256];
        let grid = (code != "ours").then_some((1, 2));
        let spec = GpuSpec { code, mode, operation, key_bits, grid, ..spec("opencl:0") };
        let Some(mut arm) = on_opencl(&spec) else { return };
        let before = count(&arm, "results_checked");
        let sample = arm.sample(0.0).unwrap();
        assert!(sample.operations.is_multiple_of(24), "{spec:?}");
        assert_eq!(sample.bytes, 128 * sample.operations);
        let each_time = if spec.mode == "replicated" { 3 * 2 } else { 24 };
        assert_eq!(count(&arm, "results_checked"), before + each_time);
    }
    let odd = GpuSpec { messages: 25, key_bits: vec![128, 192], ..spec("opencl:0") };
    let error = match prepare(&odd) {
        Err(ArmError::Absent { .. }) => return,
        other => other.map(drop).unwrap_err().to_string(),
    };
    assert!(error.contains("of which 25 messages have as many each"), "{error}");
}

#[test]
fn copies_are_counted_by_way_and_compared() {
    for (direction, ways) in [("to the device", 1), ("back", 1), ("both at once", 2)] {
        let (device, direction) = ("opencl:0".to_owned(), direction.to_owned());
        let spec = GpuCopySpec { device, direction, size_bytes: 5_000 };
        let mut arm = match GpuArm::of_copies_while(&spec, &mut || true) {
            Ok(arm) => arm,
            Err(ArmError::Absent { reason, .. }) => {
                return sealift_testing::skip("opencl", &reason).unwrap();
            }
            Err(error) => panic!("{error}"),
        };
        let (before, sample) = (count(&arm, "results_checked"), arm.sample(0.001).unwrap());
        assert_eq!(sample.bytes, 5_000 * sample.operations);
        assert!(sample.operations.is_multiple_of(ways) && sample.ns > 0);
        assert_eq!(count(&arm, "results_checked"), before + 5_000 * ways);
    }
}

#[test]
fn instructions_of_nvidia_are_refused_elsewhere_with_the_reason() {
    let unit =
        |of: &str| GpuUnitSpec { device: "opencl:0".to_owned(), of: of.to_owned(), rounds: 5 };
    let refused = |unit| GpuArm::of_units_while(&unit, &mut || true).map(drop).unwrap_err();
    assert!(refused(unit("FADD")).to_string().contains("LOP3, PRMT"));
    assert!(matches!(refused(unit("LOP3")), ArmError::Absent { .. }));
}

#[test]
fn a_device_that_is_not_here_is_absent_with_a_reason() {
    let error = prepare(&spec("opencl:1000")).map(drop).unwrap_err();
    assert!(matches!(&error, ArmError::Absent { what, .. } if what == "opencl:1000"), "{error}");
}

/// Starts itself again: a variable is a whole process's.
#[test]
fn a_gpu_that_is_played_is_not_timed() {
    let started_again = "SEALIFT_STARTED_AGAIN";
    if env::var_os(started_again).is_some() {
        let error = refused(&spec("cuda"));
        assert!(error.starts_with("cuda is simulated: its seconds are not"), "{error}");
        return;
    }
    let fake = Fake::shared().unwrap();
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "gpu::tests::a_gpu_that_is_played_is_not_timed"]);
    let child = child.env(started_again, "yes").env("SEALIFT_LIBCUDA", fake.path());
    let ended = child.output().unwrap();
    let printed = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && printed.contains("1 passed"), "{printed}");
}

#[test]
fn every_message_is_worked_and_checked_in_each_sample() {
    let Some(mut arm) = on_opencl(&spec("opencl:0")) else { return };
    let before: u64 = count(&arm, "results_checked");
    let sample = arm.sample(0.001).unwrap();
    assert!(sample.operations >= 24 && sample.operations.is_multiple_of(24));
    assert_eq!(sample.bytes, 128 * sample.operations);
    assert_eq!(count(&arm, "results_checked"), before + 24);
    assert_eq!(count(&arm, "device_compute_ns"), sample.ns);
    assert_eq!(count(&arm, "device_copy_in_ns"), 0);
}

#[test]
fn replicated_work_counts_for_each_work_item() {
    let replicated = GpuSpec { mode: "replicated".to_owned(), ..spec("opencl:0") };
    let Some(mut arm) = on_opencl(&replicated) else { return };
    let sample = arm.sample(0.0).unwrap();
    assert!(sample.operations.is_multiple_of(8 * 24), "{}", sample.operations);
}

#[test]
fn the_way_there_and_back_is_timed_where_it_is_asked_for() {
    let moved = GpuSpec { data: "with transfers".to_owned(), ..spec("opencl:0") };
    let Some(mut arm) = on_opencl(&moved) else { return };
    let sample = arm.sample(0.0).unwrap();
    assert!(sample.ns > count(&arm, "device_compute_ns"));
    assert!(count(&arm, "device_copy_in_ns") > 0 && count(&arm, "device_copy_out_ns") > 0);
}

#[test]
fn a_processor_is_for_tests_only() {
    let Some(arm) = on_opencl(&spec("opencl:0")) else { return };
    if arm.about.local_is_cached {
        assert_eq!(arm.role(), Some(Role::TestOnly));
    } else {
        assert_eq!(arm.role(), Some(Role::Real));
    }
}

fn count(arm: &GpuArm, name: &str) -> u64 {
    arm.counts().into_iter().find(|(known, _)| *known == name).unwrap().1
}
