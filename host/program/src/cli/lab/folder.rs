//! Writes the files of `--out DIR`: all of them or none.

use crate::data::{self, DataError, Output};
use std::fs;
use std::io;
use std::path::Path;

/// Creates the folder, and checks that files with these names can be written there.
pub(in crate::cli) fn prepare(folder: &Path, names: &[&str]) -> Result<(), DataError> {
    fs::create_dir_all(folder).map_err(unwritten(folder))?;
    let mut paths = names.iter().map(|name| folder.join(name));
    let in_the_way = paths.find(|path| path.is_dir());
    in_the_way.map_or(Ok(()), |path| Err(unwritten(&path)(io::ErrorKind::IsADirectory.into())))
}

/// Writes files, given by name and content. None appears before all are whole.
pub(in crate::cli) fn write(
    folder: &Path,
    files: &[(impl AsRef<str>, String)],
) -> Result<(), DataError> {
    let whole = files.iter().map(|(name, content)| {
        let mut file = data::create_raw(&Output::Path(folder.join(name.as_ref())))?;
        file.push(content.as_bytes())?;
        Ok(file)
    });
    let whole = whole.collect::<Result<Vec<_>, DataError>>()?;
    whole.into_iter().try_for_each(|file| file.finish())
}

/// The error for a failed write to `path`.
fn unwritten(path: &Path) -> impl Fn(io::Error) -> DataError {
    let output = Output::Path(path.to_owned());
    move |cause| DataError::Write { output: output.clone(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("the folder should be there");
        let name = |entry: io::Result<fs::DirEntry>| {
            let name = entry.expect("an entry").file_name();
            name.into_string().expect("the names are ASCII")
        };
        let mut names: Vec<_> = entries.map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn either_all_files_appear_or_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("to/figures");
        let files = ["a.svg", "b.jsonl"].map(|name| (name, name.to_owned()));
        prepare(&folder, &["a.svg", "b.jsonl"]).expect("the folder can be made");
        write(&folder, &files).expect("the files can be written");
        assert_eq!(names(&folder), ["a.svg", "b.jsonl"]);
        write(&folder, &files).expect("they can be written over");

        fs::remove_file(folder.join("a.svg")).expect("it is there");
        fs::create_dir(folder.join("a.svg")).expect("the file should be gone");
        let error = prepare(&folder, &["b.jsonl", "a.svg"])
            .expect_err("a folder is in the way")
            .to_string();
        assert!(error.contains("a.svg"), "{error}");
    }
}
