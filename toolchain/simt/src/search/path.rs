//! The decisions of one execution, in compact text form.

use core::fmt;
use core::str::FromStr;

/// The decisions of an execution, which [`follow`](crate::search::follow) can repeat.
///
/// Each decision is the number of an alternative. 0 is the default: to stay with the warp that
/// stepped last, to read the last value, to write after all other writes. In text form a number
/// gives how many defaults come first, and a letter which alternative is next: `12b3c` is twelve
/// defaults, alternative 1, three defaults, alternative 2. Alternatives beyond `z` are written as
/// `(26)`. Defaults at the end are omitted. The text begins with one sign for each location at
/// which threads spin: `+` for a loop that is free of writes, and `-` for any other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path {
    /// For each location at which threads spin, in the order in which the execution reaches them:
    /// whether its loop is free of writes.
    spins: Vec<bool>,
    decisions: Vec<u32>,
}

impl Path {
    /// The path of these decisions.
    pub(crate) fn new(spins: Vec<bool>, mut decisions: Vec<u32>) -> Self {
        let needed = decisions.iter().rposition(|&decision| decision != 0).map_or(0, |at| at + 1);
        decisions.truncate(needed);
        Self { spins, decisions }
    }

    /// Whether the loop at the n-th spin is free of writes.
    pub(crate) fn is_pure(&self, n: usize) -> bool {
        self.spins.get(n).is_some_and(|&is_pure| is_pure)
    }

    /// The n-th decision.
    pub(crate) fn decision(&self, n: usize) -> usize {
        self.decisions.get(n).map_or(0, |&decision| decision as usize)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spins.iter().try_for_each(|&is_pure| f.write_str(if is_pure { "+" } else { "-" }))?;
        let mut defaults = 0;
        for &decision in &self.decisions {
            if decision == 0 {
                defaults += 1;
                continue;
            }
            if defaults > 0 {
                write!(f, "{defaults}")?;
            }
            defaults = 0;
            match decision {
                1..26 => write!(f, "{}", char::from(b'a' + decision as u8))?,
                _ => write!(f, "({decision})")?,
            }
        }
        Ok(())
    }
}

/// A text that is not a valid [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a path: a path has numbers and lowercase letters, as in 12b3c")]
pub struct BadPath {
    /// The text.
    pub text: String,
}

/// Maximum number of decisions in a parsed path, so that a number in the text cannot exhaust
/// memory.
const MOST: usize = 1 << 24;

impl FromStr for Path {
    type Err = BadPath;

    fn from_str(text: &str) -> Result<Self, BadPath> {
        let bad = || BadPath { text: text.to_owned() };
        let rest = text.trim_start_matches(['+', '-']);
        let spins = text[..text.len() - rest.len()].chars().map(|letter| letter == '+').collect();
        let mut decisions = Vec::new();
        let mut number: Option<usize> = None;
        let mut in_brackets = false;
        for letter in rest.chars() {
            match letter {
                '0'..='9' => {
                    let digit = letter as usize - '0' as usize;
                    let value = number.unwrap_or(0) * 10 + digit;
                    number = Some(value)
                        .filter(|&value| value < MOST)
                        .map_or_else(|| Err(bad()), |v| Ok(Some(v)))?;
                }
                'b'..='z' if !in_brackets => {
                    decisions.resize(decisions.len() + number.take().unwrap_or(0), 0);
                    decisions.push(letter as u32 - 'a' as u32);
                }
                '(' if !in_brackets => {
                    decisions.resize(decisions.len() + number.take().unwrap_or(0), 0);
                    in_brackets = true;
                }
                ')' if in_brackets => {
                    decisions.push(number.take().ok_or_else(bad)? as u32);
                    in_brackets = false;
                }
                _ => return Err(bad()),
            }
        }
        match (number, in_brackets) {
            (None, false) => Ok(Self { spins, decisions }),
            _ => Err(bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_round_trips_through_text() {
        let paths: [(&[bool], &[u32], &str); 5] = [
            (&[], &[], ""),
            (&[true], &[1], "+b"),
            (&[true, false], &[0, 0, 2, 3], "+-2cd"),
            (&[], &[25, 0, 26, 1], "z1(26)b"),
            (&[false], &[0, 1, 0, 0], "-1b"),
        ];
        for (spins, decisions, text) in paths {
            let path = Path::new(spins.to_vec(), decisions.to_vec());
            assert_eq!(path.to_string(), text);
            assert_eq!(text.parse(), Ok(path));
        }
        for text in ["a", "3", "(2", "2)", "B", "b+", "99999999999b"] {
            assert!(text.parse::<Path>().is_err(), "{text}");
        }
    }
}
