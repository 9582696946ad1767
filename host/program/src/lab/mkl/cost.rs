//! What a crossing and a launch should cost by their parts, and by the seed's model (row R7).
//!
//! **By parts.** A crossing of the grid barrier by b blocks is what its slowest path has in it:
//!
//! `crossing = 2 · bar.sync + fence + b / clock + seen + look`
//!
//! The block gathers and is let go by a `bar.sync` each; its first thread releases what the block
//! wrote, which costs a fence; the additions to one word of the L2 come one after another, assumed
//! to be one a cycle; the last of them has to be seen by another multiprocessor; and of many blocks
//! one has just looked in vain, and has a round trip to the L2 before it looks again.
//!
//! A stage of w µs in a launch of its own takes the device `w + gap`, with the gap between two
//! launches of a graph; but a launch that the host makes takes the host `launch`, and the longer of
//! the two counts: `max(launch, w + gap)`. With w = half the measured time of a transform in one
//! launch, less a crossing, what one launch saves per transform, two stages, is
//!
//! `over launches: 2 · (max(launch, w + gap) − w − crossing)`, `over a graph: 2 · (gap − crossing)`.
//!
//! **By the seed.** Each block in turn makes 3 accesses of 500 cycles at 1.5 GHz, and a launch takes
//! 10 µs: with its 10 blocks a crossing costs what a launch does.

use super::compare::Comparison;
use super::form::{Design, Form};

/// Cycles of a crossing for each block in the seed's model: 3 accesses of 500.
pub const SEED_CROSSING_CYCLES: f64 = 3.0 * 500.0;
/// Clock in the seed's model, MHz.
pub const SEED_MHZ: f64 = 1500.0;
/// Launch in the seed's model, µs.
pub const SEED_LAUNCH_US: f64 = 10.0;

/// What the parts of a crossing and of a launch take, µs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// `bar.sync` of a block.
    pub block_barrier: f64,
    /// `fence.acq_rel.gpu`.
    pub fence: f64,
    /// From a store until another multiprocessor sees it.
    pub seen: f64,
    /// A load from the L2 that the next one depends on.
    pub look: f64,
    /// From one launch to the next in a chain of empty kernels that the host launches.
    pub launch: f64,
    /// The same in a graph.
    pub gap: f64,
}

impl Terms {
    /// As measured on an H200, `bar.sync` with 256 threads.
    pub const H200: Self = Self {
        block_barrier: 0.019,
        fence: 0.138,
        seen: 0.283,
        look: 0.161,
        launch: 3.2,
        gap: 0.55,
    };

    /// Microseconds of a crossing by so many blocks at a clock of so many MHz.
    #[must_use]
    pub fn crossing(&self, blocks: u32, mhz: f64) -> f64 {
        let additions = f64::from(blocks) / mhz;
        2.0 * self.block_barrier + self.fence + additions + self.seen + self.look
    }
}

/// Microseconds of a crossing by so many blocks in the seed's model.
fn seed_crossing(blocks: u32) -> f64 {
    f64::from(blocks) * SEED_CROSSING_CYCLES / SEED_MHZ
}

/// What one launch behind the [`GridBarrier`](gridsync_kernels::grid::barrier::GridBarrier) saves at
/// one shape, as foretold and as measured. Microseconds; below 0 it costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// A crossing, by its parts.
    pub crossing: f64,
    /// A crossing, by the seed's model.
    pub seed_crossing: f64,
    /// Saved per transform over launches, by the parts.
    pub over_launches: f64,
    /// Saved per transform over a graph, by the parts.
    pub over_graph: f64,
    /// Saved per transform over launches, by the seed's model.
    pub seed_over_launches: f64,
    /// Saved per transform over launches, as measured; none if those were not.
    pub measured_over_launches: Option<f64>,
    /// Saved per transform over a graph, as measured; none if that was not.
    pub measured_over_graph: Option<f64>,
}

impl Prediction {
    /// What is foretold for `compared`, on a device of `mhz`; none if the one launch did not run
    /// there, or the device does not tell its clock, which is then 0.
    #[must_use]
    pub fn of(compared: &Comparison, terms: &Terms, mhz: f64) -> Option<Self> {
        let single = compared.time(Form::Barrier(Design::Grid))?;
        if mhz <= 0.0 {
            return None;
        }
        let blocks = compared.setup.blocks;
        let crossing = terms.crossing(blocks, mhz);
        let seed_crossing = seed_crossing(blocks);
        let stage = (single / 2.0 - crossing).max(0.0);
        let launched = terms.launch.max(stage + terms.gap);
        let saved_over = |form| compared.time(form).map(|many| many - single);
        Some(Self {
            crossing,
            seed_crossing,
            over_launches: 2.0 * (launched - stage - crossing),
            over_graph: 2.0 * (terms.gap - crossing),
            seed_over_launches: 2.0 * (SEED_LAUNCH_US - seed_crossing),
            measured_over_launches: saved_over(Form::Launches),
            measured_over_graph: saved_over(Form::Graph),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Spread;
    use crate::lab::mkl::Timed;
    use crate::lab::xpx::Setup;
    use gridsync::device::Geometry;
    use gridsync::launch::Plan;

    /// What is foretold for so many blocks whose one launch takes so many µs per transform.
    fn foretold(blocks: u32, single: f64) -> Prediction {
        let timed = |form, us| Timed {
            form,
            time: Spread::of(vec![us]).expect("there is a sample"),
            warnings: vec![],
        };
        let compared = Comparison {
            setup: Setup {
                elements: 64,
                blocks,
                threads: 64,
            },
            rounds: 1,
            plan: Plan::Single(Geometry::new(blocks, 64)),
            timed: vec![
                timed(Form::Launches, 7.0),
                timed(Form::Barrier(Design::Grid), single),
            ],
            absent: vec![],
        };
        Prediction::of(&compared, &Terms::H200, 1000.0).expect("the one launch is there")
    }

    #[test]
    fn the_seeds_ten_blocks_cross_in_the_time_of_a_launch() {
        let seed = foretold(10, 4.0);
        assert!((seed.seed_crossing - SEED_LAUNCH_US).abs() < 1e-9);
        assert!(seed.seed_over_launches.abs() < 1e-9);
    }

    #[test]
    fn a_launch_by_the_host_hides_behind_a_long_stage_and_shows_behind_a_short_one() {
        let crossing = Terms::H200.crossing(100, 1000.0);
        assert!((crossing - (2.0 * 0.019 + 0.138 + 0.1 + 0.283 + 0.161)).abs() < 1e-9);
        let short = foretold(100, 2.0 * (1.0 + crossing));
        assert!((short.over_launches - 2.0 * (3.2 - 1.0 - crossing)).abs() < 1e-9);
        let long = foretold(100, 2.0 * (50.0 + crossing));
        assert!((long.over_launches - 2.0 * (0.55 - crossing)).abs() < 1e-9);
        assert!((long.over_launches - long.over_graph).abs() < 1e-9);
        assert_eq!(long.measured_over_graph, None);
        let measured = long.measured_over_launches.expect("both were measured");
        assert!((measured - (7.0 - 2.0 * (50.0 + crossing))).abs() < 1e-9);
    }
}
