//! The times at many shapes, for Fig. 5 and Fig. 6.

use super::compare::{Comparison, LaunchesError, compare, measure};
use super::form::{Design, Form};
use crate::bench::{Sampling, Warning};
use crate::xpx::Setup;
use gridsync::device::Device;

/// Blocks of the grids in both figures.
pub const BLOCKS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Threads of a block in Fig. 5.
pub const THREADS: [u32; 5] = [32, 64, 128, 256, 512];
/// Threads of the whole grid in Fig. 6.
pub const THREADS_IN_ALL: u32 = 1024;

/// A figure. Both have an element for each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The gain of one launch over many, by number of blocks and threads per block.
    Fig5,
    /// The time of each form by number of blocks, with a constant number of threads in the grid.
    Fig6,
}

impl Figure {
    pub(super) const ALL: [Self; 2] = [Self::Fig5, Self::Fig6];

    /// Number.
    pub(super) const fn number(self) -> u32 {
        match self {
            Self::Fig5 => 5,
            Self::Fig6 => 6,
        }
    }

    /// Forms in the figure.
    pub(super) const fn forms(self) -> &'static [Form] {
        match self {
            Self::Fig5 => &[Form::Launches, Form::Graph, Form::GRID],
            Self::Fig6 => &[
                Form::Launches,
                Form::Graph,
                Form::Barrier(Design::GrowingVolatile),
                Form::Barrier(Design::GrowingPtx),
                Form::GRID,
            ],
        }
    }

    /// Shapes in the figure.
    pub(super) fn setups(self) -> Vec<Setup> {
        let setup = |blocks: u32, threads: u32| Setup {
            elements: (blocks * threads) as usize,
            blocks,
            threads,
        };
        BLOCKS
            .into_iter()
            .flat_map(|blocks| match self {
                Self::Fig5 => THREADS.map(|threads| setup(blocks, threads)).to_vec(),
                Self::Fig6 => vec![setup(blocks, THREADS_IN_ALL / blocks)],
            })
            .collect()
    }
}

/// Number of points in a [`sweep`]. Each point is a form at a shape.
pub const POINTS: usize = BLOCKS.len() * (3 * THREADS.len() + 5);

/// Measures the forms of both figures at their shapes with [`compare`]. Calls `step` before each
/// point.
///
/// At the end the first point is measured again. If it moved, every point gets a
/// [`Warning::Drift`].
///
/// # Errors
/// As for [`compare`].
///
/// # Panics
/// As for [`compare`].
pub fn sweep(
    device: &Device,
    rounds: u32,
    sampling: &Sampling,
    mut step: impl FnMut(Form, &Setup),
) -> Result<Vec<(Figure, Comparison)>, LaunchesError> {
    let mut points = Vec::new();
    for figure in Figure::ALL {
        for setup in figure.setups() {
            let compared = compare(device, figure.forms(), &setup, rounds, sampling, &mut step)?;
            points.push((figure, compared));
        }
    }
    if let Some(before) = points[0].1.time(Form::Launches) {
        let first = Figure::ALL[0].setups()[0];
        let again = measure(device, Form::Launches, &first, rounds, sampling)?;
        if let Some(drift) = Warning::drift(before, again.us_per_transform) {
            let all = points.iter_mut().flat_map(|(_, point)| &mut point.forms);
            all.for_each(|timed| timed.warnings.push(drift));
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fig5_has_thirty_shapes_and_both_figures_an_element_for_each_thread() {
        assert_eq!(Figure::Fig5.setups().len(), 30);
        for Setup { blocks, threads, elements } in Figure::Fig6.setups() {
            assert_eq!((blocks * threads, elements), (1024, 1024));
        }
    }
}
