//! The modifiers of an instruction that are not decoded yet.

use crate::variable::Type;

/// Modifiers. Each is taken once, at whatever place it is, so that none is overlooked.
pub(super) struct Words<'a> {
    left: Vec<&'a str>,
}

impl<'a> Words<'a> {
    pub(super) fn new(modifiers: impl Iterator<Item = &'a str>) -> Self {
        Self { left: modifiers.collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Takes `word`, if it is there.
    pub(super) fn take(&mut self, word: &str) -> bool {
        self.choose(&[(word, ())]).is_some()
    }

    /// Takes the first modifier that is in a table, and returns its meaning.
    pub(super) fn choose<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        let meaning =
            |word: &str| table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
        let (place, value) =
            self.left.iter().enumerate().find_map(|(place, word)| Some((place, meaning(word)?)))?;
        self.left.remove(place);
        Some(value)
    }

    /// Takes the first type.
    pub(super) fn ty(&mut self) -> Option<Type> {
        let place = self.left.iter().position(|word| Type::named(word).is_some())?;
        Type::named(self.left.remove(place))
    }

    /// Takes all.
    pub(super) fn clear(&mut self) {
        self.left.clear();
    }

    /// Takes the modifiers that a cache may use and that change no value.
    pub(super) fn drop_hints(&mut self) {
        let operators = ["ca", "cg", "cs", "lu", "cv", "wb", "wt", "unified"];
        self.left.retain(|word| {
            let level = word.starts_with("L1::") || word.starts_with("L2::");
            !level && !operators.contains(word)
        });
    }
}
