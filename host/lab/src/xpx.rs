//! X→P→X: what goes wrong without a grid barrier, and where.
//!
//! Stage (i) sets every `P[j]` to the mean of all X, stage (ii) sets every `X[j]` to the mean of
//! all P. P holds NaN before each run, so a thread that reads any P too early gets NaN.

use gridsync::device::{Device, DeviceError, Geometry};
use gridsync::launch::{Blocks, barrier_words, cooperative};
use gridsync::reference;
use gridsync_kernels::grid::barrier::GridBarrier;
use gridsync_lab_kernels::xpx::{xpx_block_barrier, xpx_grid_barrier, xpx_no_barrier};
use serde::Serialize;
use std::ops::Range;

/// The synchronization between the two stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Form {
    /// No barrier.
    #[serde(rename = "no barrier")]
    NoBarrier,
    /// A block barrier.
    #[serde(rename = "block barrier")]
    BlockBarrier,
    /// A grid barrier.
    #[serde(rename = "grid barrier")]
    GridBarrier,
}

impl Form {
    /// All forms, from the most broken to the correct one.
    pub const ALL: [Self; 3] = [Self::NoBarrier, Self::BlockBarrier, Self::GridBarrier];

    /// Name of the form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoBarrier => "no barrier",
            Self::BlockBarrier => "block barrier",
            Self::GridBarrier => "grid barrier",
        }
    }

    /// Whether this form can fail if the lanes of each warp run in lockstep. It needs elements in
    /// two warps that no barrier synchronizes.
    #[must_use]
    pub fn can_fail(self, setup: &Setup) -> bool {
        // The last thread that has an element.
        let last = setup.elements.min(setup.grid_threads()).saturating_sub(1);
        match self {
            Self::NoBarrier => setup.warp_of(last) > 0,
            Self::BlockBarrier => setup.block_of(last) > 0,
            Self::GridBarrier => false,
        }
    }
}

/// Size of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setup {
    /// Elements of X and of P.
    #[serde(rename = "n")]
    pub elements: usize,
    /// Blocks of the grid.
    pub blocks: u32,
    /// Threads of a block.
    pub threads: u32,
}

impl Setup {
    fn grid_threads(&self) -> usize {
        self.blocks as usize * self.threads as usize
    }

    /// The index in the grid of the warp that works on element `j`.
    fn warp_of(&self, j: usize) -> usize {
        let thread = j % self.grid_threads();
        let (block, in_block) = (thread / self.threads as usize, thread % self.threads as usize);
        block * self.threads.div_ceil(32) as usize + in_block / 32
    }

    /// The block that works on element `j`.
    fn block_of(&self, j: usize) -> usize {
        j % self.grid_threads() / self.threads as usize
    }
}

/// The errors of one run, or of several together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wrong {
    /// Elements of X that differ from the reference.
    #[serde(rename = "wrong_elements")]
    pub elements: usize,
    /// Warps whose elements are all wrong.
    pub whole_warps: usize,
    /// Warps with both wrong and right elements.
    pub broken_warps: usize,
    /// Blocks whose elements are all wrong.
    pub whole_blocks: usize,
    /// Blocks with both wrong and right elements.
    pub broken_blocks: usize,
    /// The first run of consecutive wrong elements. Not in the JSON.
    #[serde(skip)]
    pub first: Range<usize>,
}

impl Wrong {
    /// Compares X with the reference.
    pub(super) fn of(setup: &Setup, x: &[f32], expected: &[f32]) -> Option<Self> {
        let wrong: Vec<bool> =
            x.iter().zip(expected).map(|(a, b)| a.to_bits() != b.to_bits()).collect();
        let start = wrong.iter().position(|&w| w)?;
        let len = wrong[start..].iter().take_while(|&&w| w).count();
        let (whole_warps, broken_warps) = groups(&wrong, |j| setup.warp_of(j));
        let (whole_blocks, broken_blocks) = groups(&wrong, |j| setup.block_of(j));
        Some(Self {
            elements: wrong.iter().filter(|&&w| w).count(),
            whole_warps,
            broken_warps,
            whole_blocks,
            broken_blocks,
            first: start..start + len,
        })
    }
}

/// Number of groups of elements that are all wrong, and number of groups that are partly wrong.
fn groups(wrong: &[bool], group_of: impl Fn(usize) -> usize) -> (usize, usize) {
    let mut counts = std::collections::BTreeMap::<usize, (usize, usize)>::new();
    for (j, &is_wrong) in wrong.iter().enumerate() {
        let (all, bad) = counts.entry(group_of(j)).or_default();
        *all += 1;
        *bad += usize::from(is_wrong);
    }
    let whole = counts.values().filter(|(all, bad)| all == bad).count();
    let part = counts.values().filter(|(all, bad)| *bad > 0 && all != bad).count();
    (whole, part)
}

/// The result of `gridsync demo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Report {
    /// The name of the device.
    pub device: String,
    /// The size.
    #[serde(flatten)]
    pub setup: Setup,
    /// The results in each form.
    pub forms: Vec<Outcome>,
}

/// The results of many runs in one form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Outcome {
    /// The form.
    pub form: Form,
    /// Number of runs.
    pub runs: usize,
    /// Runs with a wrong element.
    pub wrong_runs: usize,
    /// The errors of all runs together. `first` is that of the first wrong run.
    #[serde(flatten)]
    pub wrong: Wrong,
    /// The number of the first wrong run. Not in the JSON.
    #[serde(skip)]
    pub first_wrong: usize,
    /// The timing that was chosen to show the fault, in words. Null if none was chosen.
    pub schedule: Option<&'static str>,
}

impl Outcome {
    /// No runs yet in this form, with this schedule.
    #[must_use]
    pub fn new(form: Form, schedule: Option<&'static str>) -> Self {
        let wrong = Wrong::default();
        Self { form, runs: 0, wrong_runs: 0, wrong, first_wrong: 0, schedule }
    }

    /// Adds a run.
    pub fn add(&mut self, wrong: Option<Wrong>) {
        if let Some(wrong) = wrong {
            let all = &mut self.wrong;
            if self.wrong_runs == 0 {
                (self.first_wrong, all.first) = (self.runs, wrong.first);
            }
            self.wrong_runs += 1;
            all.elements += wrong.elements;
            all.whole_warps += wrong.whole_warps;
            all.broken_warps += wrong.broken_warps;
            all.whole_blocks += wrong.whole_blocks;
            all.broken_blocks += wrong.broken_blocks;
        }
        self.runs += 1;
    }
}

/// Initial values of X: numbers whose mean is rounded, so that each of the first rounds changes X.
pub(super) fn start(elements: usize) -> Vec<f32> {
    (0..elements).map(|j| (j % 1000) as f32 * 0.37 + 1.0).collect()
}

/// Runs X→P→X once in `form` on `device`, each warp delayed by its share of `stagger_ns`.
///
/// # Errors
/// If the device fails, or the grid is too large for the grid barrier.
pub fn run(
    device: &Device,
    form: Form,
    setup: &Setup,
    stagger_ns: u32,
) -> Result<Option<Wrong>, DeviceError> {
    let start = start(setup.elements);
    let expected = reference::xpx(&start, 1);
    let x = device.upload(&start)?;
    let p = device.upload(&vec![f32::NAN; setup.elements])?;
    let geometry = Geometry::new(setup.blocks, setup.threads);
    // SAFETY: X and P have the same length, more than 0. They outlive the launch, because the
    // download waits for it. The grid barrier's words start at 0, and all blocks of its geometry
    // are resident.
    unsafe {
        match form {
            Form::NoBarrier => {
                device.launch::<xpx_no_barrier>(&geometry, (x.view(), p.view(), stagger_ns))?;
            }
            Form::BlockBarrier => {
                device.launch::<xpx_block_barrier>(&geometry, (x.view(), p.view(), stagger_ns))?;
            }
            Form::GridBarrier => {
                let blocks = Blocks::Exactly(setup.blocks);
                let geometry = cooperative::<xpx_grid_barrier>(device, blocks, setup.threads, 0)?;
                let barrier = barrier_words::<GridBarrier>(device, &geometry)?;
                let args = (x.view(), p.view(), stagger_ns, barrier.view(), 1);
                device.launch::<xpx_grid_barrier>(&geometry, args)?;
            }
        }
    }
    Ok(Wrong::of(setup, &x.download()?, &expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETUP: Setup = Setup { elements: 128, blocks: 2, threads: 64 };

    #[test]
    fn wrong_warps_and_wrong_blocks_are_counted_separately() {
        let right = vec![1.0f32; 128];
        assert_eq!(Wrong::of(&SETUP, &right, &right), None);

        let mut warp = right.clone();
        warp[32..64].fill(f32::NAN);
        let wrong = Wrong::of(&SETUP, &warp, &right).expect("a warp should be found wrong");
        assert_eq!((wrong.whole_warps, wrong.broken_warps), (1, 0));
        assert_eq!((wrong.whole_blocks, wrong.broken_blocks), (0, 1));
        assert_eq!(wrong.first, 32..64);

        let mut block = right.clone();
        block[64..].fill(2.0);
        let wrong = Wrong::of(&SETUP, &block, &right).expect("a block should be found wrong");
        assert_eq!((wrong.whole_warps, wrong.whole_blocks), (2, 1));
    }

    #[test]
    fn elements_beyond_the_grid_belong_to_the_warp_that_strides_to_them() {
        let setup = Setup { elements: 300, blocks: 2, threads: 64 };
        assert_eq!(setup.warp_of(128), 0);
        assert_eq!(setup.warp_of(128 + 64), 2);
        assert_eq!(setup.block_of(256 + 63), 0);
    }
}
