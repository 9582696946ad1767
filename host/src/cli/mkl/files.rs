//! What `--out` writes: all of it or nothing.

use super::model;
use gridsync::data::{DataError, Output};
use gridsync::device::Device;
use gridsync::lab::mkl::{Comparison, Form, Sweep};
use std::fs;
use std::io;
use std::path::Path;

/// The names.
const FILES: [&str; 5] = [
    "fig5-launches.svg",
    "fig5-graph.svg",
    "fig6.svg",
    "mkl.jsonl",
    "cost-model.txt",
];

/// The content of each of [`FILES`].
pub(super) fn contents(
    device: &Device,
    compared: &Comparison,
    swept: &Sweep,
) -> anyhow::Result<[String; 5]> {
    let name = &device.properties().name;
    let records = compared
        .records(name, None)
        .into_iter()
        .chain(swept.records(name));
    let all = swept.points.iter().map(|(_, point)| point);
    let model = model::table(device, [compared].into_iter().chain(all)).unwrap_or_default();
    Ok([
        swept.fig5(Form::Launches).svg()?,
        swept.fig5(Form::Graph).svg()?,
        swept.fig6().svg()?,
        records
            .map(|record| format!("{}\n", record.json()))
            .collect(),
        format!("{}\n{model}\n", model::formulas(device)),
    ])
}

/// Makes the folder, and sees that the files can come to stand in it.
pub(super) fn prepare(folder: &Path) -> Result<(), DataError> {
    fs::create_dir_all(folder).map_err(unwritten(folder))?;
    let in_the_way = FILES
        .map(|name| folder.join(name))
        .into_iter()
        .find(|p| p.is_dir());
    in_the_way.map_or(Ok(()), |path| {
        Err(unwritten(&path)(io::ErrorKind::IsADirectory.into()))
    })
}

/// Writes the files: to a folder of their own first, so that none appears before all are whole.
pub(super) fn write(folder: &Path, contents: &[String; 5]) -> Result<(), DataError> {
    let partial = tempfile::Builder::new()
        .prefix(".gridsync-")
        .suffix(".partial")
        .tempdir_in(folder)
        .map_err(unwritten(folder))?;
    for (name, content) in FILES.iter().zip(contents) {
        fs::write(partial.path().join(name), content).map_err(unwritten(&folder.join(name)))?;
    }
    for name in FILES {
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
        let contents = FILES.map(str::to_owned);
        prepare(&folder).expect("the folder can be made");
        write(&folder, &contents).expect("the files can be written");
        let mut expected = FILES.map(str::to_owned).to_vec();
        expected.sort();
        assert_eq!(names(&folder), expected);
        write(&folder, &contents).expect("they can be written over");

        fs::remove_file(folder.join("fig6.svg")).expect("it is there");
        fs::create_dir(folder.join("fig6.svg")).expect("it is away");
        let error = prepare(&folder)
            .expect_err("a folder is in the way")
            .to_string();
        assert!(error.contains("fig6.svg"), "{error}");
    }
}
