//! The times at many shapes, and their charts, Fig. 5 and Fig. 6.

use super::compare::{Comparison, LaunchesError, compare, measure};
use super::form::{Design, Form};
use crate::bench::{Record, Sampling, Warning};
use crate::display::svg::{Axis, Faster, HeatMap, Lines, Role, Series};
use crate::xpx::Setup;
use gridsync::device::Device;

/// Blocks of the grids in both figures.
pub const BLOCKS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Threads of a block in Fig. 5.
pub const THREADS: [u32; 5] = [32, 64, 128, 256, 512];
/// Threads of the whole grid in Fig. 6.
pub const THREADS_IN_ALL: u32 = 1024;

const GRID: Form = Form::Barrier(Design::Grid);

/// A figure. Both have an element for each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The gain of one launch over many, by number of blocks and threads per block.
    Fig5,
    /// The time of each form by number of blocks, with a constant number of threads in the grid.
    Fig6,
}

impl Figure {
    const ALL: [Self; 2] = [Self::Fig5, Self::Fig6];

    /// Number.
    const fn number(self) -> u32 {
        match self {
            Self::Fig5 => 5,
            Self::Fig6 => 6,
        }
    }

    /// Forms in the figure.
    const fn forms(self) -> &'static [Form] {
        match self {
            Self::Fig5 => &[Form::Launches, Form::Graph, GRID],
            Self::Fig6 => &[
                Form::Launches,
                Form::Graph,
                Form::Barrier(Design::GrowingVolatile),
                Form::Barrier(Design::GrowingPtx),
                GRID,
            ],
        }
    }

    /// Shapes in the figure.
    fn setups(self) -> Vec<Setup> {
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

/// Measurements for the figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// A comparison at each shape, with its figure.
    pub points: Vec<(Figure, Comparison)>,
}

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
) -> Result<Sweep, LaunchesError> {
    let mut points = Vec::new();
    for figure in Figure::ALL {
        for setup in figure.setups() {
            let compared = compare(device, figure.forms(), &setup, rounds, sampling, &mut step)?;
            points.push((figure, compared));
        }
    }
    let (_, first) = &points[0];
    if let Some(before) = first.time(Form::Launches) {
        let again = measure(device, Form::Launches, &first.setup, rounds, sampling)?;
        if let Some(drift) = Warning::drift(before, again.time.median) {
            let all = points.iter_mut().flat_map(|(_, point)| &mut point.timed);
            all.for_each(|timed| timed.warnings.push(drift));
        }
    }
    Ok(Sweep { points })
}

impl Sweep {
    fn of(&self, figure: Figure) -> impl Iterator<Item = &Comparison> {
        self.points.iter().filter(move |(of, _)| *of == figure).map(|(_, point)| point)
    }

    /// Fig. 5: the gain of one launch with the
    /// [`GridBarrier`](gridsync_kernels::grid::barrier::GridBarrier) over `many`, in percent.
    #[must_use]
    pub fn fig5(&self, many: Form) -> HeatMap {
        let gain = |blocks, threads| {
            let at = |point: &&Comparison| {
                (point.setup.blocks, point.setup.threads) == (blocks, threads)
            };
            let point = self.of(Figure::Fig5).find(at)?;
            point.gain(GRID, many)
        };
        HeatMap {
            title: format!("X→P→X: gain of one launch over {}", described(many)),
            x: Axis {
                label: "blocks".into(),
                ticks: BLOCKS.map(|blocks| blocks.to_string()).into(),
            },
            y: Axis {
                label: "threads of a block".into(),
                ticks: THREADS.map(|threads| threads.to_string()).into(),
            },
            values: THREADS
                .map(|threads| BLOCKS.map(|blocks| gain(blocks, threads)).to_vec())
                .to_vec(),
            unit: "%".into(),
            faster: Faster::Above,
        }
    }

    /// Fig. 6: the time of each form with [`THREADS_IN_ALL`] threads by number of blocks, relative
    /// to the longest time.
    #[must_use]
    pub fn fig6(&self) -> Lines {
        let times = |form| {
            self.of(Figure::Fig6)
                .filter_map(move |point| Some((f64::from(point.setup.blocks), point.time(form)?)))
        };
        let forms = Figure::Fig6.forms();
        let all = forms.iter().flat_map(|&form| times(form));
        let longest = all.map(|(_, time)| time).fold(0.0, f64::max);
        let series = forms.iter().map(|&form| {
            let role = if form == GRID { Role::Ours } else { Role::Other };
            let points = times(form).map(|(blocks, time)| (blocks, time / longest));
            Series::new(role.named(described(form)), points)
        });
        Lines {
            title: format!("X→P→X with {THREADS_IN_ALL} threads in all"),
            x_label: "blocks".into(),
            y_label: "time, of the longest".into(),
            log2_x: true,
            series: series.collect(),
        }
    }

    /// All measurements.
    #[must_use]
    pub fn records(&self, device: &str) -> Vec<Record> {
        self.points
            .iter()
            .flat_map(|(figure, point)| point.records(device, Some(figure.number())))
            .collect()
    }
}

/// Name of the form in charts.
const fn described(form: Form) -> &'static str {
    match form {
        Form::Launches => "many launches",
        Form::Graph => "a graph",
        Form::Barrier(Design::GrowingVolatile) => "one launch, volatile spin",
        Form::Barrier(Design::GrowingPtx) => "one launch, PTX spin",
        GRID => "one launch, grid barrier",
        other => other.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Spread;
    use crate::launches::Timed;
    use gridsync::device::Geometry;
    use gridsync::launch::Plan;

    /// A sweep in which many launches take 8 µs, the graph 4 µs, and all other forms 5 µs plus 0.1
    /// µs per block.
    fn made_up() -> Sweep {
        let timed = |form, setup: &Setup| {
            let us = match form {
                Form::Launches => 8.0,
                Form::Graph => 4.0,
                _ => 5.0 + 0.1 * f64::from(setup.blocks),
            };
            Timed { form, time: Spread::of(vec![us]).expect("there is a sample"), warnings: vec![] }
        };
        let point = |figure: Figure, setup: Setup| Comparison {
            setup,
            rounds: 100,
            plan: Plan::Single(Geometry::new(setup.blocks, setup.threads)),
            timed: figure.forms().iter().map(|&f| timed(f, &setup)).collect(),
            absent: vec![],
        };
        let points = |figure: Figure| {
            let setups = figure.setups().into_iter();
            setups.map(move |setup| (figure, point(figure, setup)))
        };
        Sweep { points: Figure::ALL.into_iter().flat_map(points).collect() }
    }

    #[test]
    fn fig5_has_thirty_shapes_and_both_figures_an_element_for_each_thread() {
        let sweep = made_up();
        assert_eq!(sweep.records("a GPU").len(), POINTS);
        assert_eq!(sweep.of(Figure::Fig5).count(), 30);
        for point in sweep.of(Figure::Fig6) {
            let Setup { blocks, threads, elements } = point.setup;
            assert_eq!((blocks * threads, elements), (1024, 1024));
        }
    }

    #[test]
    fn fig5_is_above_0_where_the_one_launch_is_faster() {
        let sweep = made_up();
        let corner = |many| sweep.fig5(many).values[0][5].expect("it was measured");
        assert!((corner(Form::Launches) + 2.5).abs() < 1e-9, "8.2 µs against 8");
        let first = sweep.fig5(Form::Launches).values[4][0];
        assert!(first.is_some_and(|z| (z - 36.25).abs() < 1e-9), "5.1 µs against 8: {first:?}");
        assert!(corner(Form::Graph) < -100.0);
        sweep.fig5(Form::Graph).svg().expect("it should be a whole chart");
    }

    #[test]
    fn fig6_is_relative_to_the_longest_time() {
        let chart = made_up().fig6();
        chart.svg().expect("it should be a whole chart");
        let ends: Vec<_> = chart.series.iter().map(|s| s.points[5]).collect();
        assert_eq!(ends.len(), 5);
        assert_eq!(ends[4], (32.0, 1.0.into()), "8.2 µs is the longest");
        assert!((ends[0].1.value - 8.0 / 8.2).abs() < 1e-9);
    }
}
