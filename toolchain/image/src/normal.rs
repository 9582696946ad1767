//! The normal text of a kernel. Equal kernels have equal normal text, in any file.

use std::{collections::HashMap, fmt::Write as _};

/// LLVM's labels of basic blocks begin like this. The numbers of the function and the block follow.
const BLOCK_LABEL: &str = "$L__BB";

/// The kernel without comments and empty lines. The labels of its basic blocks are numbered from 1,
/// in the order in which they occur. Each line ends in a line feed.
pub(crate) fn normal(entry: &str) -> String {
    let mut text = String::with_capacity(entry.len());
    let mut labels = HashMap::new();
    for line in entry.lines() {
        let code = without_comment(line).trim_end();
        if !code.is_empty() {
            relabel(code, &mut labels, &mut text);
            text.push('\n');
        }
    }
    text
}

/// A line up to its comment. Two slashes after a quote may be part of a string.
fn without_comment(line: &str) -> &str {
    match line.split_once("//") {
        Some((code, _)) if !code.contains('"') => code,
        _ => line,
    }
}

fn relabel<'a>(code: &'a str, labels: &mut HashMap<&'a str, usize>, text: &mut String) {
    let mut rest = code;
    while let Some(at) = rest.find(BLOCK_LABEL) {
        let (before, label) = rest.split_at(at);
        let numbers = &label[BLOCK_LABEL.len()..];
        let end = numbers
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$')))
            .unwrap_or(numbers.len());
        let (numbers, after) = numbers.split_at(end);
        let next = labels.len() + 1;
        let number = *labels.entry(numbers).or_insert(next);
        write!(text, "{before}$L{number}").expect("a string takes everything");
        rest = after;
    }
    text.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_kernel_in_its_file_leaves_no_trace() {
        let kernel = |function: u32| {
            format!(
                ".visible .entry k()\n{{\n\n\tbra \t$L__BB{function}_7;\n$L__BB{function}_2: // in a loop\n\t// %bb.3:\n\t@%p1 bra \t$L__BB{function}_2;\n$L__BB{function}_7:\n\tret;\n}}"
            )
        };
        let expected =
            ".visible .entry k()\n{\n\tbra \t$L1;\n$L2:\n\t@%p1 bra \t$L2;\n$L1:\n\tret;\n}\n";
        assert_eq!(normal(&kernel(3)), expected);
        assert_eq!(normal(&kernel(31)), expected);
    }

    #[test]
    fn slashes_in_a_string_are_no_comment() {
        let line = "\t.file 1 \"a//b\"";
        assert_eq!(normal(line), format!("{line}\n"));
    }
}
