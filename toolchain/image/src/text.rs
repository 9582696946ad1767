//! Divides the text of an image into its kernels.

use std::collections::BTreeMap;

/// The text outside of the kernels, and each kernel.
///
/// A module has the text outside of the kernels, one kernel, and the kernels that it launches. So the
/// kernels of an image must not share memory at module scope (`.global`, `.const`: each module would
/// get its own). `.shared` memory belongs to a block anyway, and a declaration that a kernel does not
/// use costs nothing.
pub(crate) struct Parts<'a> {
    /// The directives and declarations outside of the kernels, without comments.
    pub(crate) prelude: String,
    /// The kernels by name, each from its `.entry` line to the brace that closes its body.
    pub(crate) entries: BTreeMap<&'a str, &'a str>,
}

impl<'a> Parts<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let (mut prelude, mut entries) = (String::new(), BTreeMap::new());
        let mut rest = text;
        while let Some(line) = rest.split_inclusive('\n').next() {
            let part = match entry_name(line) {
                Some(name) => {
                    let entry = &rest[..entry_length(rest)];
                    entries.insert(name, entry);
                    entry
                }
                None => {
                    let code = line.trim_start();
                    if !code.is_empty() && !code.starts_with("//") {
                        prelude.push_str(line);
                    }
                    line
                }
            };
            rest = &rest[part.len()..];
        }
        Self { prelude, entries }
    }
}

/// The comment lines at the top.
pub(crate) fn head(text: &str) -> &str {
    let lines = text.split_inclusive('\n');
    let comments = lines.take_while(|line| line.starts_with("//"));
    &text[..comments.map(str::len).sum()]
}

/// The name of the kernel that begins in this line (PTX ISA, ".entry"). A linking directive may
/// come first.
fn entry_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let directive = [".visible ", ".weak "].iter().find_map(|linking| line.strip_prefix(linking));
    let rest = directive.unwrap_or(line).strip_prefix(".entry ")?;
    rest.split(|c: char| c == '(' || c.is_whitespace()).next()
}

/// The bytes up to the brace that closes the body of the first kernel or function, or all if no brace does.
/// Braces nest: blocks of inline assembly, vectors of registers. Braces in comments do not count.
pub(crate) fn entry_length(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or_default();
        for (i, byte) in code.bytes().enumerate() {
            match byte {
                b'{' => depth += 1,
                b'}' if depth == 1 => return at + i + 1,
                // A closing brace too many is left for the compiler to refuse.
                b'}' => depth = usize::saturating_sub(depth, 1),
                _ => {}
            }
        }
        at += line.len();
    }
    text.len()
}
