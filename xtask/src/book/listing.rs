//! Finds parts of source files by name, for display in a chapter.

use anyhow::{Context, Result};
use std::ops::Range;

/// The words before the keyword of an item.
const QUALIFIERS: [&str; 4] = ["pub ", "pub(crate) ", "unsafe ", "const unsafe "];
const KINDS: [&str; 7] = ["fn ", "struct ", "enum ", "trait ", "type ", "const ", "mod "];

/// The items with these names, separated by empty lines, without their indentation. Without names,
/// the whole file.
///
/// A name is that of a function or type. `use` means the imports at the top, `name!` the first call
/// of a macro, and a name with a space is the beginning of the item, as in `impl A for B`.
pub(super) fn pieces(text: &str, names: &[&str]) -> Result<String> {
    if names.is_empty() {
        return Ok(text.to_owned());
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for name in names {
        let range = item(&lines, name).with_context(|| format!("no item `{name}`"))?;
        let indent = indentation(lines[range.end - 1]);
        let piece = lines[range].iter().map(|line| line.get(indent..).unwrap_or_default());
        all.push(piece.map(|line| format!("{line}\n")).collect::<String>());
    }
    Ok(all.join("\n"))
}

/// The lines of an item, with its documentation and attributes.
fn item(lines: &[&str], name: &str) -> Option<Range<usize>> {
    if name == "use" {
        let first = lines.iter().position(|line| line.starts_with("use "))?;
        let count = lines[first..].iter().take_while(|line| !line.is_empty()).count();
        return Some(first..first + count);
    }
    let declared = lines.iter().position(|line| declares(line.trim_start(), name))?;
    let belongs = |line: &str| line.starts_with("//") || line.starts_with("#[");
    let before = lines[..declared].iter().rev();
    let before = before.take_while(|line| belongs(line.trim_start())).count();
    let indent = indentation(lines[declared]);
    let is_end = |line: &&str| indentation(line) == indent && line.ends_with(['}', ';']);
    let end = declared + lines[declared..].iter().position(is_end)?;
    Some(declared - before..end + 1)
}

/// Whether an item of this name begins in the line.
fn declares(mut line: &str, name: &str) -> bool {
    if name.contains(' ') {
        return line.starts_with(name);
    }
    if name.ends_with('!') {
        return line.strip_prefix(name).is_some_and(|rest| rest.starts_with(" {"));
    }
    while let Some(rest) = QUALIFIERS.iter().find_map(|word| line.strip_prefix(word)) {
        line = rest;
    }
    let named = KINDS.iter().find_map(|kind| line.strip_prefix(kind)?.strip_prefix(name));
    named.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
//! A file.

use a::b;
use c::d;

shared_array! {
    /// Words.
    fn words() -> [u32; 2];
}

/// Adds.
///
/// # Safety
#[kernel]
unsafe fn add(
    a: u32,
) {
    if a == 0 {
        b();
    }
}

fn add_more() {}

mod tests {
    use super::*;

    #[test]
    fn holds() {

        add();
    }
}
";

    #[test]
    fn an_item_includes_its_documentation_without_indentation() {
        let piece = |name| pieces(FILE, &[name]).unwrap();
        assert_eq!(piece("use"), "use a::b;\nuse c::d;\n");
        assert_eq!(piece("shared_array!").lines().count(), 4);
        assert!(piece("add").starts_with("/// Adds.\n") && piece("add").ends_with("    }\n}\n"));
        assert_eq!(piece("holds"), "#[test]\nfn holds() {\n\n    add();\n}\n");
        assert_eq!(piece("mod tests {").lines().count(), 9);
    }

    #[test]
    fn items_are_separated_by_empty_lines_and_a_missing_one_is_an_error() {
        let both = pieces(FILE, &["add_more", "use"]).unwrap();
        assert_eq!(both, "fn add_more() {}\n\nuse a::b;\nuse c::d;\n");
        assert_eq!(pieces(FILE, &[]).unwrap(), FILE);
        let error = pieces(FILE, &["ad"]).unwrap_err().to_string();
        assert_eq!(error, "no item `ad`");
    }
}
