//! Settings, roles, and what is passed on.

use super::*;
use crate::testing::session;

#[test]
fn it_is_for_tests_unless_it_wraps_a_null_device() {
    let of = |spec| open(spec).unwrap().capabilities().clone();
    let reference = of("fault:fail=2(reference:workers=1)");
    assert_eq!((reference.role, reference.driver), (Role::TestOnly, "reference"));
    assert_eq!(reference.name, "fault:fail=2(reference:workers=1)");
    let plain = of("reference:workers=1");
    assert_eq!((reference.workers, reference.slots), (plain.workers, plain.slots));
    assert_eq!(of("fault(library)").role, Role::TestOnly);
    assert_eq!(of("fault:fail=2(null)").role, Role::Null);
    assert_eq!(of("fault(fault(null))").role, Role::Null);
}

#[test]
fn a_wrong_setting_is_named_with_what_would_be_right() {
    let error = |spec| open(spec).unwrap_err().to_string();
    assert_eq!(error("fault:fail=2"), format!("fault:fail=2 is absent: {NO_DEVICE}"));
    assert_eq!(
        error("fault:fail=0(null)"),
        "fault:fail=0(null): fail=0: give a whole number from 1 to 18446744073709551615"
    );
    assert!(error("fault:hang=x(null)").contains("hang=x: give a whole number"));
    assert!(error("fault:late=2,late-ms=3600001(null)").contains("from 1 to 3600000"));
    assert!(error("fault:late=2(null)").contains("say by how much, late=2,late-ms=50"));
    assert!(error("fault:late-ms=9(null)").contains("say which, late=7,late-ms=9"));
    assert!(error("fault:seed=1(null)").contains("no wrong="));
    assert!(error("fault:fails=1(null)").contains("it takes fail, wrong, seed, late"));
    assert!(error("fault(abacus)").contains("no driver is called \"abacus\""));
    assert!(error("fault(null:cores=0)").contains("takes workers"));
}

#[test]
fn retiring_and_releasing_reach_the_wrapped_device() {
    let (context, _) = context();
    let toy = Arc::new(Toy {
        capabilities: open("null").unwrap().capabilities().clone(),
        heard: Mutex::default(),
    });
    let spec = "fault(toy)".parse().unwrap();
    let device = Faulty::new(&spec, Plan::default(), Arc::clone(&toy) as _, &context);
    device.retire(session(3));
    device.release();
    assert_eq!(*toy.heard.lock().unwrap(), [Some(session(3)), None]);
}

/// Notes what it is told: sessions that retire, and nothing for a release.
#[derive(Debug)]
struct Toy {
    capabilities: Capabilities,
    heard: Mutex<Vec<Option<SessionId>>>,
}

impl Device for Toy {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, _: &mut Work<'_>) -> Result<Timing, DeviceError> {
        Ok(Timing::in_memory(0, 0))
    }

    fn submit(&self, job: Box<Job>) -> Submission {
        Err(Refused { job, refusal: Refusal::Full { in_flight: 0, slots: 0 } })
    }

    fn poll(&self, _: &mut Vec<Completion>) {}

    fn retire(&self, session: SessionId) {
        self.heard.lock().unwrap().push(Some(session));
    }

    fn release(&self) {
        self.heard.lock().unwrap().push(None);
    }
}
