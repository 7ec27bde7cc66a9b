//! A limit on this process's memory, while something is measured under it.

use crate::ArmError;
use std::env;
use std::fs::{self, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A control group of this process's own with a limit on memory, below one that the user has named.
///
/// It holds the process only [while](Self::within) it is measured, and what the process takes or reads from
/// files meanwhile; what it had before counts where it was. Nobody else's group is changed. It is removed
/// when this is dropped; one whose process was killed is removed by the next that is made beside it.
#[derive(Debug)]
pub(crate) struct Limit {
    group: PathBuf,
    home: PathBuf,
    bytes: usize,
}

impl Limit {
    /// The one of this process: all that ask for as much at the same time share it.
    ///
    /// # Errors
    /// [`ArmError::Absent`]: no group was named, or none can be made in it; says what would be right.
    pub(crate) fn of(bytes: usize) -> std::result::Result<Arc<Self>, ArmError> {
        static STANDING: Mutex<Weak<Limit>> = Mutex::new(Weak::new());
        let mut standing = STANDING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(limit) = standing.upgrade().filter(|limit| limit.bytes == bytes) {
            return Ok(limit);
        }
        let named = env::var_os(VARIABLE).filter(|named| !named.is_empty());
        let parent = PathBuf::from(named.ok_or_else(|| absent(UNNAMED.to_owned()))?);
        let made = Self::below(&parent, bytes);
        let limit = Arc::new(made.map_err(|error| {
            absent(format!("{VARIABLE} names {}: {error}; {UNNAMED}", parent.display()))
        })?);
        *standing = Arc::downgrade(&limit);
        Ok(limit)
    }

    /// Has something done by this process inside.
    ///
    /// # Errors
    /// What it fails with; the process can't go in or out.
    pub(crate) fn within<T>(
        &self,
        work: impl FnOnce() -> std::result::Result<T, ArmError>,
    ) -> std::result::Result<T, ArmError> {
        static INSIDE: Mutex<()> = Mutex::new(());
        // A process is in one group at a time, with all its threads.
        let _alone = INSIDE.lock().unwrap_or_else(PoisonError::into_inner);
        join(&self.group).map_err(ArmError::file("enter the group with a limit on memory"))?;
        let inside = Inside { home: &self.home };
        let done = work();
        inside.leave().map_err(ArmError::file("leave the group with a limit on memory"))?;
        done
    }

    fn below(parent: &Path, bytes: usize) -> Result<Self> {
        let parent = fs::canonicalize(parent)?;
        let version = Version::of(&parent)?;
        let home = version.home(&parent, &fs::read_to_string("/proc/self/cgroup")?)?;
        // Whoever can't come back must not go.
        OpenOptions::new().write(true).open(home.join(PROCESSES))?;
        remove_left_behind(&parent, |pid| Path::new("/proc").join(pid).exists());
        let group = parent.join(format!("{PREFIX}{}-{bytes}", std::process::id()));
        fs::create_dir(&group)?;
        let limit = Self { group, home, bytes };
        fs::write(limit.group.join(version.limit()), bytes.to_string())?;
        join(&limit.group)?;
        Inside { home: &limit.home }.leave()?;
        Ok(limit)
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        // It is empty; if not, somebody else has moved in, and has the say.
        drop(fs::remove_dir(&self.group));
    }
}

/// Brings the process home, however the work inside ends.
struct Inside<'l> {
    home: &'l Path,
}

impl Inside<'_> {
    fn leave(self) -> Result<()> {
        let left = join(self.home);
        std::mem::forget(self);
        left
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // On the way of a panic, which says more.
        drop(join(self.home));
    }
}

/// Which of the kernel's two kinds of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    /// That of a group which may have others below it with limits on memory.
    fn of(group: &Path) -> Result<Self> {
        if let Ok(controllers) = fs::read_to_string(group.join("cgroup.subtree_control")) {
            if controllers.split_whitespace().any(|each| each == "memory") {
                return Ok(Self::Two);
            }
            return Err(Error::other("its cgroup.subtree_control does not have memory"));
        }
        if group.join(Self::One.limit()).exists() {
            return Ok(Self::One);
        }
        Err(Error::new(ErrorKind::NotFound, "it is no control group of memory"))
    }

    /// The file that a group's limit is written to, in bytes.
    fn limit(self) -> &'static str {
        match self {
            Self::One => "memory.limit_in_bytes",
            Self::Two => "memory.max",
        }
    }

    /// Where this process is now, under the mount of another group.
    fn home(self, group: &Path, own: &str) -> Result<PathBuf> {
        let has_memory = |controllers: &str| match self {
            Self::One => controllers.split(',').any(|each| each == "memory"),
            Self::Two => controllers.is_empty(),
        };
        // As in `4:memory:/a/group` and `0::/a/group`.
        let path = own.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            has_memory(controllers).then_some(path)
        });
        let is_group = |each: &&Path| each.join(PROCESSES).exists();
        match (path, group.ancestors().take_while(is_group).last()) {
            (Some(path), Some(top)) => Ok(top.join(path.trim_start_matches('/'))),
            _ => Err(Error::new(ErrorKind::NotFound, "this process is in no group beside it")),
        }
    }
}

/// Moves this process, which is what 0 stands for, with all its threads.
fn join(group: &Path) -> Result<()> {
    fs::write(group.join(PROCESSES), "0")
}

/// Removes groups of processes that ended without doing so. One that is in use can't be removed.
fn remove_left_behind(parent: &Path, is_alive: impl Fn(&str) -> bool) {
    let Ok(groups) = fs::read_dir(parent) else { return };
    for group in groups.flatten() {
        let name = group.file_name();
        let numbers = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
        let is_ours = |(pid, bytes): (&str, &str)| {
            [pid, bytes].iter().all(|each| each.parse::<u64>().is_ok())
        };
        if numbers.is_some_and(|numbers| is_ours(numbers) && !is_alive(numbers.0)) {
            drop(fs::remove_dir(group.path()));
        }
    }
}

fn absent(reason: String) -> ArmError {
    ArmError::Absent { what: "a file beyond memory".to_owned(), reason }
}

const VARIABLE: &str = "SEALIFT_MEMORY_GROUP";
const UNNAMED: &str = "a process's group is its starter's, so Sealift sets a limit only below one that \
    SEALIFT_MEMORY_GROUP names as yours: as root any of memory, such as /sys/fs/cgroup (version 2) or \
    /sys/fs/cgroup/memory (version 1); otherwise one that was given to you, and start in one beside it, as \
    systemd-run --user --scope does in user@UID.service/app.slice";
const PREFIX: &str = "sealift-";
const PROCESSES: &str = "cgroup.procs";

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the files of a group; gone when it is dropped.
    struct Made(PathBuf);

    impl Made {
        fn of(name: &str, files: &[(&str, &str)]) -> Self {
            let name = format!("sealift-group-{name}-{}", std::process::id());
            let path = env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            files.iter().for_each(|(file, held)| fs::write(path.join(file), held).unwrap());
            Self(path)
        }
    }

    impl Drop for Made {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn a_group_of_either_version_is_known_by_its_files_and_others_are_refused() {
        let one = Made::of("one", &[("memory.limit_in_bytes", "9"), (PROCESSES, "")]);
        let two = Made::of("two", &[("cgroup.subtree_control", "cpu memory pids\n")]);
        let without = Made::of("without", &[("cgroup.subtree_control", "cpu pids\n")]);
        let none = Made::of("none", &[]);
        assert_eq!(Version::of(&one.0).unwrap(), Version::One);
        assert_eq!(Version::of(&two.0).unwrap(), Version::Two);
        let refused = |made: &Made| Limit::below(&made.0, 1 << 20).unwrap_err().to_string();
        assert_eq!(refused(&without), "its cgroup.subtree_control does not have memory");
        assert_eq!(refused(&none), "it is no control group of memory");
        assert_eq!(fs::read_dir(&none.0).unwrap().count(), 0, "nothing was made");
    }

    #[test]
    fn home_is_where_the_process_was_under_the_same_mount() {
        let top = Made::of("top", &[(PROCESSES, "")]);
        let named = top.0.join("mine");
        fs::create_dir(&named).unwrap();
        fs::write(named.join(PROCESSES), "").unwrap();
        let own = "5:cpu,cpuacct:/elsewhere\n4:memory:/a/group\n1:name=systemd:/\n0::/b\n";
        let home = |version: Version| version.home(&named, own).unwrap();
        assert_eq!(home(Version::One), top.0.join("a/group"));
        assert_eq!(home(Version::Two), top.0.join("b"));
        assert!(Version::One.home(&named, "0::/b\n").is_err());
        assert!(Version::Two.home(Path::new("/"), own).is_err());
    }

    #[test]
    fn a_group_is_entered_and_left_whatever_happens_inside() {
        let made = Made::of("inside", &[]);
        let [group, home] = ["group", "home"].map(|name| made.0.join(name));
        [&group, &home].into_iter().for_each(|each| fs::create_dir(each).unwrap());
        let limit = Limit { group: group.clone(), home: home.clone(), bytes: 1 };
        let entered = || fs::read_to_string(group.join(PROCESSES)).is_ok_and(|held| held == "0");
        let left = || fs::remove_file(home.join(PROCESSES)).is_ok();
        assert_eq!(limit.within(|| Ok((entered(), left()))), Ok((true, false)));
        assert!(left());
        let fails = ArmError::NoMemory { bytes: 5 };
        assert_eq!(limit.within::<()>(|| Err(fails.clone())), Err(fails));
        assert!(left());
        let panics = || limit.within::<()>(|| panic!("planned"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert!(left());
        fs::remove_file(group.join(PROCESSES)).unwrap();
        drop(limit);
        assert!(!group.exists() && home.exists());
    }

    #[test]
    fn what_dead_processes_left_behind_is_removed_and_nothing_else() {
        let made = Made::of("left", &[]);
        let names = ["sealift-1-5", "sealift-22-5", "sealift-33-5", "sealift-x-5", "other-22-5"];
        names.into_iter().for_each(|name| fs::create_dir(made.0.join(name)).unwrap());
        fs::write(made.0.join("sealift-33-5/in-use"), "").unwrap();
        remove_left_behind(&made.0, |pid| pid == "1");
        let stays = names.map(|name| made.0.join(name).exists());
        assert_eq!(stays, [true, false, true, true, true]);
    }

    #[test]
    fn a_real_group_limits_this_process_and_is_gone_afterwards() {
        let limit = match Limit::of(64 << 20) {
            Ok(limit) => limit,
            Err(error) => return eprintln!("not tested here: {error}"),
        };
        let group = limit.group.clone();
        let own = || fs::read_to_string("/proc/self/cgroup").unwrap();
        let before = own();
        let name = group.file_name().unwrap().to_str().unwrap();
        assert!(limit.within(|| Ok(own())).unwrap().contains(name));
        assert_eq!(own(), before);
        assert!(Arc::ptr_eq(&limit, &Limit::of(64 << 20).unwrap()), "one a process");
        drop(limit);
        assert!(!group.exists());
    }
}
