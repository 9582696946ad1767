//! The ladders: one computation in many steps, from one thread to the rate of the memory.
//!
//! A [`Ladder`] is an input and the memory that its rungs work in. A [`Rung`] is one way to do the
//! computation. Its kernels are in [`gridsync_lab_kernels::ladder`]. [`measure()`] compares the
//! result of every rung with the reference, times the rung, and has the emulator count what one
//! block does ([`Counted`]).
//!
//! A rung is timed as a whole: all of its launches, and setting words to 0 where it needs that. Its
//! rate counts only the bytes that every rung has to move. A kernel that only moves those bytes
//! gives the best possible rate, in the same run ([`Roof`]).

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
    /// Its number. For the ladder's own kernels it is the number of their file.
    pub number: u32,
    /// What it is called.
    pub name: &'static str,
    /// The most elements that it is measured with. More would take seconds, or would be rounded so
    /// often that the error bound of an f32 sum promises nothing.
    pub at_most: usize,
    launched: Launched,
}

/// One computation, rung by rung: an input, and the memory that all rungs work in.
pub trait Ladder: Sized {
    /// The type of the elements.
    type Element: Sample + Pod;
    /// How a rung is launched.
    type Launched;
    /// What a rung launches for a number of elements.
    type Plan: Clone + Debug + PartialEq;

    /// What is computed, in one word.
    const NAME: &'static str;
    /// The name of the type of the elements.
    const DTYPE: &'static str;
    /// Bytes that every rung has to move for each element.
    const BYTES: usize;
    /// What the kernel that only moves those bytes does, in one word.
    const ROOF: &'static str;
    /// What the chart of the counts shows.
    const OPERATIONS: Operations;

    /// All rungs, from the lowest to the highest.
    fn rungs() -> Vec<Rung<Self::Launched>>;

    /// Takes `input` to `device`, and allocates.
    ///
    /// # Errors
    /// Those of the device.
    fn new(device: &Device, input: &[Self::Element]) -> Result<Self, DeviceError>;

    /// What `rung` launches for `len` elements.
    ///
    /// # Errors
    /// Those of asking how many blocks can be resident.
    fn plan(&self, rung: &Rung<Self::Launched>, len: usize) -> Result<Self::Plan, DeviceError>;

    /// Puts into the stream all that `rung` does with the first `len` elements, by its
    /// [`plan`](Self::plan) for them. Waits for nothing.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the rung does not exist on this device, or for this length;
    /// those of the launches. After a fault of the emulator the ladder cannot be used again.
    ///
    /// # Panics
    /// If the input has fewer elements.
    fn launch(
        &mut self,
        rung: &Rung<Self::Launched>,
        len: usize,
        plan: &Self::Plan,
    ) -> Result<(), DeviceError>;

    /// Runs `rung` on `input`, which is the first part of the ladder's own, and says what is wrong
    /// with the result. None if nothing is.
    ///
    /// # Errors
    /// Those of [`launch`](Self::launch), and of the copies.
    fn fault(
        &mut self,
        rung: &Rung<Self::Launched>,
        input: &[Self::Element],
        plan: &Self::Plan,
    ) -> Result<Option<String>, DeviceError>;

    /// Counts what one block of `rung` does; none if the rung does not work in blocks.
    ///
    /// # Errors
    /// A fault of the kernel.
    fn count(rung: &Rung<Self::Launched>) -> Result<Option<Counted>, DeviceError>;

    /// The numbers of blocks to try for the kernel that only moves the bytes of `len` elements.
    ///
    /// # Errors
    /// Those of asking how many blocks can be resident.
    fn roof_grids(&self, len: usize) -> Result<Vec<u32>, DeviceError>;

    /// Puts a launch of that kernel with `blocks` blocks into the stream.
    ///
    /// # Errors
    /// Those of the launch.
    fn launch_roof(&self, len: usize, blocks: u32) -> Result<(), DeviceError>;
}
