//! Every protocol between threads in gridsync, each in a small grid with checked results.
//!
//! `gridsync emulate` runs them under many schedules, and with one ordering or wait weakened.

mod barriers;
mod blocks;
mod bulk;
mod histograms;
mod kernels;
mod ladders;
mod ranks;
mod sorts;
mod spread;
mod system;

use crate::dag::{Method, RunError, Runner, Work};
use crate::ladder::{self, scans, sums};
use crate::locks::field::Field;
use crate::locks::{Grid, LOCKS};
use crate::xpx::{self, Form, Setup};
use barriers::{barriers, exchanges};
use gridsync::check::Wrong;
use gridsync::device::{Device, EmulatorConfig, Geometry};
use gridsync::primitives::kendall::{KendallError, Method as Correlating, kendall};
use gridsync::primitives::range_sum::{RangeSumError, RangeSums};
use gridsync_kernels::op::Sum;
use gridsync_verify::{CaseError, Kind, Lens, Primitive, Size, Ties, kinds};
use kernels::warps_add;

/// A protocol, and a small run of it that checks its results.
pub struct Protocol {
    /// Name, such as `barrier/tree`.
    pub name: String,
    /// The emulated GPU that it runs on.
    pub config: EmulatorConfig,
    run: Box<Run>,
}

type Run = dyn Fn(&Device) -> Result<(), CaseError> + Send + Sync;

impl Protocol {
    fn new(
        name: impl Into<String>,
        run: impl Fn(&Device) -> Result<(), CaseError> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), config: EmulatorConfig::default(), run: Box::new(run) }
    }

    /// Runs it on `device`.
    ///
    /// # Errors
    /// If a result is wrong or the device fails.
    pub fn run(&self, device: &Device) -> Result<(), Wrong> {
        (self.run)(device).map_err(|error| match error {
            CaseError::Device(error) => Wrong::Device(error),
            CaseError::Wrong(what) => Wrong::Result(what),
        })
    }
}

/// Threads of a block: a warp and one thread, so that warps have to synchronize, and one is
/// partial.
const THREADS: u32 = 33;

/// All protocols.
#[must_use]
pub fn protocols() -> Vec<Protocol> {
    let mut all = barriers();
    all.extend(exchanges());
    all.extend(system::all());
    all.extend(locks());
    all.extend(primitives());
    all.push(Protocol::new("range-sum/bad", first_bad_range));
    all.push(Protocol::new("kendall/nan", first_nan));
    all.push(bulk::scan());
    all.extend(blocks::all());
    all.extend(sorts::all());
    all.extend(ranks::all());
    all.extend(histograms::all());
    all.extend(spread::all());
    all.extend(ladders::rungs::<sums::Climb<f32>>());
    all.extend(ladders::rungs::<scans::Climb>());
    all.extend(ladders::rungs::<ladder::sorts::Climb>());
    all.extend(
        [Method::Levels, Method::Edges, Method::Turns, Method::Words, Method::WordTurns].map(tasks),
    );
    all.push(Protocol::new("xpx", |device| {
        let setup = Setup { elements: 128, blocks: 2, threads: 64 };
        right(xpx::run(device, Form::GridBarrier, &setup, 0)?.map(|wrong| format!("{wrong:?}")))
    }));
    all.extend(segments());
    all
}

/// Ok if `wrong` is `None`.
fn right(wrong: Option<String>) -> Result<(), CaseError> {
    wrong.map_or(Ok(()), |what| Err(CaseError::Wrong(what)))
}

/// The locks of the library, acquired by threads and by whole warps.
fn locks() -> Vec<Protocol> {
    let library = LOCKS.iter().filter(|lock| lock.name != "textbook");
    let by_threads = library.map(|&lock| {
        Protocol::new(format!("lock/{}", lock.name.replace(' ', "-")), move |device| {
            let field = Field::new(device, lock, Grid { blocks: 3, threads: 2 }, u64::MAX)?;
            let (counted, pushed) = (field.count(12)?, field.push(2)?);
            let gave_up = counted.gave_up + pushed.gave_up;
            right((gave_up > 0).then(|| format!("{gave_up} threads gave up")))?;
            right(counted.wrong().or(pushed.wrong()))
        })
    });
    let by_lanes = Protocol::new("lock/lanes", |device| {
        let (lock, counts) = (device.zeroed::<u32>(1)?, device.zeroed::<u32>(32)?);
        // SAFETY: the buffers have a word of a lock and 32 counts, which live until the download.
        // Warps are whole.
        unsafe {
            let geometry = Geometry::new(2, 64);
            device.launch::<warps_add>(&geometry, (lock.view(), counts.view(), 2))?;
        }
        let counts = counts.download()?;
        right((counts != [16; 32]).then(|| format!("lanes counted {counts:?}, not 16 each")))
    });
    by_threads.chain([by_lanes]).collect()
}

/// Sums whose values are passed in one word and in two.
const NARROW_AND_WIDE: [&str; 2] = ["sum_f32", "sum_f64"];

fn is_sum(kind: &&'static Kind) -> bool {
    NARROW_AND_WIDE.contains(&kind.name)
}

/// The primitives, each for elements whose results are passed in one word and in several.
fn primitives() -> Vec<Protocol> {
    let mut all = Vec::new();
    let mut add = |name: String, kind: &'static Kind, size, seed| {
        all.push(Protocol::new(name, move |device| kind.run(device, size, seed)));
    };
    for kind in kinds(Primitive::Reduce).filter(is_sum) {
        add(format!("reduce/{}", kind.element), kind, Size::Array(2 * kind.tile + 1), 1);
    }
    for kind in kinds(Primitive::Rows).filter(is_sum) {
        add(format!("reduce-rows/{}", kind.element), kind, Size::Matrix(2, 8193), 1);
    }
    for kind in kinds(Primitive::Scan).filter(is_sum) {
        add(format!("scan/{}", kind.element), kind, Size::Groups(1), 9);
    }
    for kind in kinds(Primitive::Select).filter(|kind| kind.element == "u32") {
        add(format!("select/{}", kind.op), kind, Size::Groups(1), 9);
    }
    for kind in kinds(Primitive::Ranges).filter(|kind| kind.element == "f32") {
        add(format!("range-sum/{}", kind.accumulator), kind, Size::Array(5000), 1);
    }
    for kind in kinds(Primitive::Kendall).filter(|kind| kind.element == "f32") {
        // More than one block each; a tile of the merge sort has 2048 keys.
        let (pairs, sort) = (&[Correlating::Pairs], &[Correlating::Sort]);
        add("kendall/pairs".into(), kind, Size::Pairs(257, Ties::Many, pairs), 1);
        add("kendall/sort".into(), kind, Size::Pairs(2100, Ties::Many, sort), 1);
    }
    all
}

/// Sums of segments, each of which ends in another tile.
fn segments() -> impl Iterator<Item = Protocol> {
    kinds(Primitive::Segments).filter(is_sum).map(|kind| {
        let size = Size::Ragged(3 * kind.tile, Lens::Of(kind.tile + 9));
        let name = format!("segments/{}", kind.element);
        Protocol::new(name, move |device| kind.run(device, size, 1))
    })
}

/// Queries in two blocks, of which every seventh is not a range. The first of these is reported.
fn first_bad_range(device: &Device) -> Result<(), CaseError> {
    let input = device.upload(&[1u64; 9])?;
    let mut sums = RangeSums::<Sum<u64>>::new(device, &input)?;
    let queries: Vec<[u64; 2]> =
        (0..300).map(|query| if query % 7 == 3 { [8, 5] } else { [2, 6] }).collect();
    let found = match sums.query(&queries) {
        Err(RangeSumError::Device(error)) => return Err(error.into()),
        Err(RangeSumError::BadRange(bad)) => Some(bad.query),
        _ => None,
    };
    right((found != Some(3)).then(|| format!("{found:?} is the first query that is wrong, not 3")))
}

/// Arrays in two blocks with NaNs in both, of which the first is reported.
fn first_nan(device: &Device) -> Result<(), CaseError> {
    let mut input = vec![1.5f32; 1100];
    (40..1100).step_by(60).for_each(|at| input[at] = f32::NAN);
    let array = device.upload(&input)?;
    match kendall(&array, &array) {
        Err(KendallError::NotANumber { array: 'x', index: 40 }) => Ok(()),
        Err(KendallError::Device(error)) => Err(error.into()),
        other => Err(CaseError::Wrong(format!("{other:?}, but x[40] is the first NaN"))),
    }
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
