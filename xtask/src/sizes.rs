//! The file-size rule: a Rust file that is too long to read in one sitting has to be split.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::outcome::Outcome;
use crate::workspace::{root, walk};

/// A longer file is a warning.
const LONG: usize = 500;
/// A longer file is an error.
const TOO_LONG: usize = 800;

pub(crate) fn run() -> Result<Outcome> {
    check(&root())
}

fn check(dir: &Path) -> Result<Outcome> {
    let mut too_long = Vec::new();
    for path in walk(dir, &|path| path.extension() == Some(OsStr::new("rs")))? {
        let lines = fs::read_to_string(&path)?.lines().count();
        if lines > LONG {
            let name = path.strip_prefix(dir).unwrap_or(&path).display().to_string();
            println!(
                "warning: {name} has {lines} lines; over {LONG} is long, {TOO_LONG} is the limit"
            );
            if lines > TOO_LONG {
                too_long.push(name);
            }
        }
    }
    ensure!(too_long.is_empty(), "over {TOO_LONG} lines, split them: {}", too_long.join(", "));
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_lines(lines: usize) -> Result<Outcome> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.rs"), "//\n".repeat(lines)).unwrap();
        check(dir.path())
    }

    #[test]
    fn a_file_fails_only_beyond_the_limit() {
        assert_eq!(of_lines(TOO_LONG).unwrap(), Outcome::Passed);
        let error = of_lines(TOO_LONG + 1).unwrap_err().to_string();
        assert!(error.contains("a.rs"), "{error}");
    }
}
