//! The shape of a launch.

pub use cuda_std::Dim3;
use std::fmt;

/// The number of blocks and of threads per block, the shared memory, and whether all blocks must be
/// resident at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// Blocks in the grid.
    pub grid: Dim3,
    /// Threads per block.
    pub block: Dim3,
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared: u32,
    /// Whether all blocks must be resident at once. A cooperative kernel is always launched this
    /// way.
    pub cooperative: bool,
    /// Number of consecutive blocks in x that form a cluster, or `None`.
    pub cluster: Option<u32>,
    /// Whether the grid may start before the previous kernel in the stream has ended.
    pub overlapping: bool,
}

impl Geometry {
    /// The most blocks of a grid along y, and along z (CUDA C++ Programming Guide, "Technical
    /// Specifications").
    pub const MOST_ALONG_Y: u32 = 65_535;

    /// `grid` blocks of `block` threads, without further options.
    #[must_use]
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self {
            grid: grid.into(),
            block: block.into(),
            dynamic_shared: 0,
            cooperative: false,
            cluster: None,
            overlapping: false,
        }
    }

    /// This launch with `bytes` of dynamic shared memory per block.
    #[must_use]
    pub const fn with_dynamic_shared(mut self, bytes: u32) -> Self {
        self.dynamic_shared = bytes;
        self
    }

    /// This launch with all blocks resident at once.
    #[must_use]
    pub const fn cooperative(mut self) -> Self {
        self.cooperative = true;
        self
    }

    /// This launch in clusters of `blocks`.
    #[must_use]
    pub const fn clusters_of(mut self, blocks: u32) -> Self {
        self.cluster = Some(blocks);
        self
    }

    /// This launch, allowed to start before the previous kernel in the stream has ended:
    /// programmatic dependent launch, compute capability 9.0.
    ///
    /// The kernel must call [`cuda_std::dependent::wait_for_previous`] before it accesses data that
    /// the previous kernel writes, and before it writes data that the previous kernel uses. The
    /// caller of the launch is responsible for that.
    #[must_use]
    pub const fn overlapping(mut self) -> Self {
        self.overlapping = true;
        self
    }
}

/// The plural ending of a noun after this number.
fn plural(dim: Dim3) -> &'static str {
    if dim.volume() == 1 { "" } else { "s" }
}

impl fmt::Display for Geometry {
    /// `132 blocks of 256 threads, 4096 B of dynamic shared memory, cooperative, clusters of 4,
    /// overlapping the kernel before`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (s, t) = (plural(self.grid), plural(self.block));
        write!(f, "{} block{s} of {} thread{t}", self.grid, self.block)?;
        if self.dynamic_shared > 0 {
            write!(f, ", {} B of dynamic shared memory", self.dynamic_shared)?;
        }
        if self.cooperative {
            write!(f, ", cooperative")?;
        }
        if let Some(blocks) = self.cluster {
            write!(f, ", clusters of {blocks}")?;
        }
        if self.overlapping {
            write!(f, ", overlapping the kernel before")?;
        }
        Ok(())
    }
}
