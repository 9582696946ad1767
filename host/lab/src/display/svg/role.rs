//! The role of a series, which decides its colour.

/// The role of a series. Each role has the same colour in all charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// gridsync's default: blue.
    Ours,
    /// A peer: vermillion, and orange for a second one.
    Peer,
    /// An upper limit: grey.
    Roof,
    /// Anything else: other colours.
    Other,
}

/// The name of a series and its role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The name.
    pub name: String,
    /// The role.
    pub role: Role,
}

impl From<&str> for Key {
    fn from(name: &str) -> Self {
        Role::Other.named(name)
    }
}

impl From<String> for Key {
    fn from(name: String) -> Self {
        Role::Other.named(name)
    }
}

impl Role {
    /// The key of a series with this role.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Key {
        Key { name: name.into(), role: self }
    }
}
