use super::*;
use crate::testing::{context, job};
use fake_cuda::Fake;
use sealift_core::{Origin, Refusal, Role};

fn refused(spec: &str, library: &CudaLibrary) -> String {
    open(&spec.parse().unwrap(), &context().0, library).unwrap_err().to_string()
}

fn reason(library: &CudaLibrary) -> String {
    match probe(library) {
        Probe::Absent { reason } => reason,
        Probe::Present { detail, .. } => panic!("{detail}"),
    }
}

#[test]
fn a_library_that_is_not_there_or_is_another_one_is_an_answer_with_its_name() {
    for (file, said) in [
        ("libnowhere-cuda.so.1", "libnowhere-cuda.so.1 is not on this machine"),
        ("libc.so.6", "libc.so.6 has no function cuInit"),
    ] {
        let library = CudaLibrary::at(file);
        assert!(reason(&library).contains(said), "{}", reason(&library));
        for spec in ["cuda", "cuda:0", "cuda:strict=on"] {
            let error = refused(spec, &library);
            assert!(error.starts_with(&format!("{spec} is absent: ")), "{error}");
            assert!(error.contains(said) && error.contains("install"), "{error}");
        }
    }
}

#[test]
fn what_a_machine_lacks_is_said_with_cudas_words() {
    for (plan, spec, said) in [
        (
            "devices=0",
            "cuda",
            "finds no device (cuInit: CUDA_ERROR_NO_DEVICE (100), no CUDA-capable",
        ),
        ("cuInit@1=34", "cuda", "CUDA_ERROR_STUB_LIBRARY (34), CUDA driver is a stub library"),
        ("cuInit@1=804", "cuda", "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE (804)"),
        ("cuInit@1=77", "cuda", "cuInit: error 77, which this driver has no name for"),
        ("devices=2", "cuda:2", "there is no device 2"),
        ("capability=61", "cuda", "compute capability 6.1, and kernels need 7.5"),
    ] {
        let fake = Fake::new().unwrap();
        fake.plan(plan);
        let error = refused(spec, &CudaLibrary::at(fake.path()));
        assert!(error.starts_with(&format!("{spec} is absent: ")), "{error}");
        assert!(error.contains(said), "{plan}: {error}");
    }
}

#[test]
fn a_fake_is_for_tests_only_and_its_times_are_not_measured() {
    let fake = Fake::new().unwrap();
    fake.plan("devices=2");
    let library = CudaLibrary::at(fake.path());
    let Probe::Present { role, detail } = probe(&library) else { panic!("it is absent") };
    assert_eq!(role, Role::TestOnly);
    assert!(detail.starts_with("fake, 2 multiprocessors at 1000 MHz, 8 GiB"), "{detail}");
    let device = open(&"cuda:1".parse().unwrap(), &context().0, &library).unwrap();
    let found = device.capabilities();
    assert_eq!((found.name.as_str(), found.role), ("cuda:1", Role::TestOnly));
    assert_eq!((found.origin, found.works_on.is_cores()), (Origin::Simulated, true));
    assert!(found.detail.contains("0000:01:00.0"), "{}", found.detail);
    assert_eq!(fake.report().of("contexts"), 0, "nobody gave it work");
}

#[test]
fn tables_are_those_that_fit_a_multiprocessor() {
    for (plan, spec, how) in [
        ("capability=90", "cuda", "four tables for each lane"),
        ("capability=86,shared=101376", "cuda", "a table for each lane"),
        ("capability=75,shared=65536", "cuda", "a table for each lane"),
        ("capability=90", "cuda:strict=on", "without tables"),
    ] {
        let fake = Fake::new().unwrap();
        fake.plan(plan);
        let library = CudaLibrary::at(fake.path());
        let device = open(&spec.parse().unwrap(), &context().0, &library).unwrap();
        let detail = &device.capabilities().detail;
        assert!(detail.ends_with(&format!("; {how}")), "{plan}: {detail}");
    }
}

#[test]
fn a_lost_device_fails_its_job_and_takes_no_more() {
    let fake = Fake::new().unwrap();
    fake.plan("cuEventQuery@3=719!");
    let (context, bell) = context();
    let library = CudaLibrary::at(fake.path());
    let device = open(&"cuda".parse().unwrap(), &context, &library).unwrap();
    device.submit(job(0)).unwrap();
    bell.wait(1);
    let mut done = vec![];
    device.poll(&mut done);
    let error = done.pop().unwrap().outcome.unwrap_err();
    assert!(error.to_string().contains("CUDA_ERROR_LAUNCH_FAILED (719)"), "{error}");
    let given = job(1);
    let address = &raw const *given;
    let refused = device.submit(given).unwrap_err();
    assert_eq!(refused.refusal, Refusal::Broken(error));
    assert_eq!(&raw const *refused.job, address, "the job comes back");
}

/// Starts itself again: a variable is a whole process's.
#[test]
fn the_variable_names_the_library() {
    let name = "cuda::tests::the_variable_names_the_library";
    if let Some(library) = std::env::var_os(VARIABLE) {
        match Cuda.probe() {
            Probe::Present { role, detail } => {
                assert!(role == Role::TestOnly && detail.starts_with("fake, "), "{detail}");
                println!("present");
            }
            Probe::Absent { reason } => {
                assert!(reason.starts_with(&*library.to_string_lossy()), "{reason}");
                assert!(reason.contains("; the variable SEALIFT_LIBCUDA names it: "), "{reason}");
                println!("absent");
            }
        }
        return;
    }
    let fake = Fake::shared().unwrap();
    for (library, said) in [(fake.path(), "present"), ("libnowhere.so.1".as_ref(), "absent")] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", name, "--nocapture"]).env(VARIABLE, library);
        let ended = child.output().unwrap();
        let printed = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && printed.contains(said), "{ended:?}");
    }
}

const VARIABLE: &str = "SEALIFT_LIBCUDA";
