//! Names as in the source. C++ and Rust mangle them (Itanium C++ ABI, "Mangling"; RFC 2603).

use cpp_demangle::{DemangleOptions, Symbol};
use serde_json::Value;

/// The name as in the source, with the parameters of a function in C++: `scale<float>(float*)`.
/// A name that is not mangled stays the same.
pub(super) fn readable(name: &str) -> String {
    demangled(name, DemangleOptions::new().no_return_type())
}

fn demangled(name: &str, options: DemangleOptions) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        // Without the hash at the end.
        return format!("{rust:#}");
    }
    let symbol = name.starts_with("_Z").then(|| Symbol::new(name).ok()).flatten();
    let readable = symbol.and_then(|symbol| symbol.demangle_with_options(&options).ok());
    readable.unwrap_or_else(|| name.to_owned())
}

/// The kernels of this name: as mangled, or else as in the source. Parameters, arguments of
/// templates, the parts before a `::` and spaces may be left out.
pub(super) fn called<'a>(kernels: &[&'a str], name: &str) -> Vec<&'a str> {
    let name = without_spaces(name);
    let ends = |path: &str| path == name || path.ends_with(&format!("::{name}"));
    let forms: [&dyn Fn(&str) -> bool; 4] = [
        &|kernel| kernel == name,
        &|kernel| ends(&without_spaces(&readable(kernel))),
        &|kernel| ends(&path(kernel)),
        &|kernel| ends(without_arguments(&path(kernel))),
    ];
    let of_form = |is_called: &dyn Fn(&str) -> bool| -> Vec<&'a str> {
        kernels.iter().copied().filter(|kernel| is_called(kernel)).collect()
    };
    let mut found = forms.into_iter().map(of_form);
    found.find(|kernels| !kernels.is_empty()).unwrap_or_default()
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The name as in the source, without parameters and spaces.
fn path(name: &str) -> String {
    without_spaces(&demangled(name, DemangleOptions::new().no_params().no_return_type()))
}

/// A path without the arguments of its template: `scale` for `scale<pair<int,int>>`.
fn without_arguments(path: &str) -> &str {
    let mut depth = 0;
    let start = path.char_indices().rev().find(|&(_, sign)| {
        depth += match sign {
            '>' => 1,
            '<' => -1,
            _ => 0,
        };
        depth == 0
    });
    match start {
        Some((at, '<')) => path[..at].trim_end_matches("::"),
        _ => path,
    }
}

/// The message with all mangled names as in the source. A name before a dot is that of a file.
pub(super) fn in_text(text: &str) -> String {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || "_$".contains(sign);
    let words = text.split_inclusive(|sign| !is_part(sign)).map(|part| {
        let word = part.trim_end_matches(|sign| !is_part(sign));
        let rest = &part[word.len()..];
        if rest == "." { part.to_owned() } else { readable(word) + rest }
    });
    words.collect()
}

/// The JSON value with [`in_text`] for all its texts.
pub(super) fn in_json(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(in_text(&text)),
        Value::Array(values) => values.into_iter().map(in_json).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, in_json(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNELS: [&str; 8] = [
        "_Z3addPfi",
        "_Z3addPii",
        "_ZN4fast5scaleIfEEvPT_j",
        "_ZN4fast5scaleISt4pairIijEEEvPT_j",
        "_ZN7kernels3sum17h0123456789abcdefE",
        "_RNvCs1234_7kernels4scan",
        "plain",
        "_Zebra",
    ];

    #[test]
    fn names_of_cpp_and_rust_are_shown_as_in_the_source() {
        let shown = KERNELS.map(readable);
        assert_eq!(
            shown,
            [
                "add(float*, int)",
                "add(int*, int)",
                "fast::scale<float>(float*, unsigned int)",
                "fast::scale<std::pair<int, unsigned int> >(std::pair<int, unsigned int>*, unsigned int)",
                "kernels::sum",
                "kernels::scan",
                "plain",
                "_Zebra",
            ]
        );
    }

    #[test]
    fn kernels_are_found_by_each_unique_part_of_their_names() {
        for (name, at) in [
            ("_Z3addPii", 1),
            ("add(int *, int)", 1),
            ("scale<float>", 2),
            ("fast::scale<std::pair<int, unsigned>>", 8),
            ("scale<std::pair<int, unsigned int>>", 3),
            ("sum", 4),
            ("kernels::scan", 5),
            ("plain", 6),
            ("lain", 8),
            ("um", 8),
        ] {
            let found = called(&KERNELS, name);
            assert_eq!(found, KERNELS.get(at).copied().into_iter().collect::<Vec<_>>(), "{name}");
        }
        assert_eq!(called(&KERNELS, "add"), KERNELS[..2]);
        assert_eq!(called(&KERNELS, "fast::scale"), KERNELS[2..4]);
    }

    #[test]
    fn messages_have_readable_names_but_the_names_of_files_stay() {
        let text = "kernel _Z3addPii, at _Z3addPii.ptx:3, `_ZZ3addPiiE4tile` of (_Z3addPfi)";
        let expected = "kernel add(int*, int), at _Z3addPii.ptx:3, `add(int*, int)::tile` of \
                        (add(float*, int))";
        assert_eq!(in_text(text), expected);
        let json = serde_json::json!({"what": ["in _Z3addPii", 1], "right": false});
        assert_eq!(in_json(json).to_string(), r#"{"right":false,"what":["in add(int*, int)",1]}"#);
    }
}
