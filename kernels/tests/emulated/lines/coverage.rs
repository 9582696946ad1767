//! All public device functions are in the cases of the other files.

use std::fs;
use std::path::Path;

/// Adds the names of the public device functions in the sources below a folder to `names`.
fn device_functions(folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            device_functions(&path, names);
            continue;
        }
        let text = fs::read_to_string(&path).expect("it is text");
        for (at, _) in text.match_indices("#[device") {
            let function = &text[at..];
            let Some(start) = function.find("fn ") else {
                continue;
            };
            if function[..start].trim_end().ends_with("pub") {
                let name = function[start + 3..].split(['(', '<']).next();
                names.push(name.expect("a function has a name").to_owned());
            }
        }
    }
}

#[test]
fn every_public_device_function_is_tested() {
    let mut names = Vec::new();
    for sources in ["src", "lab/src/ladder"] {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join(sources);
        device_functions(&sources, &mut names);
    }
    assert!(names.len() > 50, "{names:?}");
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emulated/lines");
    let mut cases = String::new();
    for entry in fs::read_dir(here).expect("the tests are there") {
        let path = entry.expect("it can be read").path();
        cases += &fs::read_to_string(path).expect("it is text");
    }
    let left_out: Vec<_> = names
        .iter()
        .filter(|name| {
            let called = ["(", "::<", ";"].map(|end| format!("{name}{end}"));
            !called.iter().any(|call| cases.contains(call))
        })
        .collect();
    assert!(left_out.is_empty(), "{left_out:?}");
}
