//! The names that are declared, by scope.

use std::collections::HashMap;

use crate::operand::{Register, Symbol};

/// The meaning of a name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named {
    Register(Register),
    Symbol(Symbol),
    Targets(u32),
    Callees(u32),
    Prototype(u32),
}

/// A declared name, or the prefix of a family of registers, whose names end in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key<'a> {
    Name(&'a str),
    Prefix(&'a str),
}

/// A declaration: how many scopes it is in, its meaning, and the number of registers of a family.
type Entry = (usize, Named, u32);

/// The names of the module, the function and its blocks.
#[derive(Default)]
pub(super) struct Names<'a> {
    known: HashMap<Key<'a>, Entry>,
    /// For each declaration in an open scope, the one that it hides.
    hidden: Vec<(Key<'a>, Option<Entry>)>,
    /// The length of `hidden` at the beginning of each open scope.
    scopes: Vec<usize>,
}

impl<'a> Names<'a> {
    pub(super) fn enter(&mut self) {
        self.scopes.push(self.hidden.len());
    }

    /// Leaves the innermost scope, whose names lose their meaning.
    pub(super) fn leave(&mut self) {
        let start = self.scopes.pop().unwrap_or(0);
        for (key, entry) in self.hidden.drain(start..).rev() {
            match entry {
                Some(entry) => self.known.insert(key, entry),
                None => self.known.remove(&key),
            };
        }
    }

    /// Declares a name in the innermost scope. False if it is declared there already.
    #[must_use]
    pub(super) fn declare(&mut self, name: &'a str, named: Named) -> bool {
        self.add(Key::Name(name), named, 0)
    }

    /// Declares `count` registers, of which `first` is number 0.
    #[must_use]
    pub(super) fn declare_family(&mut self, prefix: &'a str, first: Register, count: u32) -> bool {
        self.add(Key::Prefix(prefix), Named::Register(first), count)
    }

    fn add(&mut self, key: Key<'a>, named: Named, count: u32) -> bool {
        let depth = self.scopes.len();
        let before = self.known.insert(key, (depth, named, count));
        if depth > 0 {
            self.hidden.push((key, before));
        }
        before.is_none_or(|(other, ..)| other < depth)
    }

    /// The meaning of a name in the innermost scope that declares it.
    pub(super) fn get(&self, name: &'a str) -> Option<Named> {
        let alone = self.known.get(&Key::Name(name));
        let member = self.member(name);
        match (alone, member) {
            (Some(&(depth, ..)), Some((deeper, named))) if deeper > depth => Some(named),
            (Some(&(_, named, _)), _) => Some(named),
            (None, member) => member.map(|(_, named)| named),
        }
    }

    /// A register of a family, and the depth of its declaration.
    fn member(&self, name: &'a str) -> Option<(usize, Named)> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let shortest = name.len() - digits.min(MOST_DIGITS);
        let mut innermost = None;
        for split in shortest..name.len() {
            let (prefix, number) = name.split_at(split);
            if number.len() > 1 && number.starts_with('0') {
                continue;
            }
            let Some(&(depth, Named::Register(first), count)) =
                self.known.get(&Key::Prefix(prefix))
            else {
                continue;
            };
            let number: u32 = number.parse().ok()?;
            if number < count && innermost.is_none_or(|(other, _)| other < depth) {
                innermost = Some((depth, Named::Register(Register(first.0 + number))));
            }
        }
        innermost
    }
}

/// The digits of the largest number of a register.
const MOST_DIGITS: usize = 7;

#[cfg(test)]
mod tests {
    use super::*;

    fn register(names: &Names<'_>, name: &'static str) -> Option<u32> {
        match names.get(name)? {
            Named::Register(register) => Some(register.0),
            _ => None,
        }
    }

    #[test]
    fn the_innermost_declaration_counts() {
        let mut names = Names::default();
        names.enter();
        assert!(names.declare_family("%r", Register(0), 10));
        names.enter();
        assert!(names.declare("%r1", Named::Register(Register(10))));
        assert_eq!(register(&names, "%r1"), Some(10));
        names.enter();
        assert!(names.declare_family("%r", Register(20), 2));
        assert_eq!(register(&names, "%r1"), Some(21));
        assert_eq!(register(&names, "%r9"), None, "the inner family hides the outer one");
        names.leave();
        assert_eq!(register(&names, "%r9"), Some(9));
        names.leave();
        assert_eq!(register(&names, "%r1"), Some(1));
    }

    #[test]
    fn a_name_is_declared_once_in_a_scope() {
        let mut names = Names::default();
        names.enter();
        assert!(names.declare("a", Named::Targets(0)));
        assert!(!names.declare("a", Named::Targets(1)));
        names.enter();
        assert!(names.declare("a", Named::Targets(2)));
    }

    #[test]
    fn a_member_has_a_number_without_leading_zeros_below_the_count() {
        let mut names = Names::default();
        assert!(names.declare_family("%r", Register(0), 10));
        assert!(names.declare_family("%r1", Register(10), 10));
        assert_eq!(register(&names, "%r0"), Some(0));
        assert_eq!(register(&names, "%r10"), Some(10), "number 0 of %r1");
        for name in ["%r", "%r00", "%r01", "%r20", "%r99999999999"] {
            assert_eq!(register(&names, name), None, "{name}");
        }
    }
}
