//! `gridsync lab ladder`, `gridsync lab scans` and `gridsync lab sorts`: one computation in many
//! steps, from one thread or one block to the rate of the memory.
//!
//! A [`Ladder`] has an input and the memory that its rungs work in. A [`Rung`] is one way to do the
//! computation. The kernels are in [`gridsync_lab_kernels::ladder`]. [`measure()`] compares the
//! result of every rung with the reference, times the rung, and counts the operations of one block
//! in the emulator ([`Counted`]). The result of each ladder is a [`Report`].
//!
//! A rung is timed as a whole, with all of its launches and with setting words to 0 where it needs
//! that. Its rate counts only the bytes that every rung has to move. A kernel that only moves these
//! bytes, measured in the same run, gives the best possible rate ([`Roof`]).

mod chart;
mod count;
mod entry;
mod measure;
mod report;
mod roof;
pub mod scans;
pub mod sorts;
pub mod sums;

pub use chart::rates;
pub use count::Counted;
pub use entry::Entry;
pub use measure::{LadderError, measure};
pub use report::{Absent, Climbed as Report, Measured, Own, Roof};

use crate::ExperimentError;
use crate::bench::Sampling;
use bytemuck::Pod;
use gridsync::device::{Device, DeviceError};
use gridsync_verify::Sample;
use indicatif::ProgressBar;
use std::fmt::Debug;

/// Elements on a GPU.
const ON_A_GPU: u64 = 1 << 28;

/// The names, texts and sizes in which the ladders differ.
#[derive(Debug)]
pub struct Kind {
    /// The computation, in one word.
    pub name: &'static str,
    /// The suite of the records, and the name of the chart of the rates.
    pub suite: &'static str,
    /// The name of that chart in a report of all results.
    pub in_report: &'static str,
    /// The name of the chart of the counts.
    pub counts: &'static str,
    /// The title of that chart, the label of its axis, and that of the first bar of each rung. The
    /// other bars are bank conflicts and barriers.
    pub operations: [&'static str; 3],
    /// The file of the records.
    pub records: &'static str,
    /// Bytes that every rung has to move for each element.
    pub bytes: usize,
    /// The work of the kernel that only moves these bytes, in one word.
    pub roof: &'static str,
    /// The name of its rate in records and JSON.
    pub rate: &'static str,
    /// Its operation on the array: a participle, and the continuation of the sentence.
    pub only: [&'static str; 2],
    /// The check that every result passed.
    pub right: &'static str,
    /// A note on the counts in the tables.
    pub note: &'static str,
    /// The columns of the table of counts, after the common ones.
    pub heads: &'static [&'static str],
    /// Elements in the emulator, which has nothing to time.
    pub in_the_emulator: u64,
}

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

    /// Its names, texts and sizes.
    const KIND: &'static Kind;
    /// The name of the type of the elements.
    const DTYPE: &'static str;

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

    /// The fields of a result that only this ladder has. `percent` is the rate relative to the
    /// roof's.
    fn own(plan: &Self::Plan, counted: Option<&Counted>, percent: Option<f64>) -> Own;

    /// The best rate of the roof in a result.
    fn roof(gb_per_s: Option<f64>) -> Roof;

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

/// Climbs a ladder, and shows on `bar` how far it is.
fn climb<L: Ladder>(
    device: &Device,
    bar: &ProgressBar,
    elements: Option<u64>,
) -> Result<Report, ExperimentError> {
    let is_emulated = device.properties().is_emulated();
    let default = if is_emulated { L::KIND.in_the_emulator } else { ON_A_GPU };
    bar.set_length(1 + L::rungs().len() as u64);
    let step = |next: &str| {
        bar.set_message(next.to_owned());
        bar.inc(1);
    };
    let elements = elements.unwrap_or(default) as usize;
    Ok(measure::<L>(device, elements, &Sampling::default(), step)?)
}
