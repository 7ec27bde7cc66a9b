use super::super::tests::Stand;
use super::*;

#[test]
fn a_region_that_can_not_be_is_refused_before_it_is_touched() {
    let stand = Stand::of("refused", &[7; 8_192]);
    let error = |offset, bytes| Region::find(&stand.0, offset, bytes).unwrap_err().to_string();
    assert!(error(0, 3 * 4_096).contains("the file has 8192 bytes, and 12288 are needed"));
    assert!(error(1, 4_096).contains("multiple of a page"));
    assert!(error(0, 100).contains("multiple of a page"));
    assert!(error(0, 0).contains("length"));
    assert!(error(u64::MAX - 4_095, 8_192).contains("length"));
    let gone = Region::find(&stand.0.with_extension("gone"), 0, 4_096).unwrap_err();
    let gone = gone.to_string();
    assert!(gone.contains("No such file") && gone.contains("; name a file or a device"), "{gone}");
    let folder = Region::find(&std::env::temp_dir(), 0, 4_096).unwrap_err();
    assert!(folder.to_string().contains("neither a file"));
    assert_eq!(fs::read(&stand.0).unwrap(), [7; 8_192]);
}

/// A folder that tells of the device /dev/zero what /sys would tell of memory; gone when it is dropped.
struct System(PathBuf);

impl System {
    fn with_files(name: &str, told: &[(&str, &str)]) -> Self {
        let name = format!("sealift-system-{}-{name}", std::process::id());
        let system = Self(std::env::temp_dir().join(name));
        let device = system.0.join("dev/char/1:5");
        for (file, text) in told {
            let file = device.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        system
    }

    fn find(&self, offset: u64, bytes: usize) -> Result<(), String> {
        let found = Region::find_by(&self.0, Path::new("/dev/zero"), offset, bytes);
        found.map(drop).map_err(|error| error.to_string())
    }
}

impl Drop for System {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn a_device_is_held_to_what_it_tells_of_itself() {
    const MIB: usize = 1 << 20;
    for align in ALIGNS {
        let told = [("size", "4194304\n"), (align, "2097152\n")];
        let system = System::with_files("tells", &told);
        assert_eq!(system.find(0, 4 * MIB), Ok(()));
        let longer = system.find(2 << 20, 4 * MIB).unwrap_err();
        assert!(longer.contains("the device has 4194304 bytes, and 6291456 are"), "{longer}");
        let begin = system.find(4_096, 2 * MIB).unwrap_err();
        assert!(
            begin.contains("offset of it, 4096, is no multiple of a page of 2097152"),
            "{begin}"
        );
        let len = system.find(0, MIB).unwrap_err();
        assert!(len.contains("length of it, 1048576, is no multiple"), "{len}");
    }
    let silent = System::with_files("silent", &[("dev", "1:5\n")]);
    assert_eq!(silent.find(1 << 40, MIB), Ok(()), "a device that tells nothing");
    assert!(silent.find(1, MIB).is_err());
}

#[test]
fn parts_of_all_threads_lie_in_one_mapping_of_the_whole_region() {
    let stand = Stand::of("whole", &[0; 8 * 4_096]);
    let region = Region::find(&stand.0, 2 * 4_096, 4 * 4_096).unwrap();
    let part = |thread, access| region.part(thread, 16, access).unwrap();
    let ((first, whole), (second, same)) = (part(0, Access::Write), part(1, Access::Write));
    assert!(second == first.wrapping_add(4_096) && Arc::ptr_eq(&whole, &same));
    let (found, read) = part(3, Access::Read);
    assert_eq!(found, read.as_mut_ptr().wrapping_add(3 * 4_096));
    for (start, access) in [(first, "rw-s"), (read.as_mut_ptr(), "r--s")] {
        let (start, end) = (start.addr(), start.addr() + 4 * 4_096);
        let line = format!("{start:x}-{end:x} {access} 00002000 ");
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        assert!(maps.lines().any(|each| each.starts_with(&line)), "{line}: {maps}");
    }
    let error = region.part(4, 16, Access::Write).unwrap_err().to_string();
    assert!(error.contains("it has 16384 bytes, and 5 threads need 20480"), "{error}");
}

#[test]
fn a_file_that_took_the_place_of_the_one_that_was_found_is_refused() {
    let (stand, other) = (Stand::of("first", &[1; 8_192]), Stand::of("second", &[2; 8_192]));
    let region = Region::find(&stand.0, 0, 8_192).unwrap();
    fs::rename(&other.0, &stand.0).unwrap();
    let replaced = region.part(0, 16, Access::Write).unwrap_err().to_string();
    let begin = format!("region {}:0:8192 can't be measured here: another file", stand.0.display());
    assert!(replaced.starts_with(&begin), "{replaced}");
    // Found anew it is the new one, and as long as that is used the name stands for no third one.
    let region = Region::find(&stand.0, 0, 8_192).unwrap();
    let used = region.part(0, 16, Access::Read).unwrap();
    fs::write(&other.0, [3; 8_192]).unwrap();
    fs::rename(&other.0, &stand.0).unwrap();
    let third = Region::find(&stand.0, 0, 8_192).unwrap();
    let mixed = third.part(0, 16, Access::Read).unwrap_err().to_string();
    assert!(mixed.contains("another file has taken its place"), "{mixed}");
    assert!(region.part(1, 16, Access::Read).is_ok(), "what is in use goes on");
    drop(used);
    assert!(third.part(0, 16, Access::Read).is_ok());
    fs::write(&other.0, "for its end").unwrap();
}

#[test]
fn a_file_that_became_shorter_is_refused_and_not_mapped() {
    let stand = Stand::of("shorter", &[0; 8_192]);
    let region = Region::find(&stand.0, 0, 8_192).unwrap();
    fs::OpenOptions::new().write(true).open(&stand.0).unwrap().set_len(4_096).unwrap();
    let error = region.part(0, 16, Access::Read).unwrap_err().to_string();
    assert!(error.contains("the file has 4096 bytes, and 8192 are needed"), "{error}");
}

#[test]
fn what_the_system_refuses_is_told_with_the_region_and_what_would_be_right() {
    let device = Region::find(Path::new("/dev/null"), 4_096, 8_192).unwrap();
    let unmapped = device.part(0, 16, Access::Write).unwrap_err().to_string();
    assert!(unmapped.starts_with("region /dev/null:4096:8192 can't be measured"), "{unmapped}");
    assert!(unmapped.contains("its 8192 bytes from byte 4096 on can't be mapped: "), "{unmapped}");
    assert!(unmapped.contains("; take whole pages within a device that can be"), "{unmapped}");
    let stand = Stand::of("closed", &[0; 4_096]);
    let region = Region::find(&stand.0, 0, 4_096).unwrap();
    fs::remove_file(&stand.0).unwrap();
    let closed = region.part(0, 16, Access::Write).unwrap_err().to_string();
    assert!(closed.contains("it can't be opened: No such file"), "{closed}");
    assert!(closed.ends_with("that this user may read and write"), "{closed}");
    fs::write(&stand.0, "for its end").unwrap();
}
