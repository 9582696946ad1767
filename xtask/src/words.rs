//! The language rule: comments and Markdown are in plain English.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use regex::RegexSet;

use crate::outcome::Outcome;
use crate::workspace::{root, walk};

/// Expressions that are rare in plain technical English. Each has good uses, so only their number is
/// limited. Say instead: reports, names (`tells`), no one (`nobody`), is not a (`is no`), its (`of
/// its own`), on its own (`by itself`), is in or is at (`lies`), continues (`goes on`), from x (`from
/// x on`), next to (`beside`), each, in order (`one after the other`), otherwise none (`none if`),
/// forever, in the meantime, the name of what follows (`What …`), fix (`mend`).
const EXPRESSIONS: [&str; 15] = [
    r"\b(told|tells?)\b",
    r"\b([Nn]obody|[Ss]omebody|[Ww]hoever)\b",
    r"\b(is|are|was|were) no ([a-kn-z]|l[a-np-z]|m[a-np-z])",
    r"\bof (its|their|your|one's) own\b",
    r"\bby (itself|themselves)\b",
    r"^(Those|That) of\b",
    r"\b(lies?|lay)\b",
    r"\b(goes?|gets?) on\b",
    r"\bfrom \S+ on\b",
    r"\bbeside\b",
    r"one after (the other|another)\b|\bin turns\b",
    r"[Nn]one (if|where)\b|; none\b",
    r"\bfor ever\b|\bmeanwhile\b",
    r"^What (it|they|the|a|an|is|was|of)\b.*\.$",
    r"\b[Mm]end(s|ed|ing)?\b|\bsays? (so|nothing)\b",
];

/// The most lines with such an expression in 1000 lines of prose: 2.5 on 2026-11-26.
const MOST: usize = 4;

pub(crate) fn run() -> Result<Outcome> {
    check(&root())
}

fn check(dir: &Path) -> Result<Outcome> {
    let expressions = RegexSet::new(EXPRESSIONS)?;
    let (mut lines, mut marked) = (0, Vec::new());
    let is_prose = |path: &Path| {
        let is_record = path.starts_with(dir.join("bench"));
        !is_record && [Some(OsStr::new("rs")), Some(OsStr::new("md"))].contains(&path.extension())
    };
    for path in walk(dir, &is_prose)? {
        let name = path.strip_prefix(dir).unwrap_or(&path).display().to_string();
        let text = fs::read_to_string(&path)?;
        for (number, line) in prose(&text, name.ends_with(".md")) {
            lines += 1;
            if expressions.is_match(line) {
                marked.push(format!("{name}:{number}: {line}"));
            }
        }
    }
    let found = format!("{} of {lines} lines of prose", marked.len());
    ensure!(
        marked.len() * 1000 <= lines * MOST,
        "{found} have an expression that is rare in plain English, and at most {MOST} of 1000 may: \
         reword some of these:\n{}",
        marked.join("\n")
    );
    Ok(Outcome::PassedAs(format!("{found} with a rare expression")))
}

/// The comments of a Rust file, or the text of a Markdown file: lines and their numbers, without
/// code blocks.
fn prose(text: &str, is_markdown: bool) -> Vec<(usize, &str)> {
    let (mut prose, mut in_code) = (Vec::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let comment = line.strip_prefix("//").map(|line| line.trim_start_matches(['/', '!']));
        let Some(line) = (if is_markdown { Some(line) } else { comment }) else {
            in_code = false;
            continue;
        };
        let line = line.trim();
        if line.starts_with("```") {
            in_code = !in_code;
        } else if !in_code && !line.is_empty() {
            prose.push((number, line.trim_start_matches(['#', '>', '*', '-', '|', ' '])));
        }
    }
    prose
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result for a file of 1000 comments, `marked` of them with an expression.
    fn with(marked: usize) -> Result<Outcome> {
        let dir = tempfile::tempdir().unwrap();
        let text = "// It tells a story.\n".repeat(marked) + &"// Fine.\n".repeat(1000 - marked);
        fs::write(dir.path().join("a.rs"), text).unwrap();
        check(dir.path())
    }

    #[test]
    fn prose_fails_only_beyond_the_limit() {
        assert!(with(MOST).is_ok());
        let error = with(MOST + 1).unwrap_err().to_string();
        assert!(error.contains("a.rs:1: It tells a story."), "{error}");
    }

    #[test]
    fn code_is_not_prose() {
        let rust = "/// Text.\n/// ```\n/// tell();\n/// ```\nfn tell() {}\n//! More.";
        assert_eq!(prose(rust, false), [(1, "Text."), (6, "More.")]);
        let markdown = "# Title\n\n```\ncode\n```\n* An item";
        assert_eq!(prose(markdown, true), [(1, "Title"), (6, "An item")]);
    }

    #[test]
    fn no_longer_and_no_more_are_plain() {
        let expressions = RegexSet::new(EXPRESSIONS).unwrap();
        assert!(expressions.is_match("it is no power of two"));
        assert!(!expressions.is_match("it is no more than two"));
    }
}
