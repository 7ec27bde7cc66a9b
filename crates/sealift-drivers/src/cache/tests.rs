use super::kept::{END, ENTRIES_MAX, HEADING};
use super::machine::Machine;
use super::*;
use crate::copying::CopyCost;
use crate::testing::Folder;
use sealift_core::Cost;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;
use std::{fs, process, thread};

fn cost(setup_ns: f64) -> Cost {
    Cost::new(setup_ns, 1e-9 / 3.0, 0.1).unwrap()
}

fn keep(cache: &Cache, measured: &[(&str, Cost)]) {
    cache.keep(cache.read().unwrap_or_default(), devices(measured)).unwrap();
}

fn devices(measured: &[(&str, Cost)]) -> Vec<Measured> {
    let device =
        |(name, cost): &(&str, Cost)| Measured::Device { name: (*name).to_owned(), cost: *cost };
    measured.iter().map(device).collect()
}

fn copies(ns: f64) -> Measured {
    Measured::Copies(CopyCost::new(vec![(16, ns), (1_024, 10.0 * ns)]).unwrap())
}

fn cost_of(kept: &Kept, device: &str) -> Option<Cost> {
    Some(kept.device(device)?.0)
}

fn written(folder: &Folder, text: &str) -> Cache {
    let cache = folder.cache();
    keep(&cache, &[("cpu", cost(7.0))]);
    fs::write(cache.file().unwrap(), text).unwrap();
    cache
}

#[test]
fn what_is_kept_is_read_back_to_the_last_digit() {
    let folder = Folder::new();
    let cache = folder.cache();
    assert!(cache.read().unwrap().is_empty());
    keep(&cache, &[("cpu", cost(1.0)), ("cpu:isa=aesni,cores=0-3", cost(2.0))]);
    keep(&cache, &[("cpu", cost(3.0))]);
    let kept = cache.read().unwrap();
    assert_eq!(kept.entries.len(), 2);
    assert_eq!(cost_of(&kept, "cpu"), Some(cost(3.0)));
    assert_eq!(cost_of(&kept, "cpu:isa=aesni,cores=0-3"), Some(cost(2.0)));
    assert!(kept.device("library").is_none());
    let age = kept.device("cpu").unwrap().1.elapsed().unwrap();
    assert!(age < Duration::from_secs(600), "{age:?}");
    assert_eq!(fs::read_dir(folder.0.join("sealift")).unwrap().count(), 1, "no draft is left");
}

#[test]
fn copies_are_kept_beside_devices_and_replaced_as_a_whole() {
    let folder = Folder::new();
    let cache = folder.cache();
    keep(&cache, &[("copies", cost(1.0))]);
    assert!(cache.read().unwrap().copies().is_none());
    let [first, second] = [copies(1.0 / 3.0), copies(20.0)];
    for measured in [&first, &second] {
        let file = cache.keep(cache.read().unwrap(), vec![measured.clone()]).unwrap();
        assert_eq!(Some(file), cache.file());
        let kept = cache.read().unwrap();
        let (found, at) = kept.copies().unwrap();
        assert_eq!(Measured::Copies(found.clone()), *measured);
        assert!(at.elapsed().unwrap() < Duration::from_secs(600));
        assert_eq!(cost_of(&kept, "copies"), Some(cost(1.0)), "a device of that name");
        assert_eq!(kept.entries.len(), 2);
    }
    keep(&cache, &[("copies", cost(2.0))]);
    assert!(cache.read().unwrap().copies().is_some());
}

#[test]
fn who_writes_at_once_leaves_one_whole_file() {
    let folder = Folder::new();
    let cache = folder.cache();
    keep(&cache, &[("cpu", cost(1.0))]);
    thread::scope(|scope| {
        for number in 1..=4 {
            let cache = &cache;
            scope.spawn(move || {
                for _ in 0..50 {
                    let kept = cache.read().expect("whole at all times");
                    cache.keep(kept, vec![copies(f64::from(number))]).unwrap();
                }
            });
        }
    });
    let kept = cache.read().unwrap();
    assert_eq!(cost_of(&kept, "cpu"), Some(cost(1.0)));
    let found = Measured::Copies(kept.copies().unwrap().0.clone());
    assert!((1..=4).any(|number| found == copies(f64::from(number))), "{found:?}");
    assert_eq!(fs::read_dir(folder.0.join("sealift")).unwrap().count(), 1, "no draft is left");
}

#[test]
fn entries_of_another_machine_are_not_used_and_not_lost() {
    let folder = Folder::new();
    let foreign = "Another Processor\t96\tcpu\t5\t5\t5\t1700000000";
    let other_cores = format!("{}\t100000\tcpu\t6\t6\t6\t1700000000", Machine::this().processor);
    let cache = written(&folder, &format!("{HEADING}\n{foreign}\n{other_cores}\n{END}\n"));
    assert!(cache.read().unwrap().device("cpu").is_none());
    keep(&cache, &[("cpu", cost(1.0))]);
    assert_eq!(cost_of(&cache.read().unwrap(), "cpu"), Some(cost(1.0)));
    let text = fs::read_to_string(cache.file().unwrap()).unwrap();
    assert!(text.contains(foreign) && text.contains(&other_cores), "{text}");
}

#[test]
fn a_damaged_file_is_said_to_be_and_replaced() {
    let good = format!("{HEADING}\nx\t1\tcpu\t1\t2\t3\t4\n{END}\n");
    let damages = [
        String::new(),
        good.replace("costs 1", "costs 2"),
        good.replace(END, ""),
        good[..good.len() - 1].to_owned(),
        good.replace("\t3\t", "\t-3\t"),
        good.replace("\t3\t", "\tNaN\t"),
        good.replace("\t3\t", "\tinf\t"),
        good.replace("\t3\t", "\t"),
        good.replace("\t4\n", "\t4\t5\n"),
        "\0".repeat(3_000_000),
    ];
    for damaged in damages {
        let folder = Folder::new();
        let cache = written(&folder, &damaged);
        let said = cache.read().unwrap_err().to_string();
        assert!(said.ends_with("is damaged"), "{said}");
        keep(&cache, &[("cpu", cost(1.0))]);
        assert_eq!(cache.read().unwrap().entries.len(), 1);
    }
    assert_eq!(Kept::parse(&good).unwrap().entries.len(), 1);
}

#[test]
fn no_link_is_followed() {
    let folder = Folder::new();
    let elsewhere = folder.0.join("precious");
    fs::write(&elsewhere, "not ours").unwrap();
    let cache = written(&folder, "");
    fs::remove_file(cache.file().unwrap()).unwrap();
    symlink(&elsewhere, cache.file().unwrap()).unwrap();
    let said = cache.read().unwrap_err().to_string();
    assert!(said.contains("it is no plain file"), "{said}");
    keep(&cache, &[("cpu", cost(1.0))]);
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "not ours");
    assert!(cache.read().unwrap().device("cpu").is_some(), "the link was replaced");

    let target = folder.0.join("target");
    fs::create_dir(&target).unwrap();
    let linked = folder.0.join("linked");
    symlink(&target, &linked).unwrap();
    let cache = Cache::at(linked);
    assert!(cache.read().unwrap_err().to_string().contains("is no folder"));
    let said = cache.keep(Kept::default(), devices(&[("cpu", cost(1.0))])).unwrap_err().to_string();
    assert!(said.contains("can't be written") && said.contains("is no folder"), "{said}");
    assert_eq!(fs::read_dir(target).unwrap().count(), 0);
}

#[test]
fn a_pipe_in_its_place_blocks_nobody() {
    let folder = Folder::new();
    let cache = written(&folder, "");
    let file = cache.file().unwrap();
    fs::remove_file(&file).unwrap();
    assert!(process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    assert!(cache.read().unwrap_err().to_string().contains("it is no plain file"));
}

#[test]
fn a_place_that_takes_no_file_is_told_of() {
    let folder = Folder::new();
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    let cache = Cache::at(file.join("sealift"));
    let said = cache.keep(Kept::default(), devices(&[("cpu", cost(1.0))])).unwrap_err().to_string();
    assert!(said.contains("can't be written"), "{said}");
}

#[test]
fn the_folder_is_its_owners_alone_and_those_above_it_are_made() {
    let folder = Folder::new();
    let cache = Cache::at(folder.0.join("not/yet/sealift"));
    keep(&cache, &[("cpu", cost(1.0))]);
    let mode = fs::metadata(folder.0.join("not/yet/sealift")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn the_place_is_the_users_cache_folder_and_never_a_relative_one() {
    let file = |caches: &str, home: &str| {
        let given = |text: &str| Some(OsString::from(text)).filter(|_| text != "-");
        Cache::under(given(caches), given(home)).file()
    };
    let expected = |start: &str| Some(PathBuf::from(format!("{start}/sealift/{FILE}")));
    assert_eq!(file("/caches", "/of-a-user"), expected("/caches"));
    for none in ["-", "", "caches", "./caches"] {
        assert_eq!(file(none, "/of-a-user"), expected("/of-a-user/.cache"));
        assert_eq!(file(none, none), None);
    }
    let homeless = Cache::under(None, None);
    assert!(homeless.read().unwrap_err().to_string().contains("$XDG_CACHE_HOME nor $HOME"));
    assert!(homeless.keep(Kept::default(), vec![]).is_err());
}

#[test]
fn names_that_would_break_lines_are_left_out_and_entries_are_bounded() {
    let folder = Folder::new();
    let cache = folder.cache();
    keep(&cache, &[("two\nlines", cost(1.0)), ("a\ttab", cost(1.0)), ("", cost(1.0))]);
    assert!(cache.read().unwrap().is_empty());
    let names: Vec<_> = (0..ENTRIES_MAX + 3).map(|n| format!("cpu:cores={n}")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), cost(1.0))).collect();
    keep(&cache, &many);
    let kept = cache.read().unwrap();
    assert_eq!(kept.entries.len(), ENTRIES_MAX);
    assert!(kept.device("cpu:cores=2").is_none() && kept.device("cpu:cores=3").is_some());
}
