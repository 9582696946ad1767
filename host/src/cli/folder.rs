//! What `--out DIR` writes: all of it or nothing.

use gridsync::data::{DataError, Output};
use std::fs;
use std::io;
use std::path::Path;

/// Makes the folder, and sees that files of these names can come to stand in it.
pub(super) fn prepare(folder: &Path, names: &[&str]) -> Result<(), DataError> {
    fs::create_dir_all(folder).map_err(unwritten(folder))?;
    let mut paths = names.iter().map(|name| folder.join(name));
    let in_the_way = paths.find(|path| path.is_dir());
    in_the_way.map_or(Ok(()), |path| {
        Err(unwritten(&path)(io::ErrorKind::IsADirectory.into()))
    })
}

/// Writes files, each a name and its content: to a folder of their own first, so that none appears
/// before all are whole.
pub(super) fn write(folder: &Path, files: &[(&str, String)]) -> Result<(), DataError> {
    let partial = tempfile::Builder::new()
        .prefix(".gridsync-")
        .suffix(".partial")
        .tempdir_in(folder)
        .map_err(unwritten(folder))?;
    for (name, content) in files {
        fs::write(partial.path().join(name), content).map_err(unwritten(&folder.join(name)))?;
    }
    for (name, _) in files {
        let path = folder.join(name);
        fs::rename(partial.path().join(name), &path).map_err(unwritten(&path))?;
    }
    Ok(())
}

/// The error of writing to `path`.
fn unwritten(path: &Path) -> impl Fn(io::Error) -> DataError {
    let output = Output::Path(path.to_owned());
    move |cause| DataError::Write {
        output: output.clone(),
        cause,
    }
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
    fn all_files_appear_and_nothing_else_or_none_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("to/figures");
        let files = ["a.svg", "b.jsonl"].map(|name| (name, name.to_owned()));
        prepare(&folder, &["a.svg", "b.jsonl"]).expect("the folder can be made");
        write(&folder, &files).expect("the files can be written");
        assert_eq!(names(&folder), ["a.svg", "b.jsonl"]);
        write(&folder, &files).expect("they can be written over");

        fs::remove_file(folder.join("a.svg")).expect("it is there");
        fs::create_dir(folder.join("a.svg")).expect("it is away");
        let error = prepare(&folder, &["b.jsonl", "a.svg"])
            .expect_err("a folder is in the way")
            .to_string();
        assert!(error.contains("a.svg"), "{error}");
    }
}
