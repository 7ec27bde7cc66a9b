//! What copies cost where a description leaves it out.

use super::*;
use crate::cache::Measured;
use crate::copying::CopyCost;
use crate::testing::Folder;
use std::fs;

#[test]
fn the_rate_is_timed_where_it_is_left_out_and_copied_at_all() {
    let none = without_a_rate(0, &nowhere());
    assert!(rate_of(&none).is_none() && copied_ns(&none, 1_000_000).abs() < 1e-9);
    let (two, again) = (without_a_rate(2, &nowhere()), without_a_rate(2, &nowhere()));
    let rate = rate_of(&two).unwrap();
    assert!(rate.measured && !rate.fitted && rate.source.starts_with("measured here: 16 MiB "));
    assert!(rate.unit == "Gbit/s" && rate.value > 0.0 && rate.value.is_finite());
    let share = copied_ns(&two, 1_000_000) * rate.value / 16e6;
    assert!((share - 1.0).abs() < 1e-6, "8 bits a byte, twice");
    assert!(two.is_alike(&again), "once a process");
    assert!(card(WHOLE).constants().iter().all(|constant| !constant.measured));
    assert!(bundled().iter().flat_map(|card| card.constants().to_vec()).all(|each| !each.measured));
}

#[test]
fn copies_cost_what_the_cache_says_of_this_machine_by_length() {
    let folder = Folder::new();
    keep(&folder, &[(16, 20.0), (1_016, 120.0), (65_536, 8_192.0), (1_000_000, 200_000.0)]);
    let card = without_a_rate(2, &folder.cache());
    for (bytes, ns) in [(16, 20.0), (516, 70.0), (65_536, 8_192.0), (2_000_000, 400_000.0)] {
        let found_ns = copied_ns(&card, bytes);
        assert!((found_ns - 2.0 * ns).abs() < 1e-6, "{bytes} bytes: {found_ns}");
    }
    let rate = rate_of(&card).unwrap();
    assert_eq!((rate.value, rate.measured), (64.0, true), "of 64 KiB");
    let told = "measured here: 64 KiB among the copies of 16 to 1000000 bytes from memory that \
                `sealift lab run copy-by-length` timed on 20";
    assert!(rate.source.starts_with(told), "{}", rate.source);
}

#[test]
fn what_a_scheduler_begins_with_follows_what_copies_cost() {
    // A card that does nothing but have its texts copied.
    let text = SMALL.replace("rate_gbit_per_s = 8", "rate_gbit_per_s = 1e6");
    let text = text.replace("setup_us = 4", "setup_us = 0.001");
    let text = text.replace("request_us = 1", "request_us = 0");
    let folder = Folder::new();
    let cost_by = |ns: f64| {
        keep(&folder, &[(16, 16.0 * ns), (16_384, 16_384.0 * ns)]);
        made(&text, 2, &folder.cache()).cost()
    };
    let (one, ten) = (cost_by(1.0), cost_by(10.0));
    assert!((one.per_byte_ns() / 2.0 - 1.0).abs() < 0.05, "{one:?}");
    assert!((ten.per_byte_ns() / 20.0 - 1.0).abs() < 0.05, "{ten:?}");
}

#[test]
fn a_stated_rate_stands_whatever_the_cache_says() {
    let folder = Folder::new();
    keep(&folder, &[(16, 20.0)]);
    let stated = Card::made("test", WHOLE, &folder.cache()).unwrap();
    assert_eq!(stated, card(WHOLE));
}

#[test]
fn a_cache_that_says_nothing_of_this_machine_is_as_good_as_none() {
    let folder = Folder::new();
    let cache = folder.cache();
    keep(&folder, &[(16, 20.0), (65_536, 8_192.0)]);
    let good = fs::read_to_string(cache.file().unwrap()).unwrap();
    let line = good.lines().nth(1).unwrap();
    let [processor, cores, rest] = line.splitn(3, '\t').collect::<Vec<_>>()[..] else {
        panic!("{line}")
    };
    let rate_with = |text: &str| {
        fs::write(cache.file().unwrap(), text).unwrap();
        rate_of(&without_a_rate(1, &cache)).unwrap()
    };
    let timed = rate_of(&without_a_rate(1, &nowhere())).unwrap();
    let bad = [
        good.replace(line, &format!("Another Processor\t{cores}\t{rest}")),
        good.replace(line, &format!("{processor}\t100000\t{rest}")),
        good.replace("65536:8192", "65536:NaN"),
        good.replace("65536:8192", "65536:1e300"),
        good.replace("65536:8192", "8:8192"),
        good.replace("65536:8192", "65536"),
        good.replace("16:20 65536:8192", ""),
        good[..good.len() / 2].to_owned(),
        good[..good.len() - 2].to_owned(),
        "a shopping list\n".to_owned(),
        String::new(),
    ];
    for text in bad {
        assert_ne!(text, good);
        assert_eq!(rate_with(&text), timed, "{text:?}");
    }
    assert_ne!(rate_with(&good), timed);
}

fn without_a_rate(copies: u32, cache: &Cache) -> Card {
    made(SMALL, copies, cache)
}

fn made(text: &str, copies: u32, cache: &Cache) -> Card {
    let stated = "copies = 0\ncopy_gbit_per_s = 1";
    assert!(text.contains(stated));
    Card::made("test", &text.replace(stated, &format!("copies = {copies}")), cache).unwrap()
}

fn rate_of(card: &Card) -> Option<Constant> {
    card.constants().iter().find(|each| each.name == "host.copy_gbit_per_s").cloned()
}

fn copied_ns(card: &Card, bytes: u64) -> f64 {
    card.predict(1, bytes).host_ns - card.predict(1, 0).host_ns
}

fn keep(folder: &Folder, times: &[(u64, f64)]) {
    let cache = folder.cache();
    let copies = Measured::Copies(CopyCost::new(times.to_vec()).unwrap());
    cache.keep(cache.read().unwrap_or_default(), vec![copies]).unwrap();
}
