//! The folder of a run, as the lab reads it: `python/sealift_lab/model/run.py` says what its files hold.

use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A run's folder.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder of a run that is under way.
    pub(crate) fn of(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Makes the folder of a new run.
    ///
    /// # Errors
    /// Something is in it, or it can't be made.
    pub(crate) fn create(path: &Path) -> Result<Self, String> {
        let wrong =
            |error| format!("{} can't be made: {error}; name another folder", path.display());
        fs::create_dir_all(path).map_err(wrong)?;
        if fs::read_dir(path).map_err(wrong)?.next().is_some() {
            let path = path.display();
            return Err(format!(
                "{path} holds something; name a folder that is empty or not there"
            ));
        }
        Ok(Self::of(path))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file as a whole: readers see the old one or the new one.
    ///
    /// # Errors
    /// The folder takes no files.
    pub(crate) fn write(&self, name: &str, content: &Value) -> Result<(), String> {
        let (new, file) = (self.path.join(format!(".{name}.new")), self.path.join(name));
        let written = File::create(&new).and_then(|mut file| {
            writeln!(file, "{content:#}")?;
            file.sync_all()
        });
        written.and_then(|()| fs::rename(&new, &file)).map_err(|error| not_written(&file, &error))
    }

    /// Adds lines to a file, in one write.
    ///
    /// # Errors
    /// The folder takes no files.
    pub(crate) fn add(&self, name: &str, lines: &[Value]) -> Result<(), String> {
        let file = self.path.join(name);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let open = OpenOptions::new().append(true).create(true).open(&file);
        let written = open.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| not_written(&file, &error))
    }

    /// The lines of a file that are whole; none where it isn't there.
    ///
    /// # Errors
    /// It can't be read, or holds something else.
    pub(crate) fn lines(&self, name: &str) -> Result<Vec<Value>, String> {
        let file = self.path.join(name);
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read.map_err(|error| format!("{}: {error}", file.display()))?,
        };
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let parse = |line| serde_json::from_str(line);
        let lines: Result<_, _> = whole.map(parse).collect();
        lines.map_err(|error| format!("{}: {error}", file.display()))
    }

    /// Says what went wrong, for the page.
    ///
    /// # Errors
    /// The folder takes no files.
    pub(crate) fn note(&self, note: &str) -> Result<(), String> {
        self.add(NOTES, &[json!({ "note": note })])
    }
}

fn not_written(file: &Path, error: &std::io::Error) -> String {
    let file = file.display();
    format!("{file} was not written: {error}; name a folder that can be written, with --out")
}

pub(crate) const PLAN: &str = "plan.json";
pub(crate) const MACHINE: &str = "machine.json";
pub(crate) const SAMPLES: &str = "samples.jsonl";
pub(crate) const VERIFY: &str = "verify.jsonl";
pub(crate) const SENSORS: &str = "sensors.jsonl";
pub(crate) const ENDING: &str = "ending.json";
pub(crate) const NOTES: &str = "notes.jsonl";
/// Not the lab's: what the suite for devices did, a line for each check.
pub(crate) const CONFORMANCE: &str = "conformance.jsonl";

#[cfg(test)]
mod tests {
    use super::*;
    use std::env;
    use std::process;

    #[test]
    fn a_folder_that_holds_something_is_refused_and_lines_are_read_as_far_as_they_are_whole() {
        let path = env::temp_dir().join(format!("sealift-gpu-folder-{}", process::id()));
        let folder = Folder::create(&path).unwrap();
        assert_eq!(folder.lines(NOTES).unwrap(), Vec::<Value>::new());
        folder.note("first").unwrap();
        folder.add(NOTES, &[json!({"note": "second"}), json!({"note": "third"})]).unwrap();
        fs::write(path.join("torn"), "{\"note\": 1}\n{\"no").unwrap();
        assert_eq!(folder.lines(NOTES).unwrap().len(), 3);
        assert_eq!(folder.lines("torn").unwrap(), [json!({"note": 1})]);
        folder.write(ENDING, &json!({"ending": "complete"})).unwrap();
        folder.write(ENDING, &json!({"ending": "a part failed"})).unwrap();
        let read = fs::read_to_string(path.join(ENDING)).unwrap();
        assert_eq!(read, "{\n  \"ending\": \"a part failed\"\n}\n");
        let refused = Folder::create(&path).unwrap_err();
        assert!(refused.contains("name a folder that is empty"), "{refused}");
        fs::remove_dir_all(path).unwrap();
    }
}
