//! The book in `docs` and the listings of the README.
//!
//! A listing is a part of a file that a test compiles and runs. The comment before it names the
//! part: `<!-- From docs/listings/src/scan.rs: a_scan -->`. `cargo xtask book` inserts the parts,
//! and `validate` fails if one differs, so a chapter reads the same on a Git host and in mdBook.

mod listing;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::outcome::Outcome;
use crate::tools;
use crate::workspace::{cargo, root, run as run_command, walk};

/// Folders whose files are compiled and run by tests: by `gridsync-book`, by those of
/// `gridsync-cudarc`, and by the test of the command `gridsync new`.
const TESTED: [&str; 3] =
    ["docs/listings/src", "host/cudarc/examples", "host/program/src/cli/new/template"];
/// Languages of blocks that are not Rust and that no test runs.
const TEXT: [&str; 3] = ["text", "sh", "toml"];

/// Regenerates everything that the chapters and the README show: outputs, listings, transcripts.
pub(crate) fn run() -> Result<Outcome> {
    let mut outputs = cargo();
    outputs.args(["test", "--package", "gridsync-book"]);
    run_command(outputs.env("BOOK", "overwrite"))?;
    write(&root())?;
    let mut transcripts = cargo();
    transcripts.args(["test", "--package", "gridsync-tests", "--test", "book"]);
    run_command(transcripts.env("TRYCMD", "overwrite"))?;
    Ok(Outcome::Passed)
}

/// Checks the listings, and builds the book with mdbook.
pub(crate) fn validate() -> Result<Outcome> {
    check(&root())?;
    if Command::new("mdbook").arg("--version").output().is_err() {
        return Ok(tools::missing("mdbook"));
    }
    run_command(Command::new("mdbook").arg("build").arg(root().join("docs")))?;
    Ok(Outcome::Passed)
}

/// A chapter or the README.
struct Page {
    /// Its path, relative to the root.
    name: String,
    path: PathBuf,
    text: String,
}

/// The chapters, then the README.
fn pages(root: &Path) -> Result<Vec<Page>> {
    let is_chapter = |path: &Path| path.extension().is_some_and(|extension| extension == "md");
    let mut paths = walk(&root.join("docs/src"), &is_chapter)?;
    paths.push(root.join("README.md"));
    let page = |path: PathBuf| {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let text = fs::read_to_string(&path).with_context(|| name.clone())?;
        Ok(Page { name, path, text })
    };
    paths.into_iter().map(page).collect()
}

/// Writes the listings into the pages.
fn write(root: &Path) -> Result<()> {
    for page in pages(root)? {
        let (filled, wrong) = fill(root, &page);
        ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
        if filled != page.text {
            fs::write(&page.path, filled).with_context(|| page.name.clone())?;
        }
    }
    Ok(())
}

/// Finds listings that no test covers or that differ from their file, dead links, and chapters that
/// are missing from the summary.
fn check(root: &Path) -> Result<()> {
    let pages = pages(root)?;
    let summary = pages.iter().find(|page| page.name == "docs/src/SUMMARY.md");
    let summary = &summary.context("no docs/src/SUMMARY.md")?.text;
    let mut wrong = Vec::new();
    for page in &pages {
        let chapter = page.name.strip_prefix("docs/src/").filter(|name| *name != "SUMMARY.md");
        if let Some(name) = chapter.filter(|name| !summary.contains(&format!("({name})"))) {
            wrong.push(format!("{}: SUMMARY.md does not name {name}", page.name));
        }
        let (filled, mistakes) = fill(root, page);
        let pairs = (1..).zip(filled.lines().zip(page.text.lines()));
        if let Some((line, _)) = pairs.clone().find(|(_, (new, old))| new != old) {
            wrong.push(format!("{}:{line}: not as in its file: run cargo xtask book", page.name));
        }
        wrong.extend(mistakes);
        wrong.extend(dead_links(root, page));
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// The page with each listing as in its file, and the errors, each with its line.
fn fill(root: &Path, page: &Page) -> (String, Vec<String>) {
    let (mut filled, mut wrong) = (String::new(), Vec::new());
    let mut lines = (1..).zip(page.text.lines());
    let mut source = None;
    while let Some((number, line)) = lines.next() {
        filled += &format!("{line}\n");
        let Some(info) = line.strip_prefix("```") else {
            source = line.strip_prefix("<!-- From ").and_then(|line| line.strip_suffix(" -->"));
            continue;
        };
        let shown = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        let shown: String = shown.map(|line| format!("{line}\n")).collect();
        let block = block(root, info, source.take(), &shown).unwrap_or_else(|why| {
            wrong.push(format!("{}:{number}: {why:#}", page.name));
            shown
        });
        filled += &format!("{block}```\n");
    }
    (filled, wrong)
}

/// The lines of a block. It is an error if no test covers them.
fn block(root: &Path, info: &str, source: Option<&str>, shown: &str) -> Result<String> {
    if let Some(source) = source {
        let (file, names) = source.split_once(": ").unwrap_or((source, ""));
        let names: Vec<&str> = names.split(", ").filter(|name| !name.is_empty()).collect();
        if info == "rust" {
            is_compiled(root, file)?;
        }
        let text = fs::read_to_string(root.join(file)).with_context(|| file.to_owned())?;
        return listing::pieces(&text, &names).with_context(|| file.to_owned());
    }
    match info {
        "rust" => anyhow::bail!("a listing without a comment `From FILE: NAMES` before it"),
        // The test of the transcripts runs the lines that begin with `$`, and skips blocks whose
        // fence has more than this word.
        "console" => {
            let calls = shown.lines().any(|line| line.starts_with("$ gridsync "));
            ensure!(calls, "no line begins with `$ gridsync`, so nothing would be run");
        }
        other => {
            let known = TEXT.join(", ");
            ensure!(
                TEXT.contains(&other),
                "a block of `{other}`; known are rust, console, {known}"
            );
        }
    }
    Ok(shown.to_owned())
}

/// Fails unless a test compiles the file.
fn is_compiled(root: &Path, file: &str) -> Result<()> {
    let path = Path::new(file);
    let is_tested = TESTED.iter().any(|folder| path.starts_with(folder));
    ensure!(is_tested, "{file} is in no folder of {TESTED:?}");
    if let Ok(modules) = fs::read_to_string(root.join(path).with_file_name("lib.rs")) {
        let module = path.file_stem().unwrap_or_default().to_string_lossy();
        let declared = format!("mod {module};");
        ensure!(modules.lines().any(|line| line == declared), "lib.rs lacks `{declared}`");
    }
    Ok(())
}

/// Links of the page to files that do not exist, or that are not in the same book as the chapter.
fn dead_links(root: &Path, page: &Page) -> Vec<String> {
    let book = root.join("docs/src").canonicalize().unwrap_or_default();
    let is_chapter = page.name.starts_with("docs/src/");
    let mut dead = Vec::new();
    let mut is_code = false;
    for (number, line) in (1..).zip(page.text.lines()) {
        is_code ^= line.starts_with("```");
        let links = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        for (link, _) in links.filter(|_| !is_code) {
            let file = link.split('#').next().unwrap_or_default();
            if file.contains("://") {
                continue;
            }
            match page.path.with_file_name(file).canonicalize() {
                Ok(path) if is_chapter && !path.starts_with(&book) => {
                    dead.push(format!("{}:{number}: {file} is not in the book", page.name));
                }
                Ok(_) => {}
                Err(_) => dead.push(format!("{}:{number}: no file {file}", page.name)),
            }
        }
    }
    dead
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn every_listing_of_the_book_is_tested_and_matches_its_file() {
        check(&root()).unwrap();
    }

    /// A book with one chapter, and a README.
    fn book(chapter: &str, readme: &str) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        let [src, listings] = ["docs/src", "docs/listings/src"].map(|path| dir.path().join(path));
        for folder in [&src, &listings] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(src.join("SUMMARY.md"), "[A](a.md)\n").unwrap();
        fs::write(src.join("a.md"), chapter).unwrap();
        fs::write(src.join("loose.rs"), "").unwrap();
        fs::write(dir.path().join("README.md"), readme).unwrap();
        fs::write(listings.join("lib.rs"), "mod k;\n").unwrap();
        fs::write(listings.join("forgotten.rs"), "").unwrap();
        fs::write(listings.join("k.rs"), "//! Here.\n\nfn k() {}\n").unwrap();
        dir
    }

    /// The findings in a book with one chapter.
    fn wrong_with(chapter: &str) -> Option<String> {
        check(book(chapter, "").path()).err().map(|error| error.to_string())
    }

    #[test]
    fn an_untested_listing_is_found() {
        let from = |source: &str| {
            wrong_with(&format!("<!-- From {source} -->\n```rust\nfn k() {{}}\n```\n"))
        };
        assert_eq!(from("docs/listings/src/k.rs: k"), None);
        assert_eq!(wrong_with("```console\n$ gridsync devices\n```\n"), None);
        for (found, why) in [
            (from("docs/listings/src/k.rs: other"), "no item `other`"),
            (from("docs/listings/src/forgotten.rs"), "lib.rs lacks `mod forgotten;`"),
            (from("docs/src/loose.rs"), "in no folder"),
            (from("absent.rs"), "absent.rs"),
            (wrong_with("\n```rust\nfn k() {}\n```\n"), "without a comment"),
            (wrong_with("\n```rust,ignore\n\n```\n"), "`rust,ignore`"),
            (wrong_with("\n```console\ngridsync devices\n```\n"), "nothing would be run"),
            (wrong_with("\n```console,ignore\n$ gridsync devices\n```\n"), "`console,ignore`"),
            (wrong_with("\n```\n"), "a block of ``"),
            (wrong_with("<!-- From absent -->\n```text\n```\n"), "absent: No such file"),
        ] {
            let found = found.unwrap_or_else(|| panic!("not found: {why}"));
            assert!(
                found.starts_with("docs/src/a.md:2: ") && found.contains(why),
                "{why}: {found}"
            );
        }
    }

    #[test]
    fn a_listing_that_differs_from_its_file_is_found_and_rewritten() {
        let page =
            |code| format!("# A\n<!-- From docs/listings/src/k.rs: k -->\n```rust\n{code}```\n");
        let dir = book(&page("fn old() {}\n"), &page(""));
        let error = check(dir.path()).unwrap_err().to_string();
        assert_eq!(
            error,
            "docs/src/a.md:4: not as in its file: run cargo xtask book\n\
             README.md:4: not as in its file: run cargo xtask book"
        );
        write(dir.path()).unwrap();
        check(dir.path()).unwrap();
        for file in ["docs/src/a.md", "README.md"] {
            assert_eq!(fs::read_to_string(dir.path().join(file)).unwrap(), page("fn k() {}\n"));
        }
    }

    #[test]
    fn a_dead_link_or_one_out_of_the_book_is_found() {
        assert_eq!(wrong_with("[here](a.md#top), [there](https://a.b/c), [this](#part)\n"), None);
        let wrong = wrong_with("\n[a](a.md), [b](b.md)\n").unwrap();
        assert_eq!(wrong, "docs/src/a.md:2: no file b.md");
        let outside = wrong_with("[out](../listings/src/k.rs)\n").unwrap();
        assert_eq!(outside, "docs/src/a.md:1: ../listings/src/k.rs is not in the book");
    }

    #[test]
    fn a_chapter_missing_from_the_summary_is_found() {
        let dir = book("", "");
        fs::write(dir.path().join("docs/src/b.md"), "").unwrap();
        let error = check(dir.path()).unwrap_err().to_string();
        assert_eq!(error, "docs/src/b.md: SUMMARY.md does not name b.md");
    }
}
