//! Outputs that a chapter shows, kept in `docs/listings/output`.

use std::{env, fs, path::Path};

/// Compares `output` with the file that the chapters show. `cargo xtask book` writes the file
/// instead.
pub(crate) fn is(file: &str, output: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("output").join(file);
    let output = format!("{}\n", output.trim_end());
    if env::var_os("BOOK").is_some_and(|value| value == "overwrite") {
        fs::write(&path, output).expect("the output should be writable");
        return;
    }
    let shown = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shown, output, "{file} is not up to date: run cargo xtask book");
}
