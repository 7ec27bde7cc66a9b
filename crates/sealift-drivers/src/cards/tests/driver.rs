//! Which specs open a card.

use super::*;
use crate::testing::context;

#[test]
fn cards_that_come_with_sealift_open_by_name_and_files_by_path() {
    let names: Vec<_> = bundled().iter().map(|card| card.name().to_owned()).collect();
    assert_eq!(names, BUNDLED.map(|(name, _)| name), "each has the name it opens by");
    let written = Written::new("whole", WHOLE);
    let file = &written.0;
    let specs = names.iter().map(|name| format!("cards:{name}"));
    for spec in specs.chain([format!("cards:{file}"), format!("cards:{file},number=2")]) {
        let device = opened(&spec).unwrap();
        let found = device.capabilities();
        assert_eq!((found.name.as_str(), found.driver), (spec.as_str(), "cards"));
        assert_eq!((found.role, found.origin), (Role::Simulated, Origin::Projected));
        assert!(!found.works_on.is_cores() && found.runs_on_calling_thread);
    }
    let card = Card::read(file).unwrap();
    assert_eq!((card.spec().to_string(), card.slots()), (format!("cards:{file}"), 16));
    assert_eq!(opened(&card.spec().to_string()).unwrap().capabilities().slots, 16);
}

#[test]
fn what_is_no_card_is_refused_and_told_what_would_be() {
    let refused = |spec: &str| opened(spec).unwrap_err().to_string();
    for spec in ["cards", "cards:number=2"] {
        assert_eq!(refused(spec), format!("{spec} is absent: {NO_CARD}"));
    }
    let unknown = refused("cards:hifn");
    assert!(unknown.contains("\"hifn\"") && unknown.contains("four-broadcom-5820"), "{unknown}");
    assert!(refused("cards:quad-hifn-7751,number=0").contains("number=0: give a whole number"));
    assert!(refused("cards:quad-hifn-7751,number=two").contains("number=two"));
    for spec in ["cards:a,b.toml", "cards:a=b.toml", "cards:quad-hifn-7751(cpu)"] {
        assert!(refused(spec).contains("can't have a comma"), "{spec}");
    }
    assert!(refused("cards:quad-hifn-7751,size=2").contains("it takes number"));
    let wrong = Written::new("wrong", &WHOLE.replace("units = 3", "units = 0"));
    assert!(refused(&format!("cards:{}", wrong.0)).contains("card.units is 0"));
}

#[test]
fn the_bare_driver_is_absent_and_says_what_it_needs() {
    assert_eq!(Cards.probe(), Probe::Absent { reason: NO_CARD.to_owned() });
}

#[test]
fn an_algorithm_that_is_not_computed_is_told() {
    let detail = |card: &Card| capabilities(card, card.spec()).detail;
    assert!(detail(&bundled()[0]).ends_with("AES-GCM at the rate of 3des"));
    assert_eq!(detail(&card(SMALL)), "a card with little");
}

fn opened(spec: &str) -> Result<Arc<dyn Device>, OpenError> {
    crate::open(&spec.parse().unwrap(), &context().0)
}

/// A file of this test's own; gone when it is dropped.
struct Written(String);

impl Written {
    fn new(name: &str, text: &str) -> Self {
        let file = format!("sealift-card-{}-{name}.toml", std::process::id());
        let path = std::env::temp_dir().join(file);
        std::fs::write(&path, text).unwrap();
        Self(path.to_str().unwrap().to_owned())
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
