//! The kinds of peers, and those that a run measures.

use clap::ValueEnum;
use std::fmt;

/// A kind of peers: what it needs to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PeerKind {
    /// Programs in CUDA C++, which need nvcc
    Cuda,
    /// NumPy and SciPy on the CPU
    Cpu,
    /// PyTorch
    Torch,
    /// CuPy
    Cupy,
}

impl fmt::Display for PeerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cuda => "cuda",
            Self::Cpu => "cpu",
            Self::Torch => "torch",
            Self::Cupy => "cupy",
        })
    }
}

/// The kinds of peers that a run measures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PeerKinds {
    /// No peer.
    #[default]
    None,
    /// All peers that are there.
    All,
    /// The peers of these kinds. It is an error if one of them is not there.
    Named(Vec<PeerKind>),
}

impl PeerKinds {
    /// Whether peers of this kind are measured.
    #[must_use]
    pub fn contains(&self, kind: PeerKind) -> bool {
        *self == Self::All || self.names(kind)
    }

    /// Whether peers of this kind were asked for by name.
    #[must_use]
    pub fn names(&self, kind: PeerKind) -> bool {
        matches!(self, Self::Named(kinds) if kinds.contains(&kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_are_contained_in_all_but_only_named_ones_are_named() {
        let named = PeerKinds::Named(vec![PeerKind::Torch, PeerKind::Cpu]);
        let of = |kinds: &PeerKinds| {
            PeerKind::value_variants()
                .iter()
                .map(|&kind| (kinds.contains(kind), kinds.names(kind)))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&PeerKinds::None), [(false, false); 4]);
        assert_eq!(of(&PeerKinds::All), [(true, false); 4]);
        assert_eq!(of(&named), [(false, false), (true, true), (true, true), (false, false)]);
    }

    #[test]
    fn a_kind_is_shown_by_the_name_that_the_flag_accepts() {
        for kind in PeerKind::value_variants() {
            assert_eq!(PeerKind::from_str(&kind.to_string(), false), Ok(*kind));
        }
    }
}
