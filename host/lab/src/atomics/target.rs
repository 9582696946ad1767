//! The targets of atomic additions.

use gridsync::device::Geometry;

/// Bytes of a cache line: the distance between words that should not share a line.
const LINE: usize = 128;

/// The target of a grid's additions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One address.
    Grid,
    /// An address for each block, each in a separate line.
    Block,
    /// An address for each warp, each in a separate line.
    Warp,
    /// An address for each lane, adjacent.
    Lane,
    /// An address for each lane, each in a separate line.
    LaneLine,
    /// One word of shared memory in each block, whose sum is added to one address.
    SharedFirst,
    /// The sum of a warp, by shuffles, is added to one address.
    WarpFirst,
}

/// All targets; the cures come last.
pub const TARGETS: [Target; 7] = [
    Target::Grid,
    Target::Block,
    Target::Warp,
    Target::Lane,
    Target::LaneLine,
    Target::SharedFirst,
    Target::WarpFirst,
];

impl Target {
    /// Name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grid => "one for all",
            Self::Block => "one for each block",
            Self::Warp => "one for each warp",
            Self::Lane => "one for each lane",
            Self::LaneLine => "a line for each lane",
            Self::SharedFirst => "shared memory first",
            Self::WarpFirst => "warp first",
        }
    }

    /// Whether it is a cure for many additions to one address. Cures return no results.
    #[must_use]
    pub const fn is_cure(self) -> bool {
        matches!(self, Self::SharedFirst | Self::WarpFirst)
    }

    /// Threads that share an address.
    pub(super) fn threads_per_word(self, geometry: &Geometry) -> u32 {
        let block = geometry.block.volume() as u32;
        match self {
            Self::Grid | Self::SharedFirst | Self::WarpFirst => {
                block * geometry.grid.volume() as u32
            }
            Self::Block => block,
            Self::Warp => 32,
            Self::Lane | Self::LaneLine => 1,
        }
    }

    /// Distance between two addresses, in numbers of `bytes` bytes.
    pub(super) const fn apart(self, bytes: usize) -> usize {
        match self {
            Self::Lane => 1,
            _ => LINE / bytes,
        }
    }
}
