//! Descriptions, right and wrong ones.

use super::super::read::read;
use super::*;

#[test]
fn every_number_says_where_it_comes_from() {
    let whole = card(WHOLE);
    let constants: Vec<_> = whole.constants().iter().map(|c| (c.name.as_str(), c.value)).collect();
    let expected = [
        ("card.units", 3.0),
        ("card.rate_gbit_per_s", 8.0),
        ("card.setup_us", 5.5),
        ("card.slots", 16.0),
        ("card.messages_per_request", 4.0),
        ("host.request_us", 2.0),
        ("host.copies", 1.0),
        ("host.copy_gbit_per_s", 80.0),
        ("link.gbit_per_s", 16.0),
        ("link.latency_us", 0.7),
        ("interrupts.merge_requests", 8.0),
        ("interrupts.merge_us", 30.0),
        ("interrupts.interrupt_us", 1.5),
        ("price.watts", 25.0),
        ("price.price", 499.5),
    ];
    assert_eq!(constants, expected);
    let rate = &whole.constants()[1];
    assert_eq!((rate.source.as_str(), rate.unit, rate.fitted), ("its data sheet", "Gbit/s", false));
    let setup = &whole.constants()[2];
    assert_eq!((setup.source.as_str(), setup.unit, setup.fitted), ("made up", "us", true));
    assert_eq!(
        (whole.watts(), whole.price(), whole.currency()),
        (Some(25.0), Some(499.5), Some("EUR"))
    );
    assert_eq!((whole.units(), whole.slots(), whole.algorithm()), (3, 16, "aes-gcm"));
}

#[test]
fn what_may_be_left_out_may_be_left_out() {
    let small = card(SMALL);
    assert_eq!((small.algorithm(), small.watts(), small.currency()), ("aes-gcm", None, None));
    let text = format!("{SMALL}[price]\nprice = 5\n");
    assert_eq!((card(&text).price(), card(&text).currency()), (Some(5.0), None));
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_what_would_be_right() {
    for (from, to, error) in [
        (
            "units = 2",
            "units = 0",
            "test.toml, line 6: card.units is 0: give a whole number from 1 to 65536",
        ),
        ("units = 2", "units = 2.5", "card.units is 2.5: give a whole number"),
        ("units = 2", "units = true", "card.units is true"),
        ("units = 2", "units = \"two\"", "card.units is \"two\""),
        ("units = 2", "units = 0x2", "card.units is 0x2"),
        ("units = 2", "units = 99999999999999999999", "card.units is 99999999999999999999"),
        ("units = 2", "units = { value = 0 }", "card.units.value is 0: give a whole"),
        ("units = 2", "units = { source = \"me\" }", "card.units.value is missing"),
        (
            "units = 2",
            "units = { value = 2, sauce = \"me\" }",
            "no key card.units.sauce: write value, source, fitted",
        ),
        (
            "units = 2",
            "units = { value = 2, fitted = 1 }",
            "card.units.fitted is 1: give true or false",
        ),
        (
            "rate_gbit_per_s = 8",
            "rate_gbit_per_s = 0",
            "card.rate_gbit_per_s is 0: give a number from 0.000001",
        ),
        ("rate_gbit_per_s = 8", "rate_gbit_per_s = inf", "is inf"),
        ("rate_gbit_per_s = 8", "rate_gbit_per_s = nan", "is nan"),
        (
            "setup_us = 4",
            "setup_us = -4",
            "card.setup_us is -4: give a number from 0 to 10000000 (us)",
        ),
        (
            "setup_us = 4",
            "setup_ms = 4",
            "test.toml, line 8: there is no key card.setup_ms: write units",
        ),
        ("slots = 4\n", "", "card.slots is missing: give a whole number from 1"),
        ("[host]", "[hosts]", "no key hosts: write name"),
        (
            "name = \"small\"",
            "name = \"Small one\"",
            "line 2: name is \"Small one\": give a name of a-z, 0-9 and -",
        ),
        ("name = \"small\"", "", "name is missing"),
        ("source = \"made up\"", "source = \" \"", "source is \" \": give a text of one line"),
        ("source = \"made up\"", "source = \"a\\u001b[31m\"", "source is"),
        ("summary = \"a card with little\"", "", "summary is missing"),
        ("[host]", "host = 1\n[card2]", "there is no key card2"),
        ("units = 2", "units = 2\nunits = 3", "test.toml, line 7: duplicate key"),
        ("units = 2", "units = ", "test.toml, line 6: "),
        ("[card]", "card = 1\n[other]", "no key other"),
        (
            "[host]",
            "[board]\nlook_us = 0.6\nchain_requests = 1\n[host]",
            "board.look_us is 0.6: give so little that user_us, block_us and look_us",
        ),
    ] {
        let text = SMALL.replace(from, to);
        assert_ne!(text, SMALL, "{from} stands there");
        let found = refused(&text);
        assert!(found.contains(error), "{to}: {found}");
    }
    let free =
        SMALL.replace("setup_us = 4", "setup_us = 0").replace("request_us = 1", "request_us = 0");
    let found = refused(&free);
    assert!(found.contains("card.setup_us is 0: give more than 0"), "{found}");
    let found = refused("link = 3\nname = \"a\"");
    assert!(found.contains("summary is missing"), "{found}");
    let found = refused(&format!("link = 3\n{SMALL}"));
    assert_eq!(found, "test.toml, line 1: link is 3: give a table of that name");
}

#[test]
fn a_file_that_cannot_be_read_says_why() {
    let refused = |path: &str| Card::read(path).unwrap_err().to_string();
    assert!(refused("no/such/card.toml").starts_with("no/such/card.toml: "));
    for path in ["a,b.toml", "a(b).toml", "a=b.toml"] {
        assert!(refused(path).contains("rename the file"), "{path}");
    }
    assert_eq!(refused(""), "\"\": give the path of a card's description");
    for path in ["/dev/zero", "src"] {
        let expected = format!("{path}: it is a folder, a pipe or a device: give a plain file");
        assert_eq!(refused(path), expected);
    }
    let pipe = std::env::temp_dir().join(format!("sealift-pipe-{}.toml", std::process::id()));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let found = Card::read(&pipe).unwrap_err().to_string();
    std::fs::remove_file(&pipe).unwrap();
    assert!(found.contains("give a plain file"), "{found}");
}

#[test]
fn a_file_that_is_too_long_or_no_text_says_so() {
    let file = std::env::temp_dir().join(format!("sealift-bytes-{}.toml", std::process::id()));
    let refused = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        let found = Card::read(&file).unwrap_err().to_string();
        std::fs::remove_file(&file).unwrap();
        found
    };
    assert!(refused(&[0xff; 65_537]).contains("more than 65536 bytes"), "its length says enough");
    assert!(refused(b"name = \"\xff").contains("byte 8 is not UTF-8"));
}

#[test]
fn no_error_brings_control_characters_to_a_terminal() {
    for text in [
        SMALL.replace("units = 2", "\"un\\u001b[31mits\" = 2"),
        SMALL.replace("name = \"small\"", "\"a\\u001bb\" = 1\n\"a\\u001bb\" = 2"),
        SMALL.replace("units = 2", "units = \u{1b}"),
    ] {
        let found = refused(&text);
        assert!(!found.contains(char::is_control), "{found:?}");
    }
}

#[test]
fn aes_gcm_is_aes_gcm_however_it_is_written() {
    let algorithm = |text: &str| {
        card(&SMALL.replace("[card]", &format!("algorithm = \"{text}\"\n[card]")))
            .algorithm()
            .to_owned()
    };
    assert_eq!(["AES-GCM", "Aes-gcm", "3DES"].map(algorithm), ["aes-gcm", "aes-gcm", "3DES"]);
}

fn refused(text: &str) -> String {
    read("test.toml", text, &nowhere()).unwrap_err().to_string()
}
