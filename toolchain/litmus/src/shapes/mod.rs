//! The classic shapes of litmus tests, in many variants, with the model's verdict on each.
//!
//! A *family* is a shape: the reads and writes of each thread, and the outcome in question. A
//! *flavour* determines the qualifiers of its accesses. Each family comes in each flavour, in each
//! scope that the flavour can have, and in three placements.

mod families;
mod text;

use self::families::{FAMILIES, Family};
use crate::instruction::Scope;

/// A litmus test with its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its name: family, flavour with scope, and placement.
    pub name: String,
    /// The test. It asks whether the outcome exists.
    pub text: String,
    /// Whether the memory model allows the outcome.
    pub allowed: bool,
}

/// The kind of accesses in a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// Weak accesses.
    Weak,
    /// Relaxed accesses.
    Relaxed,
    /// Release for writes, acquire for reads, both for atomics.
    ReleaseAcquire,
    /// Relaxed accesses, and a `fence.acq_rel` between any two of a thread.
    Fence,
    /// Relaxed accesses, and a `fence.sc` between any two of a thread.
    FenceSc,
    /// Weak accesses, and a `fence.sc` between any two of a thread.
    WeakFenceSc,
    /// Weak accesses, and a barrier of the CTA between any two of a thread.
    Barrier,
}

/// The placement of a shape's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// All in one CTA.
    SameCta,
    /// Each in a separate CTA, on one GPU.
    OtherCta,
    /// Each on a separate GPU.
    OtherGpu,
}

impl Flavour {
    const ALL: [Self; 7] = [
        Self::Weak,
        Self::Relaxed,
        Self::ReleaseAcquire,
        Self::Fence,
        Self::FenceSc,
        Self::WeakFenceSc,
        Self::Barrier,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Relaxed => "relaxed",
            Self::ReleaseAcquire => "release-acquire",
            Self::Fence => "fence",
            Self::FenceSc => "fence-sc",
            Self::WeakFenceSc => "weak-fence-sc",
            Self::Barrier => "barrier",
        }
    }

    /// The scopes of the flavour. Weak accesses and barriers have no scope qualifier.
    fn scopes(self) -> &'static [Option<Scope>] {
        match self {
            Self::Weak | Self::Barrier => &[None],
            _ => &[Some(Scope::Cta), Some(Scope::Gpu), Some(Scope::Sys)],
        }
    }
}

impl Placement {
    const ALL: [Self; 3] = [Self::SameCta, Self::OtherCta, Self::OtherGpu];

    fn word(self) -> &'static str {
        match self {
            Self::SameCta => "same-cta",
            Self::OtherCta => "other-cta",
            Self::OtherGpu => "other-gpu",
        }
    }

    /// Whether the scope, or without one the CTA, includes all threads.
    fn within(self, scope: Option<Scope>) -> bool {
        match self {
            Self::SameCta => true,
            Self::OtherCta => matches!(scope, Some(Scope::Gpu | Scope::Sys)),
            Self::OtherGpu => scope == Some(Scope::Sys),
        }
    }
}

/// The PTX name of a scope.
fn scope_word(scope: Scope) -> &'static str {
    match scope {
        Scope::Cta => "cta",
        Scope::Gpu => "gpu",
        Scope::Sys => "sys",
    }
}

/// All shapes in all variants.
pub fn all() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for family in FAMILIES {
        for flavour in Flavour::ALL.into_iter().filter(|flavour| family.has(*flavour)) {
            for &scope in flavour.scopes() {
                shapes.extend(Placement::ALL.map(|place| family.shape(flavour, scope, place)));
            }
        }
    }
    shapes
}

/// One variant of a family: `MP` with release and acquire in CTA scope, for example. `None` if the
/// family does not exist, or does not come in this flavour or scope.
pub fn variant(
    family: &str,
    flavour: Flavour,
    scope: Option<Scope>,
    place: Placement,
) -> Option<Shape> {
    let family = FAMILIES.iter().find(|known| known.name == family)?;
    let comes = family.has(flavour) && flavour.scopes().contains(&scope);
    comes.then(|| family.shape(flavour, scope, place))
}

impl Family {
    /// An atomic is never weak, so a family of atomics has no weak variants.
    fn has(&self, flavour: Flavour) -> bool {
        let weak = matches!(flavour, Flavour::Weak | Flavour::WeakFenceSc | Flavour::Barrier);
        !(weak && self.threads.iter().any(|thread| thread.contains('A')))
    }

    fn shape(&self, flavour: Flavour, scope: Option<Scope>, place: Placement) -> Shape {
        let scope_part = scope.map(|scope| format!(".{}", scope_word(scope))).unwrap_or_default();
        let name = format!("{}+{}{scope_part}+{}", self.name, flavour.word(), place.word());
        let forbidden =
            self.always_forbidden || self.forbidden.contains(&flavour) && place.within(scope);
        let text = text::text(self, &name, flavour, scope, place);
        Shape { name, text, allowed: !forbidden }
    }
}
