//! All records of some files and folders, the newest last.

use super::timed::Timed;
use super::{Document, Line, Machine, Record, RecordsError};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use walkdir::WalkDir;

/// A file of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its path.
    pub path: PathBuf,
    /// The date in the name of its folder, as `2026-11-23`, or `None` if no folder above it has
    /// one.
    pub date: Option<String>,
}

impl Source {
    /// The nearest folder with a date, or else the parent folder. Empty if there is neither.
    #[must_use]
    pub fn folder(&self) -> String {
        let folders = || self.path.ancestors().skip(1).filter_map(Path::file_name);
        let date = self.date.as_deref().unwrap_or_default();
        let dated =
            folders().find(|name| !date.is_empty() && name.to_string_lossy().starts_with(date));
        dated.or(folders().next()).unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The path of the file relative to the parent of that folder.
    #[must_use]
    pub fn name(&self) -> String {
        let folder = self.folder();
        let is_folder = |path: &&Path| path.file_name().is_some_and(|name| name == &*folder);
        let above = self.path.ancestors().skip(1).find(is_folder).and_then(Path::parent);
        let name = above.and_then(|above| self.path.strip_prefix(above).ok());
        name.unwrap_or(&self.path).display().to_string()
    }
}

/// A value, and the file that it is from.
#[derive(Clone, Debug, PartialEq)]
pub struct Sourced<T> {
    /// The value.
    pub what: T,
    /// The file.
    pub source: Arc<Source>,
}

impl<T> Deref for Sourced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.what
    }
}

/// The contents of some files and folders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runs {
    /// The records, the newest last.
    pub records: Vec<Sourced<Record>>,
    /// The results of experiments, the newest last.
    pub documents: Vec<Sourced<Document>>,
    /// Files about the machines on which the records of a folder were made.
    pub machines: Vec<Sourced<Machine>>,
    /// Other JSON files.
    pub unknown: Vec<Arc<Source>>,
    /// Files skipped while walking folders: their names end with `-before`, because a later change
    /// has replaced the code that they measured.
    pub replaced: Vec<Arc<Source>>,
}

/// The suffix of files whose records were replaced by a later change.
const BEFORE: &str = "-before";

impl Runs {
    /// Reads files, and all `*.jsonl` and `*.json` in folders at any depth.
    ///
    /// # Errors
    /// If a path cannot be read, is not valid JSON or has an invalid record, or if there are no
    /// records.
    pub fn read(paths: &[PathBuf]) -> Result<Self, RecordsError> {
        let mut found = Vec::new();
        for path in paths {
            found.extend(files(path)?);
        }
        // The sort is stable, so that the order within a date is kept.
        found.sort_by(|(a, _), (b, _)| a.date.cmp(&b.date));
        let mut runs = Self::default();
        for (source, is_walked) in found {
            let source = Arc::new(source);
            let stem = source.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if is_walked && stem.ends_with(BEFORE) {
                runs.replaced.push(source)
            } else {
                runs.add(&source)?
            }
        }
        if runs.records.is_empty() && runs.documents.is_empty() {
            let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(RecordsError::Empty { paths: paths.join(", ") });
        }
        Ok(runs)
    }

    fn add(&mut self, source: &Arc<Source>) -> Result<(), RecordsError> {
        let path = &source.path;
        let text = fs::read_to_string(path)
            .map_err(|cause| RecordsError::Read { path: path.clone(), cause })?;
        if path.extension() != Some(OsStr::new("json")) {
            for (number, line) in
                text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty())
            {
                let record = recorded(serde_json::from_str(line)).map_err(|fault| {
                    RecordsError::Line { path: path.clone(), line: number + 1, fault }
                })?;
                self.records.push(Sourced { what: record, source: source.clone() });
            }
            return Ok(());
        }
        let document = |line, fault| RecordsError::Document { path: path.clone(), line, fault };
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| document(error.line(), format!("not JSON: {}", message(&error))))?;
        if self.take(&value, source).map_err(|fault| document(1, fault))? == 0 {
            self.unknown.push(source.clone());
        }
        Ok(())
    }

    /// Adds `value`, or its fields if it is JSON such as that of `lab all`. Returns the number of
    /// items added.
    fn take(&mut self, value: &Value, source: &Arc<Source>) -> Result<usize, String> {
        let of = |what| Sourced { what, source: source.clone() };
        if let Value::Array(records) = value {
            for record in records {
                let record = recorded(Record::deserialize(record))?;
                self.records.push(of(record));
            }
            return Ok(records.len());
        }
        if let Ok(timed) = Timed::deserialize(value) {
            let records = timed.records();
            if let Some(fault) = records.iter().find_map(Record::fault) {
                return Err(fault);
            }
            self.records.extend(records.into_iter().map(of));
            return Ok(1);
        }
        if let Ok(machine) = Machine::deserialize(value) {
            self.machines.push(Sourced { what: machine, source: source.clone() });
            return Ok(1);
        }
        if let Ok(document) = Document::deserialize(value) {
            self.documents.push(Sourced { what: document, source: source.clone() });
            return Ok(1);
        }
        let fields = value.as_object().into_iter().flat_map(|fields| fields.values());
        fields.filter(|field| field.is_object()).map(|field| self.take(field, source)).sum()
    }

    /// All devices, sorted by name.
    #[must_use]
    pub fn devices(&self) -> Vec<&str> {
        let of_records = self.records.iter().map(|record| record.device.as_str());
        let mut devices: Vec<_> =
            of_records.chain(self.documents.iter().map(|document| document.device())).collect();
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    /// Of the `wanted` records, the newest for each line and device, in the order in which the
    /// lines first appear.
    pub fn newest(&self, wanted: impl Fn(&Record) -> bool) -> Vec<&Sourced<Record>> {
        let mut places: HashMap<(Line, &str), usize> = HashMap::new();
        let mut newest: Vec<&Sourced<Record>> = Vec::new();
        for record in self.records.iter().filter(|record| wanted(record)) {
            match places.entry((record.line(), &record.device)) {
                Entry::Occupied(place) => newest[*place.get()] = record,
                Entry::Vacant(place) => {
                    place.insert(newest.len());
                    newest.push(record);
                }
            }
        }
        newest
    }
}

/// The files at `path`, and whether they were found by walking.
fn files(path: &Path) -> Result<Vec<(Source, bool)>, RecordsError> {
    let source = |path: &Path| Source { path: path.to_owned(), date: date_of(path) };
    let failed = |path: &Path, cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => RecordsError::NotFound { path: path.to_owned() },
        _ => RecordsError::Read { path: path.to_owned(), cause },
    };
    let is_folder = fs::metadata(path).map_err(|cause| failed(path, cause))?.is_dir();
    if !is_folder {
        return Ok(vec![(source(path), false)]);
    }
    // Sorted by stem, so that `scan-2.jsonl` comes after `scan.jsonl`.
    let by_stem = |a: &walkdir::DirEntry, b: &walkdir::DirEntry| {
        a.path().file_stem().cmp(&b.path().file_stem())
    };
    let mut found = Vec::new();
    for entry in WalkDir::new(path).sort_by(by_stem) {
        let entry = entry.map_err(|error| {
            let at = error.path().unwrap_or(path).to_owned();
            failed(&at, error.into())
        })?;
        let kind = entry.path().extension().and_then(OsStr::to_str);
        if entry.file_type().is_file() && matches!(kind, Some("json" | "jsonl")) {
            found.push((source(entry.path()), true));
        }
    }
    Ok(found)
}

/// The date at the start of the name of the nearest folder that has one.
fn date_of(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().skip(1).find_map(|folder| {
        let date = folder.file_name()?.to_str()?.get(..10)?;
        let is_date = date.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
        is_date.then(|| date.to_owned())
    })
}

/// The record, or the reason why it is invalid.
fn recorded(read: serde_json::Result<Record>) -> Result<Record, String> {
    let record = read.map_err(|error| message(&error))?;
    record.fault().map_or(Ok(record), Err)
}

/// The message of serde_json with the column, but without the line, which is reported elsewhere.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what}, at column {}", error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests;
