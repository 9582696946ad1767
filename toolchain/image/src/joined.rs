//! Puts kernels together as one text that a compiler takes.

use std::collections::{BTreeMap, HashSet};

/// The text outside of the kernels, and then the kernels.
///
/// PTX wants a name declared before it is used. So a kernel that another one mentions is declared
/// before all of them. Functions that are declared and not called are left out.
pub(crate) fn joined(prelude: &str, entries: &BTreeMap<String, String>) -> String {
    let mut mentioned = HashSet::new();
    for (kernel, entry) in entries {
        mentioned.extend(identifiers(entry).filter(|name| name != kernel));
    }
    let mut text = String::new();
    for part in declarations(prelude) {
        let needless = function(part).is_some_and(|name| !mentioned.contains(name));
        if !needless {
            text.push_str(part);
        }
    }
    for (_, entry) in entries.iter().filter(|(kernel, _)| mentioned.contains(kernel.as_str())) {
        let end = entry.find(')').map_or(entry.len(), |end| end + 1);
        text.push_str(&entry[..end]);
        text.push_str(";\n");
    }
    text.extend(entries.values().map(String::as_str));
    text
}

/// What may be names of kernels and functions (PTX ISA, "Identifiers"): words that are neither
/// numbers nor registers.
pub(crate) fn identifiers(ptx: &str) -> impl Iterator<Item = &str> {
    let words = ptx.split(|c: char| !matches!(c, '_' | '$' | '%') && !c.is_ascii_alphanumeric());
    words.filter(|word| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$'))
    })
}

/// The lines of the prelude; the lines of an external function's declaration are one part.
fn declarations(prelude: &str) -> impl Iterator<Item = &str> {
    let mut rest = prelude;
    core::iter::from_fn(move || {
        let line = rest.split_inclusive('\n').next()?;
        let end = match function(line) {
            Some(_) => rest.find(";\n").map_or(rest.len(), |end| end + 2),
            None => line.len(),
        };
        let part;
        (part, rest) = rest.split_at(end);
        Some(part)
    })
}

/// The name of the external function that is declared here, as in
/// `.extern .func (.param .b32 result) name`.
fn function(declaration: &str) -> Option<&str> {
    let rest = declaration.strip_prefix(".extern .func")?.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1,
        None => rest,
    };
    rest.trim_start().split(|c: char| c == '(' || c == ';' || c.is_whitespace()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRELUDE: &str = ".version 8.0
.extern .func  (.param .b64 r) used
(
\t.param .b64 used_param_0
)
;
.extern .func unused;
.extern .func  (.param .b32 r) unused_too
()
;
.extern .shared .align 16 .b8 dynamic[];
";

    #[test]
    fn a_mentioned_kernel_is_declared_first_and_an_unused_function_not_at_all() {
        let parent = ".visible .entry a(\n\t.param .u32 a_param_0\n)\n{\n\tmov.u64 %rd1, b;\n\tcall used;\n}\n";
        let child = ".visible .entry b(\n\t.param .u32 b_param_0\n)\n.maxntid 32, 1, 1\n{\n\tmov.u64 %rd1, b;\n}\n";
        let entries = [("a", parent), ("b", child)].map(|(name, text)| (name.into(), text.into()));
        let expected = format!(
            ".version 8.0
.extern .func  (.param .b64 r) used
(
\t.param .b64 used_param_0
)
;
.extern .shared .align 16 .b8 dynamic[];
.visible .entry b(
\t.param .u32 b_param_0
);
{parent}{child}"
        );
        assert_eq!(joined(PRELUDE, &BTreeMap::from(entries)), expected);
    }

    #[test]
    fn a_kernel_by_itself_is_not_declared() {
        let entry = ".visible .entry a()\n{\n\tmov.u64 %rd1, a;\n}\n";
        let text = joined(".version 8.0\n", &BTreeMap::from([("a".into(), entry.into())]));
        assert_eq!(text, format!(".version 8.0\n{entry}"));
    }
}
