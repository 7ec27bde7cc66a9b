//! What batches cost on this user's machines, kept between processes.
//!
//! A text file: a heading, a line for each device of each machine with its fields between tabs, and an
//! end. Nothing in it is trusted: what does not read as written here counts as damaged, and as costs
//! are learnt on from there, a wrong one costs some time and nothing else.

use sealift_core::Cost;
use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The file, or why there can be none.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: Result<PathBuf, &'static str>,
}

/// A device of a machine, and what its batches cost.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    machine: Machine,
    device: String,
    pub(crate) cost: Cost,
    measured_at_s: u64,
}

/// All entries, of other machines too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    entries: Vec<Entry>,
    /// This machine; not looked for where there are no entries.
    machine: Option<Machine>,
}

/// What tells machines apart that share a home folder.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Machine {
    processor: String,
    cores: usize,
}

impl Cache {
    /// The cache of whoever runs this.
    pub(crate) fn of_user() -> Self {
        Self::under(env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"))
    }

    /// The folder `sealift` under the first of the two that is given; what is no absolute path counts
    /// as not given, as the XDG Base Directory Specification asks.
    fn under(caches: Option<OsString>, home: Option<OsString>) -> Self {
        let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
        let caches = caches.and_then(absolute);
        let caches = caches.or_else(|| Some(home.and_then(absolute)?.join(".cache")));
        let none = "neither $XDG_CACHE_HOME nor $HOME names a folder to keep costs in";
        Self { folder: caches.map(|caches| caches.join("sealift")).ok_or(none) }
    }

    #[cfg(test)]
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder: Ok(folder) }
    }

    /// The file, whether it is there or not.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.folder.as_ref().ok().map(|folder| folder.join(FILE))
    }

    /// What is kept; nothing where there is no file yet.
    ///
    /// # Errors
    /// A sentence about a file that can't be read, or is damaged.
    pub(crate) fn read(&self) -> Result<Kept, String> {
        let folder = self.folder.as_ref().map_err(|reason| (*reason).to_owned())?;
        let file = folder.join(FILE);
        let found =
            is_folder(folder).and_then(|is_there| if is_there { text(&file) } else { Ok(None) });
        let found = found.map_err(|error| format!("{} can't be read: {error}", file.display()))?;
        let Some(text) = found else { return Ok(Kept::default()) };
        let entries = entries(&text);
        let entries = entries.ok_or_else(|| format!("{} is damaged", file.display()))?;
        let machine = (!entries.is_empty()).then(Machine::this);
        Ok(Kept { entries, machine })
    }

    /// Writes costs that were measured just now, beside what was kept before.
    ///
    /// # Errors
    /// A sentence about a file that can't be written.
    pub(crate) fn keep(&self, kept: Kept, measured: &[(&str, Cost)]) -> Result<(), String> {
        let folder = self.folder.as_ref().map_err(|reason| (*reason).to_owned())?;
        let kept = kept.with(measured, now_s());
        write(folder, &kept.text()).map_err(|error| {
            format!(
                "{} can't be written: {error}; costs are measured anew each time, unless {} becomes a folder of \
                 this user's own or XDG_CACHE_HOME names another one",
                folder.join(FILE).display(),
                folder.display()
            )
        })
    }
}

impl Entry {
    /// When it was measured.
    pub(crate) fn measured_at(&self) -> SystemTime {
        UNIX_EPOCH.checked_add(Duration::from_secs(self.measured_at_s)).unwrap_or(UNIX_EPOCH)
    }

    fn line(&self) -> String {
        let Self { machine: Machine { processor, cores }, device, cost, measured_at_s } = self;
        let (setup, message, byte) = (cost.setup_ns(), cost.per_message_ns(), cost.per_byte_ns());
        format!("{processor}\t{cores}\t{device}\t{setup}\t{message}\t{byte}\t{measured_at_s}\n")
    }

    fn read(line: &str) -> Option<Self> {
        let fields: Vec<_> = line.split('\t').collect();
        let [processor, cores, device, setup, message, byte, at] = fields[..] else { return None };
        let term = |text: &str| text.parse::<f64>().ok();
        Some(Self {
            machine: Machine { processor: processor.to_owned(), cores: cores.parse().ok()? },
            device: device.to_owned(),
            cost: Cost::new(term(setup)?, term(message)?, term(byte)?).ok()?,
            measured_at_s: at.parse().ok()?,
        })
    }
}

impl Kept {
    /// Whether nothing is kept for any machine.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What is kept for a device of this machine.
    pub(crate) fn of(&self, device: &str) -> Option<&Entry> {
        let machine = self.machine.as_ref()?;
        self.entries.iter().find(|entry| entry.machine == *machine && entry.device == device)
    }

    fn with(self, measured: &[(&str, Cost)], measured_at_s: u64) -> Self {
        let Self { mut entries, machine } = self;
        let machine = machine.unwrap_or_else(Machine::this);
        let is_new = |entry: &Entry| measured.iter().any(|(device, _)| entry.device == *device);
        entries.retain(|entry| entry.machine != machine || !is_new(entry));
        // A name that would break the lines is measured anew each time.
        let fits = |device: &str| !device.is_empty() && !device.contains(char::is_control);
        let new = measured.iter().filter(|(device, _)| fits(device)).map(|(device, cost)| Entry {
            machine: machine.clone(),
            device: (*device).to_owned(),
            cost: *cost,
            measured_at_s,
        });
        entries.extend(new);
        let extra = entries.len().saturating_sub(ENTRIES_MAX);
        entries.drain(..extra);
        Self { entries, machine: Some(machine) }
    }

    fn text(&self) -> String {
        let lines: String = self.entries.iter().map(Entry::line).collect();
        format!("{HEADING}\n{lines}{END}\n")
    }
}

impl Machine {
    fn this() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self { processor: processor().unwrap_or_else(|| env::consts::ARCH.to_owned()), cores }
    }
}

/// As the processor names itself.
fn processor() -> Option<String> {
    // The kernel writes this file as it is read, core by core: the first one will do.
    let lines = BufReader::new(File::open("/proc/cpuinfo").ok()?).lines().take(CPUINFO_LINES_MAX);
    let lines = lines.map_while(Result::ok);
    let names = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == "model name").then(|| value.trim().replace(char::is_control, " "))
    });
    names.filter(|name| !name.is_empty()).take(1).last()
}

fn entries(text: &str) -> Option<Vec<Entry>> {
    let lines = text.strip_prefix(HEADING)?.strip_prefix('\n')?;
    let lines = lines.strip_suffix('\n')?.strip_suffix(END)?;
    lines.lines().map(Entry::read).collect()
}

/// Whether there is a folder; a link to one is none.
fn is_folder(folder: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => Ok(true),
        Ok(_) => Err(io::Error::other(format!("{} is no folder", folder.display()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The text of a file that is no link, pipe or device; none where there is no file.
fn text(file: &Path) -> io::Result<Option<String>> {
    match fs::symlink_metadata(file) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(io::Error::other("it is no plain file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut text = vec![];
    File::open(file)?.take(BYTES_MAX).read_to_end(&mut text)?;
    // What is no text is damaged, which an empty one is too.
    Ok(Some(String::from_utf8(text).unwrap_or_default()))
}

/// Puts a whole file in the place of the old one. A link there is replaced, not followed.
fn write(folder: &Path, text: &str) -> io::Result<()> {
    if !is_folder(folder)? {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let draft = folder.join(format!("{FILE}.{}-{number}", process::id()));
    // A draft of a process of the same number that was killed.
    let _ = fs::remove_file(&draft);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&draft, folder.join(FILE)));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

static NEXT: AtomicU64 = AtomicU64::new(0);
/// Another version's kernels cost something else.
const FILE: &str = concat!("costs-", env!("CARGO_PKG_VERSION"), ".txt");
const HEADING: &str = "sealift costs 1";
const END: &str = "end";
const BYTES_MAX: u64 = 1 << 20;
/// The oldest ones go first.
const ENTRIES_MAX: usize = 1_024;
/// The name stands in one of the first lines.
const CPUINFO_LINES_MAX: usize = 64;

#[cfg(test)]
mod tests;
