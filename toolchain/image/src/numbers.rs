//! Writes each register and label as how recently it was used.
//!
//! A compiler numbers registers in the order in which it makes them, so the same code has other
//! numbers in each kernel. Here each class (`%r`, `%rd`, `$L`, …) has a list of its numbers, the
//! last used one first:
//!
//! * `%r4` is the number at place 4 of the list. It moves to the front.
//! * `%r#-3` is a new number: the last new one plus −3. It goes to the front.
//!
//! Names without a number, such as `%tid.x` or `%r<9>`, stay as they are.

use std::fmt::Write as _;

/// The numbers used in one kernel so far.
#[derive(Default)]
pub(crate) struct Numbers<'a> {
    classes: Vec<(&'a str, Class)>,
}

#[derive(Default)]
struct Class {
    /// The last new number.
    newest: i64,
    /// All numbers, the last used one at the end.
    used: Vec<i64>,
}

impl<'a> Numbers<'a> {
    /// Appends `line` to `text`, with ranks instead of numbers. None if a number is too large.
    pub(crate) fn rank(&mut self, line: &'a str, text: &mut String) -> Option<()> {
        each_name(line, text, |name, after, text| {
            let (digits, rest) = split_number(after);
            if digits.is_empty() || rest.starts_with(in_names) {
                return Some(after);
            }
            let class = self.class(name);
            let number = i64::from(digits.parse::<u32>().ok()?);
            if let Some(rank) = class.used.iter().rev().position(|used| *used == number) {
                class.use_again(rank)?;
                write!(text, "{rank}").ok()?;
            } else {
                write!(text, "#{}", number - class.newest).ok()?;
                class.make(number);
            }
            Some(rest)
        })
    }

    /// Appends the ranked `line` to `text` with its numbers. None if [`rank`](Self::rank) did not
    /// write it.
    pub(crate) fn restore(&mut self, line: &'a str, text: &mut String) -> Option<()> {
        each_name(line, text, |name, after, text| {
            let (digits, mut rest) = split_number(after);
            let number = if let Some(step) = after.strip_prefix('#') {
                let sign = usize::from(step.starts_with('-'));
                let end = sign + split_number(&step[sign..]).0.len();
                rest = &step[end..];
                let class = self.class(name);
                class.make(class.newest.checked_add(step[..end].parse().ok()?)?)
            } else if digits.is_empty() || rest.starts_with(in_names) {
                return Some(after);
            } else {
                self.class(name).use_again(digits.parse().ok()?)?
            };
            write!(text, "{}", u32::try_from(number).ok()?).ok()?;
            Some(rest)
        })
    }

    fn class(&mut self, name: &'a str) -> &mut Class {
        let at = self.classes.iter().position(|(known, _)| *known == name);
        let at = at.unwrap_or_else(|| {
            self.classes.push((name, Class::default()));
            self.classes.len() - 1
        });
        &mut self.classes[at].1
    }
}

impl Class {
    fn use_again(&mut self, rank: usize) -> Option<i64> {
        let place = self.used.len().checked_sub(rank)?.checked_sub(1)?;
        let number = self.used.remove(place);
        self.used.push(number);
        Some(number)
    }

    fn make(&mut self, number: i64) -> i64 {
        self.newest = number;
        self.used.push(number);
        number
    }
}

/// Copies `line` to `text`. After each class name, it calls `number` with the name and the text
/// that follows. `number` writes what it reads, and returns the rest.
fn each_name<'a>(
    line: &'a str,
    text: &mut String,
    mut number: impl FnMut(&'a str, &'a str, &mut String) -> Option<&'a str>,
) -> Option<()> {
    let mut rest = line;
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'%' | b'$')) {
        let end = at + 1 + length_of(&rest[at + 1..], u8::is_ascii_alphabetic);
        let (copied, after) = rest.split_at(end);
        text.push_str(copied);
        rest = number(&copied[at..], after, text)?;
    }
    text.push_str(rest);
    Some(())
}

/// The digits at the beginning, and the rest.
fn split_number(text: &str) -> (&str, &str) {
    text.split_at(length_of(text, u8::is_ascii_digit))
}

/// How many bytes at the beginning satisfy `of`, which accepts ASCII only.
fn length_of(text: &str, of: impl Fn(&u8) -> bool) -> usize {
    let other = text.bytes().position(|byte| !of(&byte));
    other.unwrap_or(text.len())
}

/// Whether a name may contain the character (PTX ISA, "Identifiers").
fn in_names(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranked<'a>(lines: &[&'a str]) -> Option<Vec<String>> {
        let mut numbers = Numbers::default();
        let rank = |line: &&'a str| {
            let mut text = String::new();
            numbers.rank(line, &mut text).map(|()| text)
        };
        lines.iter().map(rank).collect()
    }

    fn restored(lines: &[String]) -> Option<Vec<String>> {
        let mut numbers = Numbers::default();
        let mut all = Vec::new();
        for line in lines {
            let mut text = String::new();
            numbers.restore(line, &mut text)?;
            all.push(text);
        }
        Some(all)
    }

    #[test]
    fn the_same_code_with_other_numbers_has_the_same_ranks() {
        let (one, other) = (
            ["add.s32 %r7, %r5, %r6;", "add.s32 %r8, %r7, %r5;"],
            ["add.s32 %r90, %r88, %r89;", "add.s32 %r91, %r90, %r88;"],
        );
        let [one, other] = [one, other].map(|lines| ranked(&lines).expect("small numbers"));
        assert_eq!(one[1], "add.s32 %r#2, %r3, %r3;");
        assert_eq!(one[1], other[1]);
        assert_eq!(one[0], "add.s32 %r#7, %r#-2, %r#1;");
    }

    #[test]
    fn what_is_no_numbered_register_stays() {
        let lines = [
            ".reg .b32 %r<9>;",
            "ld.local.u32 %r1, [%SP+8];",
            "mov.u32 %r2, %tid.x;",
            "mov.b32 %r3, %pm0_64;",
            "mov.b32 %f16x2_4, a$1;",
        ];
        let ranked = ranked(&lines).expect("small numbers");
        assert_eq!(ranked[1], "ld.local.u32 %r#1, [%SP+8];");
        assert_eq!(ranked[3], "mov.b32 %r#1, %pm0_64;");
        assert_eq!(restored(&ranked).expect("as it was"), lines);
    }

    #[test]
    fn ranks_of_nothing_are_refused() {
        for line in ["%r0", "%r#", "%r#-1", "%r#1%r1", "%r99999999999999999999", "%r#99999999999"] {
            assert_eq!(restored(&[line.to_owned()]), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn every_line_that_is_ranked_comes_back(
            lines in prop::collection::vec("(%[a-c]{1,2}(0|[1-9][0-9]{0,3})?[ ,+._<]|\\$L[1-9]|[ a-z0-9;]){0,12}", 0..12)
        ) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let ranked = ranked(&lines).expect("small numbers");
            prop_assert_eq!(restored(&ranked).expect("what was ranked"), lines);
        }
    }
}
