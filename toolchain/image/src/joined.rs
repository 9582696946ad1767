//! Puts kernels together as one text that a compiler takes.

use crate::text::entry_length;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The text outside of the kernels, and then the kernels.
///
/// PTX wants a name declared before it is used. So a kernel that another one mentions is declared
/// before all of them. Functions that are not called are left out.
pub(crate) fn joined(prelude: &str, entries: &BTreeMap<String, String>) -> String {
    let mut mentioned = HashSet::new();
    for (kernel, entry) in entries {
        mentioned.extend(identifiers(entry).filter(|name| name != kernel));
    }
    let parts: Vec<&str> = declarations(prelude).collect();
    let functions: HashMap<&str, &str> =
        parts.iter().filter_map(|part| Some((function(part)?, *part))).collect();
    // A function that is called may call others.
    let mut called: Vec<&str> = functions.keys().copied().collect();
    called.retain(|name| mentioned.contains(name));
    while let Some(name) = called.pop() {
        let others = identifiers(functions[name]).filter(|other| functions.contains_key(other));
        called.extend(others.filter(|other| mentioned.insert(other)));
    }
    let mut text = String::new();
    for part in parts {
        if function(part).is_none_or(|name| mentioned.contains(name)) {
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

/// The lines of the prelude; the lines of a function are one part.
fn declarations(prelude: &str) -> impl Iterator<Item = &str> {
    let mut rest = prelude;
    core::iter::from_fn(move || {
        let line = rest.split_inclusive('\n').next()?;
        let end = if function(line).is_some() {
            let is_defined = rest.find(['{', ';']).is_some_and(|at| rest[at..].starts_with('{'));
            let end = if is_defined {
                entry_length(rest)
            } else {
                rest.find(';').map_or(0, |end| end + 1)
            };
            rest[end..].find('\n').map_or(rest.len(), |line| end + line + 1)
        } else {
            line.len()
        };
        let part;
        (part, rest) = rest.split_at(end);
        Some(part)
    })
}

/// The name of the function that is declared or defined here, as in
/// `.extern .func (.param .b32 result) name`.
fn function(part: &str) -> Option<&str> {
    let linking = [".extern ", ".visible ", ".weak "].iter().find_map(|by| part.strip_prefix(by));
    let rest = linking.unwrap_or(part).strip_prefix(".func")?.trim_start();
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
    fn only_functions_that_are_called_are_in_a_module() {
        let define = |name: &str, body: &str| {
            format!(".func  (.param .b32 r) {name}(\n\t.param .b32 p\n)\n{{\n\t{{ {body} }}\n}}\n")
        };
        let [inner, outer, other] = [
            define("inner", "ret;"),
            define("outer", "call inner;"),
            define("other", "call outer;"),
        ];
        let prelude = format!(".version 8.0\n{inner}{outer}{other}.address_size 64\n");
        let module = |entry: &str| joined(&prelude, &BTreeMap::from([("a".into(), entry.into())]));
        let entry = ".visible .entry a()\n{\n\tcall outer;\n}\n";
        assert_eq!(module(entry), format!(".version 8.0\n{inner}{outer}.address_size 64\n{entry}"));
        let entry = ".visible .entry a()\n{\n\tret;\n}\n";
        assert_eq!(module(entry), format!(".version 8.0\n.address_size 64\n{entry}"));
    }

    #[test]
    fn a_kernel_by_itself_is_not_declared() {
        let entry = ".visible .entry a()\n{\n\tmov.u64 %rd1, a;\n}\n";
        let text = joined(".version 8.0\n", &BTreeMap::from([("a".into(), entry.into())]));
        assert_eq!(text, format!(".version 8.0\n{entry}"));
    }
}
