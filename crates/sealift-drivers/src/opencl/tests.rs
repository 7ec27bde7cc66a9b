use super::*;
use crate::testing::context;

#[test]
fn a_library_that_is_not_there_is_an_answer_with_its_name() {
    for (library, said) in [
        ("libnowhere-opencl.so.1", "libnowhere-opencl.so.1 is not on this machine"),
        ("libc.so.6", "libc.so.6 has no function clGetPlatformIDs"),
        (env!("CARGO_MANIFEST_DIR"), "is not on this machine"),
    ] {
        for spec in ["opencl", "opencl:0", "opencl:strict=on"] {
            let error = open(&spec.parse().unwrap(), &context().0, library).unwrap_err();
            assert!(matches!(error, OpenError::Absent { .. }), "{error}");
            let error = error.to_string();
            assert!(error.starts_with(&format!("{spec} is absent: ")), "{error}");
            assert!(error.contains(said) && error.contains("install"), "{error}");
        }
    }
}

#[test]
fn a_device_that_does_not_exist_is_absent_with_how_many_there_are() {
    let spec = "opencl:1000".parse().unwrap();
    let error = OpenCl.open(&spec, &context().0).unwrap_err();
    assert!(matches!(error, OpenError::Absent { .. }), "{error}");
    let error = error.to_string();
    let reasons = ["there is no device 1000: libOpenCL.so.1 finds ", "libOpenCL.so.1 is "];
    assert!(reasons.iter().any(|reason| error.contains(reason)), "{error}");
    assert_eq!(
        error.contains(reasons[0]),
        error.contains(", counted from 0; the first one is opencl:0"),
        "{error}"
    );
}
