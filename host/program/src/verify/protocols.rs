//! Every protocol between threads that gridsync has, each in a small grid with checked results.
//!
//! `gridsync emulate` runs them under many schedules, and with one place weaker than it is written.

use super::{
    CaseError, Crossing, DESIGNS, Ties, kendall_kinds, range_sum_kinds, reduce_kinds, row_kinds,
    scan_kinds, select_kinds,
};
use crate::lab::dag::{Method, RunError, Runner, Work};
use crate::lab::locks::field::Field;
use crate::lab::locks::{Grid, LOCKS};
use crate::lab::xpx::{self, Form, Setup};
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::check::Wrong;
use gridsync::device::{Device, Geometry};
use gridsync::launch::{Blocks, barrier_words, cooperative};
use gridsync::primitives::kendall::Method as Correlating;
use gridsync_kernels::grid::barrier::{Barrier, BoundedBarrier, Exchange, GridBarrier};
use gridsync_lab_kernels::barrier::{
    bounded_barrier_rounds, exchange_in_order, exchange_rounds, exchange_votes,
    phased_barrier_rounds, subset_barrier_rounds,
};

/// A protocol, and a run of it that is small and says whether it went right.
pub struct Protocol {
    /// What it is called, such as `barrier/tree`.
    pub name: String,
    run: Box<Run>,
}

type Run = dyn Fn(&Device) -> Result<(), CaseError> + Send + Sync;

impl Protocol {
    fn new(
        name: impl Into<String>,
        run: impl Fn(&Device) -> Result<(), CaseError> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }

    /// Runs it on `device`.
    ///
    /// # Errors
    /// What is wrong with its results, and those of the device.
    pub fn run(&self, device: &Device) -> Result<(), Wrong> {
        (self.run)(device).map_err(|error| match error {
            CaseError::Device(error) => Wrong::Device(error),
            CaseError::Wrong(what) => Wrong::Result(what),
        })
    }
}

/// Threads of a block: a warp and one more, so that warps have to meet, and one is not whole.
const THREADS: u32 = 33;

/// All protocols.
#[must_use]
pub fn protocols() -> Vec<Protocol> {
    let mut all = barriers();
    all.extend(exchanges());
    all.extend(LOCKS.iter().filter(|lock| lock.name != "textbook").map(|&lock| {
        Protocol::new(format!("lock/{}", lock.name.replace(' ', "-")), move |device| {
            let grid = Grid { blocks: 3, threads: 2 };
            let field = Field::new(device, lock, grid, u64::MAX)?;
            let wrong = field.count(12)?.wrong();
            right(wrong.or(field.push(2)?.wrong()))
        })
    }));
    all.extend(primitives());
    all.extend(
        [Method::Levels, Method::Edges, Method::Turns, Method::Words, Method::WordTurns].map(tasks),
    );
    all.push(Protocol::new("xpx", |device| {
        let setup = Setup { elements: 100, blocks: 3, threads: THREADS };
        right(xpx::run(device, Form::GridBarrier, &setup, 0)?.map(|wrong| format!("{wrong:?}")))
    }));
    all
}

/// Ok if nothing is wrong.
fn right(wrong: Option<String>) -> Result<(), CaseError> {
    wrong.map_or(Ok(()), |what| Err(CaseError::Wrong(what)))
}

/// Ok if a launch has counted no errors.
fn none(errors: u32) -> Result<(), CaseError> {
    right((errors > 0).then(|| format!("{errors} stale or wrong words")))
}

fn barriers() -> Vec<Protocol> {
    let designs = DESIGNS.iter().map(|design| {
        // More than one counter, and more than one cluster.
        let blocks = match design.name {
            "split-4" => 6,
            "cluster-2" => 4,
            "cluster-4" => 8,
            _ => 3,
        };
        let crossing = Crossing { rounds: 3, ..Crossing::of(Blocks::Exactly(blocks), THREADS) };
        Protocol::new(format!("barrier/{}", design.name), move |device| {
            design.case(device, &crossing)
        })
    });
    let mut all: Vec<Protocol> =
        designs.filter(|design| design.name != "barrier/cluster-1").collect();
    all.push(Protocol::new("barrier/in-phases", |device| {
        let (geometry, threads) = grid::<phased_barrier_rounds>(device, 3, THREADS)?;
        let barrier = barrier_words::<GridBarrier>(device, &geometry)?;
        let (cells, errors) = (device.zeroed::<u32>(threads)?, device.zeroed::<u32>(1)?);
        let work = device.zeroed::<u32>(threads)?;
        let args = (barrier.view(), cells.view(), errors.view(), work.view(), 3, 0);
        // SAFETY: the barrier's words, a word of each other array for each thread, and a counter, alive until the
        // download. All blocks are resident.
        unsafe { device.launch::<phased_barrier_rounds>(&geometry, args)? };
        none(errors.download()?[0])
    }));
    all.push(Protocol::new("barrier/of-subsets", |device| {
        let (geometry, threads) = grid::<subset_barrier_rounds>(device, 4, THREADS)?;
        let barriers = device.zeroed::<u32>(2 * GridBarrier::words(2))?;
        let (cells, errors) = (device.zeroed::<u32>(threads)?, device.zeroed::<u32>(1)?);
        let args = (barriers.view(), cells.view(), errors.view(), 3, 0);
        // SAFETY: as above, with the words of two barriers.
        unsafe { device.launch::<subset_barrier_rounds>(&geometry, args)? };
        none(errors.download()?[0])
    }));
    all.push(Protocol::new("barrier/bounded", |device| {
        for absent in [3, 2] {
            let (geometry, _) = grid::<bounded_barrier_rounds>(device, 3, THREADS)?;
            let words = device.zeroed::<u32>(BoundedBarrier::words(3))?;
            let crossed = device.zeroed::<u32>(3)?;
            let args = (words.view(), crossed.view(), 3, 50_000_000, absent, 1);
            // SAFETY: the words of the barrier, and one for each block, alive until the downloads. All blocks are
            // resident.
            unsafe { device.launch::<bounded_barrier_rounds>(&geometry, args)? };
            let missing = BoundedBarrier::missing(&words.download()?, 3);
            let (crossed, ranks) = (crossed.download()?, missing.map(|missing| missing.ranks));
            let expected = match absent {
                3 => (vec![3; 3], None),
                _ => (vec![1; 3], Some(vec![2])),
            };
            if (&crossed, &ranks) != (&expected.0, &expected.1) {
                let what = format!("crossed {crossed:?}, missing {ranks:?}, not {expected:?}");
                return Err(CaseError::Wrong(what));
            }
        }
        Ok(())
    }));
    all
}

fn exchanges() -> Vec<Protocol> {
    vec![
        Protocol::new("exchange/all-reduce", exchange::<exchange_rounds>),
        Protocol::new("exchange/in-order", exchange::<exchange_in_order>),
        Protocol::new("exchange/votes", exchange::<exchange_votes>),
    ]
}

/// Crosses two exchanges for three rounds.
fn exchange<K: Kernel<Args = (Global<u64>, Global<u32>, u32, u32)>>(
    device: &Device,
) -> Result<(), CaseError> {
    let (geometry, _) = grid::<K>(device, 3, 64)?;
    let words = device.zeroed::<u64>(2 * Exchange::words(3))?;
    let errors = device.zeroed::<u32>(1)?;
    // SAFETY: the words of two exchanges and a counter, alive until the download. Warps are whole, and all blocks
    // are resident.
    unsafe { device.launch::<K>(&geometry, (words.view(), errors.view(), 3, 0))? };
    none(errors.download()?[0])
}

/// A grid of so many blocks and threads, and all its threads.
fn grid<K: Kernel>(
    device: &Device,
    blocks: u32,
    threads: u32,
) -> Result<(Geometry, usize), CaseError> {
    let geometry = cooperative::<K>(device, Blocks::Exactly(blocks), threads, 0)?;
    Ok((geometry, (blocks * threads) as usize))
}

/// Sums whose values travel in one word and in two.
const NARROW_AND_WIDE: [&str; 2] = ["sum_f32", "sum_f64"];

/// The primitives, each for elements whose results travel in one word and in several.
fn primitives() -> Vec<Protocol> {
    let mut all = Vec::new();
    for kind in reduce_kinds().into_iter().filter(|kind| NARROW_AND_WIDE.contains(&kind.name)) {
        all.push(Protocol::new(format!("reduce/{}", kind.element), move |device| {
            (kind.case)(device, 2 * kind.tile + 1, 1)
        }));
    }
    for kind in row_kinds().into_iter().filter(|kind| NARROW_AND_WIDE.contains(&kind.name)) {
        all.push(Protocol::new(format!("reduce-rows/{}", kind.element), move |device| {
            (kind.case)(device, 2, 8193, 1)
        }));
    }
    for kind in scan_kinds().into_iter().filter(|kind| NARROW_AND_WIDE.contains(&kind.name)) {
        all.push(Protocol::new(format!("scan/{}", kind.element), move |device| {
            (kind.in_groups)(device, 1)
        }));
    }
    for kind in select_kinds().into_iter().filter(|kind| kind.element == "u32") {
        all.push(Protocol::new(format!("select/{}", kind.op), move |device| {
            (kind.in_groups)(device, 1)
        }));
    }
    for kind in range_sum_kinds().into_iter().filter(|kind| kind.element == "f32") {
        all.push(Protocol::new(format!("range-sum/{}", kind.accumulator), move |device| {
            (kind.case)(device, 5000, 1)
        }));
    }
    for kind in kendall_kinds().into_iter().filter(|kind| kind.element == "f32") {
        for (name, method) in [("pairs", Correlating::Pairs), ("sort", Correlating::Sort)] {
            all.push(Protocol::new(format!("kendall/{name}"), move |device| {
                (kind.case)(device, Ties::Many, &[method], 130, 1)
            }));
        }
    }
    all
}

/// Tasks of one kernel: a graph with joins, in three blocks, twice.
fn tasks(method: Method) -> Protocol {
    Protocol::new(format!("tasks/{}", method.name()), move |device| {
        let failed = |error: RunError| match error {
            RunError::Device(error) => CaseError::Device(error),
            error => CaseError::Wrong(error.to_string()),
        };
        let work = Work { threads: 64, ..Work::random(3, 12) };
        let runner = Runner::new(device, &work, false).map_err(failed)?;
        let ready = runner.ready(method, 3).map_err(failed)?;
        for _ in 0..2 {
            ready.launch()?;
        }
        right(ready.refused()?.or(runner.wrong()?))
    })
}
