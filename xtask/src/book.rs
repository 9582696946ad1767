//! The book in `docs`: neither a chapter nor the README has a listing that no test covers, and mdbook
//! builds it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::outcome::Outcome;
use crate::tools;
use crate::workspace::{root, run as run_command, walk};

/// What compiles and runs the files of these folders: `gridsync-book`, and the test of `gridsync new`.
const TESTED: [&str; 2] = ["docs/listings/src", "host/program/src/cli/new/template"];
/// Blocks that are no listings.
const TEXT: [&str; 3] = ["text", "sh", "toml"];

pub(crate) fn run() -> Result<Outcome> {
    check(&root())?;
    if Command::new("mdbook").arg("--version").output().is_err() {
        return Ok(tools::missing("mdbook"));
    }
    run_command(Command::new("mdbook").arg("build").arg(root().join("docs")))?;
    Ok(Outcome::Passed)
}

/// Looks for listings without a test, and for chapters that no reader finds.
fn check(root: &Path) -> Result<()> {
    let src = root.join("docs/src");
    let summary = fs::read_to_string(src.join("SUMMARY.md")).context("docs/src/SUMMARY.md")?;
    let mut wrong = Vec::new();
    for path in walk(&src, &|path| path.extension().is_some_and(|extension| extension == "md"))? {
        let name = path.strip_prefix(&src).unwrap_or(&path).display().to_string();
        let text = fs::read_to_string(&path).with_context(|| name.clone())?;
        if name != "SUMMARY.md" && !summary.contains(&format!("({name})")) {
            wrong.push(format!("{name}: SUMMARY.md does not name it"));
        }
        for (line, block) in blocks(&text) {
            if let Err(why) = is_tested(root, &path, &block) {
                wrong.push(format!("{name}:{line}: {why:#}"));
            }
        }
    }
    let readme = fs::read_to_string(root.join("README.md")).context("README.md")?;
    for (line, block) in blocks(&readme) {
        if block.info == "rust" && !is_copied(root, &block.lines)? {
            wrong.push(format!("README.md:{line}: these lines are in no file of {TESTED:?}"));
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Whether the lines follow one another in a tested file, however far they are indented there.
fn is_copied(root: &Path, lines: &[String]) -> Result<bool> {
    let wanted: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    for folder in TESTED.map(|folder| root.join(folder)).iter().filter(|folder| folder.is_dir()) {
        for path in
            walk(folder, &|path| path.extension().is_some_and(|extension| extension == "rs"))?
        {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let there: Vec<&str> = text.lines().map(str::trim).collect();
            if !wanted.is_empty() && there.windows(wanted.len()).any(|window| window == wanted) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// A fenced block of a chapter.
struct Block {
    /// What follows the opening fence.
    info: String,
    /// The lines between the fences.
    lines: Vec<String>,
}

/// The fenced blocks of a chapter, each with the number of its first line.
fn blocks(text: &str) -> Vec<(usize, Block)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, Block)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                open = Some((number, Block { info: info.trim().into(), lines: Vec::new() }));
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some((_, block))) => block.lines.push(line.into()),
            (None, None) => {}
        }
    }
    found.extend(open);
    found
}

/// Whether a test runs what the block shows.
fn is_tested(root: &Path, chapter: &Path, block: &Block) -> Result<()> {
    match block.info.as_str() {
        "rust" => {
            let [line] = block.lines.as_slice() else {
                anyhow::bail!("a listing is one line that includes a tested file");
            };
            let include = included(line).with_context(|| format!("`{line}` is no include"))?;
            is_compiled(root, chapter, include)
        }
        // The test of the transcripts runs the lines that begin with `$`, and passes over a block whose
        // fence has more than this word.
        "console" => {
            let calls = block.lines.iter().any(|line| line.starts_with("$ gridsync "));
            ensure!(calls, "no line begins with `$ gridsync`, so nothing would be run");
            Ok(())
        }
        other => {
            ensure!(
                TEXT.contains(&other),
                "a block of `{other}`; there are rust, console, {}",
                TEXT.join(", ")
            );
            for file in block.lines.iter().filter_map(|line| included(line)) {
                ensure!(chapter.with_file_name(file).is_file(), "{file}: no such file");
            }
            Ok(())
        }
    }
}

/// What a line includes by mdBook's way to take a file.
fn included(line: &str) -> Option<&str> {
    line.strip_prefix("{{#include ")?.strip_suffix("}}")
}

/// Whether `file:anchor`, or `file:first:last` in lines, names a piece of a tested file.
fn is_compiled(root: &Path, chapter: &Path, include: &str) -> Result<()> {
    let (file, piece) = include.split_once(':').unwrap_or((include, ""));
    let path = chapter.with_file_name(file);
    let path = path.canonicalize().with_context(|| file.to_owned())?;
    let mut tested = TESTED
        .iter()
        .map(|folder| root.join(folder))
        .filter_map(|folder| folder.canonicalize().ok());
    ensure!(tested.any(|folder| path.starts_with(folder)), "{file} is in no folder of {TESTED:?}");
    if let Ok(modules) = fs::read_to_string(path.with_file_name("lib.rs")) {
        let module = path.file_stem().unwrap_or_default().to_string_lossy();
        let declared = format!("mod {module};");
        ensure!(modules.lines().any(|line| line == declared), "lib.rs lacks `{declared}`");
    }
    let text = fs::read_to_string(&path).with_context(|| file.to_owned())?;
    match piece.split_once(':') {
        _ if piece.is_empty() => {}
        Some((first, last)) => {
            let lines: Vec<&str> = text.lines().collect();
            let (first, last): (usize, usize) = (first.parse()?, last.parse()?);
            let is_edge = |number: usize| {
                lines.get(number.wrapping_sub(1)).is_none_or(|line| line.is_empty())
            };
            let is_whole = (1..=last).contains(&first)
                && last <= lines.len()
                && is_edge(first - 1)
                && is_edge(last + 1);
            ensure!(is_whole, "lines {first} to {last} of {file} are not between two empty lines");
        }
        None => {
            for mark in ["ANCHOR", "ANCHOR_END"] {
                let mark = format!("// {mark}: {piece}");
                ensure!(text.lines().any(|line| line.trim() == mark), "{file} has no `{mark}`");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listing_of_the_book_is_tested() {
        check(&root()).unwrap();
    }

    /// What is wrong with a book of one chapter.
    fn of(chapter: &str) -> Option<String> {
        of_both(chapter, "")
    }

    /// What is wrong with a book of one chapter and a README.
    fn of_both(chapter: &str, readme: &str) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let [src, listings] = ["docs/src", "docs/listings/src"].map(|path| dir.path().join(path));
        for folder in [&src, &listings] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(src.join("SUMMARY.md"), "[A](a.md)").unwrap();
        fs::write(src.join("a.md"), chapter).unwrap();
        fs::write(src.join("loose.rs"), "").unwrap();
        fs::write(dir.path().join("README.md"), readme).unwrap();
        fs::write(listings.join("lib.rs"), "mod k;\n").unwrap();
        fs::write(listings.join("forgotten.rs"), "").unwrap();
        fs::write(listings.join("k.rs"), "//\n\n// ANCHOR: k\nfn k() {}\n// ANCHOR_END: k\n")
            .unwrap();
        check(dir.path()).err().map(|error| error.to_string())
    }

    #[test]
    fn a_listing_that_no_test_covers_is_found() {
        let include = |piece: &str| of(&format!("```rust\n{{{{#include {piece}}}}}\n```\n"));
        assert_eq!(include("../listings/src/k.rs:k"), None);
        assert_eq!(include("../listings/src/k.rs:3:5"), None);
        assert_eq!(of("```console\n$ gridsync devices\n```\n"), None);
        for (found, why) in [
            (include("../listings/src/k.rs:other"), "no `// ANCHOR: other`"),
            (include("../listings/src/k.rs:3:4"), "not between two empty lines"),
            (include("../listings/src/k.rs:0:5"), "not between two empty lines"),
            (include("../listings/src/forgotten.rs"), "lib.rs lacks `mod forgotten;`"),
            (include("loose.rs"), "in no folder"),
            (include("absent.rs"), "absent.rs"),
            (of("```rust\nfn k() {}\n```\n"), "`fn k() {}` is no include"),
            (of("```rust,ignore\n\n```\n"), "`rust,ignore`"),
            (of("```console\ngridsync devices\n```\n"), "nothing would be run"),
            (of("```console,ignore\n$ gridsync devices\n```\n"), "`console,ignore`"),
            (of("```\n"), "a block of ``"),
            (of("```text\n{{#include absent}}\n```\n"), "absent: no such file"),
        ] {
            let found = found.unwrap_or_else(|| panic!("not found: {why}"));
            assert!(found.starts_with("a.md:1: ") && found.contains(why), "{why}: {found}");
        }
    }

    #[test]
    fn a_listing_of_the_readme_that_no_test_covers_is_found() {
        assert_eq!(of_both("", "```rust\n  fn k() {}\n```\n"), None);
        let wrong = of_both("", "\n```rust\nfn k() {}\nfn l() {}\n```\n").unwrap();
        assert!(wrong.starts_with("README.md:2: "), "{wrong}");
    }

    #[test]
    fn a_chapter_that_the_summary_leaves_out_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let src = dir.path().join("docs/src");
        fs::create_dir_all(&src).unwrap();
        fs::write(src.join("SUMMARY.md"), "[A](a.md)").unwrap();
        fs::write(src.join("b.md"), "").unwrap();
        fs::write(dir.path().join("README.md"), "").unwrap();
        let error = check(dir.path()).unwrap_err().to_string();
        assert_eq!(error, "b.md: SUMMARY.md does not name it");
    }
}
