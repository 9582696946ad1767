//! The ladders: one computation in many steps, from one thread to the rate of the memory.
//!
//! A [`Ladder`] has an input and the memory that its rungs work in. A [`Rung`] is one way to do the
//! computation. The kernels are in [`gridsync_lab_kernels::ladder`]. [`measure()`] compares the
//! result of every rung with the reference, times the rung, and counts the operations of one block
//! in the emulator ([`Counted`]).
//!
//! A rung is timed as a whole, with all of its launches and with setting words to 0 where it needs
//! that. Its rate counts only the bytes that every rung has to move. A kernel that only moves these
//! bytes, measured in the same run, gives the best possible rate ([`Roof`]).

mod chart;
mod count;
mod entry;
mod measure;
mod roof;
pub mod scans;
pub mod sums;

pub use chart::{Operations, operations_chart, rates_chart};
pub use count::Counted;
pub use entry::Entry;
pub use measure::{Absent, Climbed, LadderError, Report, measure};
pub use roof::Roof;

use bytemuck::Pod;
use gridsync::device::{Device, DeviceError};
use gridsync_verify::Sample;
use std::fmt::Debug;

/// One way to do the computation of a ladder.
#[derive(Clone, Copy, Debug)]
pub struct Rung<Launched> {
    /// Number. For the ladder's own kernels it is the number of their file.
    pub number: u32,
    /// Name.
    pub name: &'static str,
    /// The most elements that it is measured with. More would run for seconds, or would be rounded
    /// so often that the error bound of an f32 sum is useless.
    pub at_most: usize,
    launched: Launched,
}

/// One computation, rung by rung: an input, and the memory that all rungs work in.
pub trait Ladder: Sized {
    /// The type of the elements.
    type Element: Sample + Pod;
    /// How a rung is launched.
    type Launched;
    /// The launches of a rung for a number of elements.
    type Plan: Clone + Debug + PartialEq;

    /// The computation, in one word.
    const NAME: &'static str;
    /// The name of the type of the elements.
    const DTYPE: &'static str;
    /// Bytes that every rung has to move for each element.
    const BYTES: usize;
    /// The work of the kernel that only moves these bytes, in one word.
    const ROOF: &'static str;
    /// The chart of the counts.
    const OPERATIONS: Operations;

    /// All rungs, from the lowest to the highest.
    fn rungs() -> Vec<Rung<Self::Launched>>;

    /// Uploads `input` to `device`, and allocates the memory.
    ///
    /// # Errors
    /// If the device fails.
    fn new(device: &Device, input: &[Self::Element]) -> Result<Self, DeviceError>;

    /// The launches of `rung` for `len` elements.
    ///
    /// # Errors
    /// If querying the number of resident blocks fails.
    fn plan(&self, rung: &Rung<Self::Launched>, len: usize) -> Result<Self::Plan, DeviceError>;

    /// Puts all launches of `rung` on the first `len` elements into the stream, by its
    /// [`plan`](Self::plan) for them. Does not wait.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the rung is not available on this device or for this length;
    /// or if a launch fails. After a fault in the emulator the ladder cannot be used again.
    ///
    /// # Panics
    /// If the input has fewer elements.
    fn launch(
        &mut self,
        rung: &Rung<Self::Launched>,
        len: usize,
        plan: &Self::Plan,
    ) -> Result<(), DeviceError>;

    /// Runs `rung` on `input`, which is a prefix of the ladder's own input, and describes the error
    /// in the result. `None` if the result is right.
    ///
    /// # Errors
    /// If [`launch`](Self::launch) or a copy fails.
    fn fault(
        &mut self,
        rung: &Rung<Self::Launched>,
        input: &[Self::Element],
        plan: &Self::Plan,
    ) -> Result<Option<String>, DeviceError>;

    /// Counts the operations of one block of `rung`. `None` if the rung has no blocks to count.
    ///
    /// # Errors
    /// If the kernel faults.
    fn count(rung: &Rung<Self::Launched>) -> Result<Option<Counted>, DeviceError>;

    /// The numbers of blocks to try for the kernel that only moves the bytes of `len` elements.
    ///
    /// # Errors
    /// If querying the number of resident blocks fails.
    fn roof_grids(&self, len: usize) -> Result<Vec<u32>, DeviceError>;

    /// Puts a launch of that kernel with `blocks` blocks into the stream.
    ///
    /// # Errors
    /// If the launch fails.
    fn launch_roof(&self, len: usize, blocks: u32) -> Result<(), DeviceError>;
}
