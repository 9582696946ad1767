//! A fault in the device library names a line of the caller, at each step of each function.

use std::fs;
use std::path::Path;

use crate::support::{Zeros, launch};
use cuda_std::memory::Global;
use cuda_std::prelude::{shared_array, thread};
use gridsync_kernels::block::{self, Slots};
use gridsync_kernels::grid::barrier::*;
use gridsync_kernels::grid::histogram::{self, Counts, Layout, Numbers, Sums};
use gridsync_kernels::grid::kendall::{self, Side};
use gridsync_kernels::grid::lock::{Lock, QueueLock, SpinLock, TicketLock};
use gridsync_kernels::grid::rank::{self, Bracket, Candidates, FOUND, OPEN, Places};
use gridsync_kernels::grid::reduce::{self, Batch};
use gridsync_kernels::grid::scan::{self, Form, Mode, Shape, Stripes};
use gridsync_kernels::grid::select::{Outputs, Within};
use gridsync_kernels::grid::sort::{
    self, Arrays, COUNT_THREADS, Floats, Integers, Nothing, Portions, Small, State, Task, WORDS,
};
use gridsync_kernels::grid::tasks::Tasks;
use gridsync_kernels::grid::{self, merge_sort, range_sum};
use gridsync_kernels::op::{Compensated, CompensatedSum, InSegments, Operation, Segments, Sum};
use gridsync_kernels::warp;
use gridsync_lab_kernels::barrier::{
    ClusterBarrier, FlipBarrier, GenerationBarrier, GrowingBarrier, LockFreeBarrier, PhaseBarrier,
    Ptx, ReleaseBarrier, TreeBarrier, Volatile,
};
use gridsync_lab_kernels::ladder::{scans::*, sums::*};
use simt::{Fault, LaunchConfig, Policy, Schedule};

type Add = Sum<u32>;

/// How a case is launched.
#[derive(Clone, Copy)]
struct On {
    grid: u32,
    block: u32,
    dynamic_shared: usize,
}

const fn on(grid: u32, block: u32) -> On {
    On { grid, block, dynamic_shared: 0 }
}

/// The most steps at which `walk` stops a launch.
const STOPS: u64 = 25;

/// Stops a kernel after more and more steps, up to its end, under several schedules. Wherever a
/// thread is at that time, the fault must name a line of this file.
#[track_caller]
fn walk(name: &str, on: On, kernel: impl Fn(Zeros)) {
    for seed in 0..2 {
        let policy = Policy::Random { quantum: 1 };
        let mut config = LaunchConfig {
            schedule: Schedule::seeded(policy, seed),
            dynamic_shared: on.dynamic_shared,
            shared_per_block: 228 << 10,
            ..LaunchConfig::new(name, on.grid, on.block)
        };
        let steps = match launch(&config, &kernel) {
            Ok(steps) => steps,
            Err(fault) => panic!("{fault}"),
        };
        let stride = steps.div_ceil(STOPS) as usize;
        for limit in (1..steps).skip(seed as usize % stride).step_by(stride) {
            config.step_limit = limit;
            let fault = launch(&config, &kernel).expect_err("it takes more steps");
            assert!(matches!(fault, Fault::StepLimit { .. }), "{fault}");
            let Some(site) = fault.site() else { continue };
            assert_eq!(site.place.file(), file!(), "step {limit} of {name}: {fault}");
        }
    }
}

/// Walks through cases. Each case is an expression that may use `zeros`.
macro_rules! walk {
    ($($on:expr => |$zeros:ident| $kernel:expr;)*) => {$(
        walk(stringify!($kernel), $on, |$zeros| {
            let _ = $kernel;
        });
    )*};
}

shared_array! {
    fn slots() -> [u32; 128];
}

#[test]
fn faults_in_warp_and_block_functions_name_the_caller() {
    let op = Add::new();
    let lane = cuda_std::warp::lane_id;
    let four = CompensatedSum::<f64>::new().identity();
    walk! {
        on(1, 32) => |_zeros| warp::reduce(op, lane());
        on(1, 32) => |_zeros| warp::reduce_groups::<Add, 8>(op, lane());
        on(1, 32) => |_zeros| warp::reduce_rows(op, [lane(); 8]);
        on(1, 32) => |_zeros| warp::scan_rows(op, [lane(); 8]);
        on(1, 32) => |_zeros| warp::scan(op, lane());
        on(1, 32) => |_zeros| warp::scan_each(op, [lane(), 2]);
        on(1, 32) => |_zeros| warp::scan_exclusive(op, lane());
        on(1, 32) => |_zeros| warp::before(op, lane());
        on(1, 32) => |_zeros| warp::total(lane());
        on(1, 32) => |_zeros| warp::swap(u64::from(lane()), 3);
        on(1, 32) => |_zeros| warp::of_lane(four, 3);
        on(2, 96) => |_zeros| block::reduce(op, lane());
        on(2, 96) => |_zeros| block::scan(op, lane());
        on(2, 96) => |_zeros| block::scan_exclusive(op, lane());
        on(1, 32) => |_zeros| {
            let slots = Slots::new(slots(), 4);
            slots.write(lane() as usize, four);
            slots.read::<Compensated<f64>>(lane() as usize)
        };
        on(1, 4) => |zeros| {
            // SAFETY: a word for 32 elements.
            let segments = unsafe { Segments::marked(zeros.of(0, 1)) };
            let first = segments.starts(1);
            (first, InSegments::<Add>::new(segments).lift(1, 2))
        };
    }
}

/// Attaches to a barrier, and crosses it in both forms.
macro_rules! cross {
    ($($barrier:ty),*) => {
        walk! {$(
            on(3, 64) => |zeros| {
                let words = zeros.of(0, <$barrier>::words(3));
                let mut barrier = <$barrier>::attach(words);
                barrier.sync();
                barrier.arrive();
                barrier.wait()
            };
        )*}
    };
}

#[test]
fn faults_in_barriers_name_the_caller() {
    let op = Add::new();
    let lane = cuda_std::warp::lane_id;
    cross!(GridBarrier, PhaseBarrier, FlipBarrier, SplitBarrier<4>, LateBarrier, GrowingBarrier);
    cross!(GrowingBarrier<Volatile>, GrowingBarrier<Ptx>, GenerationBarrier, LockFreeBarrier);
    cross!(ReleaseBarrier, TreeBarrier, ClusterBarrier);
    walk! {
        on(3, 64) => |zeros| {
            let all = Members::grid();
            let mut barrier = PhaseBarrier::attach_among(zeros.of(0, 1), all);
            barrier.sync();
        };
        on(3, 64) => |zeros| {
            let words = zeros.of(0, BoundedBarrier::words(3));
            let mut barrier = BoundedBarrier::attach(words, Members::grid(), 1_000_000);
            let first = barrier.sync();
            first.and(barrier.sync())
        };
        on(40, 32) => |zeros| {
            let mut exchange = Exchange::attach(zeros.of(0, Exchange::words(40)));
            let sum = exchange.all_reduce(Sum::<u64>::new(), 1);
            exchange.broadcast(2, sum)
        };
        on(2, 64) => |zeros| {
            let words = zeros.of(0, Exchange::words(2));
            Exchange::attach_among(words, Members::grid()).all_reduce(Add::new(), 1)
        };
        on(3, 64) => |zeros| {
            let words = zeros.of(0, Exchange::words(3));
            let mut exchange = Exchange::attach_nth::<2>(words, Members::grid());
            let before = exchange.arrive(op, lane()).wait_prefix();
            (exchange.scan(op, 1), exchange.scan_threads(op, lane()), before)
        };
        on(3, 64) => |zeros| {
            let mut exchange = Exchange::attach(zeros.of(0, Exchange::words(3)));
            exchange.gather(lane(), |values| values.of(values.count()))
        };
        // Words of zeros contain no GPU, so no thread waits for one.
        on(2, 64) => |zeros| {
            let mut barrier = SystemBarrier::attach(zeros.of(0, SystemBarrier::words(2)));
            barrier.arrive();
            barrier.wait();
            barrier.sync();
        };
        on(2, 64) => |zeros| {
            let words = zeros.of(0, BoundedSystemBarrier::words(2));
            BoundedSystemBarrier::attach(words, 1_000_000).sync()
        };
        on(2, 64) => |zeros| {
            let mut exchange = SystemExchange::attach(zeros.of(0, SystemExchange::words(2)));
            let sum = exchange.all_reduce(op, lane());
            (exchange.scan(op, 1), exchange.broadcast(0, 1, sum))
        };
        on(2, 64) => |zeros| {
            let mut exchange = SystemExchange::attach(zeros.of(0, SystemExchange::words(2)));
            (exchange.any(true), exchange.all(true), exchange.count(true))
        };
        on(2, 64) => |zeros| {
            let mut exchange = Exchange::attach(zeros.of(0, Exchange::words(2)));
            (exchange.any(true), exchange.all(true), exchange.count(true))
        };
    }
    // Block 1 records that block 0 is missing.
    let missing = |zeros: Zeros| {
        let words = zeros.of(0, BoundedBarrier::words(2));
        if thread::block_index() == 1 {
            let mut barrier = BoundedBarrier::attach(words, Members::grid(), 1_000);
            let expired = barrier.sync();
            assert!(expired.is_err());
        }
    };
    walk("a missing block", on(2, 32), missing);
}

/// Acquires a lock in each form.
macro_rules! take {
    ($($attach:expr;)*) => {
        walk! {$(
            on(2, 33) => |zeros| {
                let mut lock = $attach(zeros);
                let word = zeros.of::<u32>(1, 1);
                lock.with(|| word.write(0, 1));
                drop(lock.lock());
                drop(lock.lock_unless(|| false));
            };
        )*}
    };
}

#[test]
fn faults_in_locks_name_the_caller() {
    take! {
        |zeros: Zeros| SpinLock::attach(zeros.of(0, SpinLock::words()));
        |zeros: Zeros| TicketLock::attach(zeros.of(0, TicketLock::words()));
        // SAFETY: each thread has its own node.
        |zeros: Zeros| unsafe {
            QueueLock::attach(zeros.of(0, QueueLock::words(66)), thread::index())
        };
    }
    walk! {
        on(2, 32) => |zeros| {
            let mut lock = SpinLock::attach(zeros.of(0, 1));
            let word = zeros.of::<u32>(1, 1);
            let guard = lock.warp_lock(u32::MAX);
            guard.in_turn(|| word.write(0, 1));
            drop(guard);
            drop(lock.warp_lock_unless(u32::MAX, || false));
            lock.warp_with(u32::MAX, || ());
        };
        on(1, 2) => |zeros| {
            let mut lock = SpinLock::attach(zeros.of(0, 1));
            drop(lock.try_lock());
        };
    }
}

#[test]
fn faults_in_reductions_name_the_caller() {
    let op = Add::new();
    let workspace = |zeros: Zeros| grid::Workspace {
        words: zeros.of(1, reduce::MOST_TILES),
        state: zeros.of(2, reduce::STATE),
    };
    let shape = reduce::Shape::of::<u32>(9000);
    let long = reduce::Shape::of::<u32>(3000);
    let batch = Batch::of::<u32>(40).expect("forty elements are a short row");
    walk! {
        on(shape.tiles, 32 * shape.warps) => |zeros|
            grid::reduce(op, zeros.of(0, 9000), workspace(zeros), zeros.of(3, 1), shape.runs);
        on(long.tiles, 32 * long.warps) => |zeros| reduce::reduce_long_rows(
            op, zeros.of(0, 3000), workspace(zeros), zeros.of(3, 1), 3000, long.runs);
        on(1, 32) => |zeros|
            reduce::reduce_short_rows(op, zeros.of(0, 280), zeros.of(3, 7), 40, batch);
    }
}

fn scan_workspace(zeros: Zeros) -> grid::Workspace {
    grid::Workspace { words: zeros.of(1, 4096), state: zeros.of(2, scan::STATE) }
}

const MODE: Mode = Mode { form: Form::Inclusive, goes_on: true, leaves: true, in_second: false };

#[test]
fn faults_in_tasks_name_the_caller() {
    // A plan of zeros has no tasks, so only the end of the list is reached.
    walk! {
        on(2, 64) => |zeros| {
            let mut tasks = Tasks::attach(zeros.of(0, 40), zeros.of(1, 8));
            while let Some(task) = tasks.next() {
                if !task.is_barrier() {
                    let words = zeros.of(2, 8);
                    task.send(words, 0, task.argument(0));
                    let value = task.input(0) + task.receive(words, [0])[0];
                    task.finish(value);
                }
            }
        };
    }
}

#[test]
fn faults_in_scans_and_selections_name_the_caller() {
    let op = Add::new();
    let workspace = scan_workspace;
    let shape = Shape::with::<u32>(3000, 2, 1, 4);
    let bulk = On { dynamic_shared: scan::BULK_SHARED as usize, ..on(1, scan::BULK_THREADS) };
    let tiles = Shape::for_bulk::<u32>(9000).tiles;
    // A head of zeros contains no GPU, so nothing is sent: an array of one tile needs nothing.
    let (one, stripes) = (Shape::with::<u32>(200, 2, 1, 4), Stripes { tiles: 1, stamp: 1 });
    let form = Form::Inclusive;
    let outputs = |zeros: Zeros| Outputs {
        kept: zeros.of(3, 3000),
        rest: zeros.of(4, 0),
        positions: zeros.of(4, 3000),
        count: zeros.of::<u64>(2, 100).part(40, 1),
    };
    let few = Shape::with::<u32>(300, 2, 1, 4);
    let kept = Within::greater_than(7u32);
    walk! {
        on(shape.tiles, 64) => |zeros|
            grid::scan(op, zeros.of(0, 3000), zeros.of(3, 3000), workspace(zeros), 1, 4, MODE);
        bulk => |zeros|
            scan::scan_by_bulk(op, zeros.of(0, 9000), zeros.of(3, 9000), workspace(zeros), tiles, MODE);
        on(1, 64) => |zeros|
            scan::scan_spread(op, zeros.of(0, 200), zeros.of(3, 200), workspace(zeros), one, stripes, form);
        bulk => |zeros|
            scan::scan_spread_by_bulk(op, zeros.of(0, 200), zeros.of(3, 200), workspace(zeros), stripes, form);
        on(few.tiles, 64) => |zeros|
            grid::select(kept, zeros.of(0, 300), outputs(zeros), workspace(zeros), 1, 4);
        on(few.tiles, 64) => |zeros|
            grid::select::unique::<u32>(zeros.of(0, 300), outputs(zeros), workspace(zeros), 1, 4);
    }
}

#[test]
fn faults_in_sorts_and_correlations_name_the_caller() {
    let threads = merge_sort::THREADS;
    let tile = merge_sort::TILE;
    let queries = |zeros: Zeros| zeros.of::<u64>(1, 4);
    walk! {
        on(1, threads) => |zeros| {
            let keys: Global<u32> = zeros.of(0, 1000);
            merge_sort::sort_tile(|i| keys.read(i), keys)
        };
        on(2, threads) => |zeros|
            merge_sort::merge_runs::<u32>(zeros.of(0, 2 * tile), zeros.of(1, 2 * tile), tile);
        on(1, 32) => |zeros|
            range_sum::range_sums::<u64>(zeros.of(0, 9), queries(zeros), zeros.of(2, 2), zeros.of(3, 1));
        on(1, 64) => |zeros| {
            let (values, keys, counts) = (zeros.of::<f32>(0, 50), zeros.of(1, 50), zeros.of(2, 16));
            kendall::place(values, keys, counts, Side::X);
        };
        on(1, 64) => |zeros| {
            let (values, bits, counts) = (zeros.of::<f64>(0, 50), zeros.of(1, 50), zeros.of(2, 16));
            kendall::order(values, bits, counts, Side::Y);
        };
        on(1, 64) => |zeros| {
            let (values, sorted, keys) = (zeros.of::<f64>(0, 50), zeros.of(1, 50), zeros.of(2, 50));
            kendall::rank(values, sorted, keys, Side::X);
        };
        on(2, 256) => |zeros|
            kendall::by_pairs::<f32>(zeros.of(0, 300), zeros.of(1, 300), zeros.of(2, 16));
        on(1, 64) => |zeros| kendall::count(zeros.of(2, 16), 0, 1);
        on(1, 256) => |zeros| kendall::ties_of_keys(zeros.of(0, 200), zeros.of(2, 16));
        on(1, 256) => |zeros| kendall::ties_of_ranks(zeros.of(0, 200), zeros.of(2, 16));
    }
}

#[test]
fn faults_in_a_radix_sort_name_the_caller() {
    let shape = sort::Shape { word: 4, payload: 0, is_small: true, is_90: false };
    let threads = sort::one_block_threads(100, 2, false).expect("they fit");
    let in_block =
        On { dynamic_shared: sort::one_block_shared_bytes(threads, 2) as usize, ..on(1, threads) };
    let counting =
        On { dynamic_shared: sort::count_shared_bytes(4, false) as usize, ..on(2, COUNT_THREADS) };
    let scattering = On { dynamic_shared: shape.shared_bytes() as usize, ..on(1, sort::THREADS) };
    let floats = Floats::numpy(f32::INFINITY.to_bits(), true);
    let state = |zeros: Zeros| State {
        counts: zeros.of(1, sort::counts_len(4)),
        carries: zeros.of(2, sort::carries_len(4, 1)),
        words: zeros.of(3, WORDS),
    };
    walk! {
        in_block => |zeros| {
            let (keys, payloads) = (zeros.of(0, 100), zeros.of(1, 100));
            let order = Integers::<u16>::new(false, false);
            sort::sort_in_one_block::<_, u32>(order, [keys; 2], [payloads; 2], 1)
        };
        counting => |zeros| {
            let task = Task { portions: 1, flags: 2 };
            sort::count(floats, zeros.of(0, 9), state(zeros), zeros.of(4, 512), task)
        };
        scattering => |zeros| {
            let state = state(zeros);
            // What the count leaves for the first pass: it runs, from the input to the output.
            let digit = thread::thread_idx_x() as usize;
            state.carries.write(digit, 1 << 63);
            if digit == 0 {
                state.words.write(9, 0b10_0011);
            }
            thread::sync_threads();
            let [input, spare, output] = [0, 0, 1].map(|number| zeros.of(number, 9));
            let keys = Arrays { input, spare, output };
            let nothing = keys.cast();
            let portions = Portions { count: 1, tiles: 1, are_indices: 0 };
            sort::scatter::<_, Nothing, Small>(
                floats, 0, keys, nothing, state, zeros.of(4, 512), portions)
        };
    }
}

#[test]
fn faults_in_a_histogram_name_the_caller() {
    let in_layout = |layout: Layout, bins| On {
        dynamic_shared: layout.shared_bytes(bins) as usize,
        ..on(2, histogram::THREADS)
    };
    let sums = |zeros: Zeros, bins, is_last| {
        let counts = |number, len| Counts { narrow: zeros.of(number, len), wide: zeros.of(4, 0) };
        let len = if is_last { bins } else { 0 };
        Sums { counts: counts(1, bins), partial: counts(2, len), ended: zeros.of(3, len.min(1)) }
    };
    let numbers = Numbers { first: 0u32, bins: 9 };
    let columns = Layout::columns(5);
    walk! {
        in_layout(columns, 9) => |zeros|
            histogram::histogram(numbers, zeros.of(0, 99), 9, columns, sums(zeros, 9, true));
        in_layout(Layout::HALVES, 9) => |zeros|
            histogram::histogram(numbers, zeros.of(0, 99), 9, Layout::HALVES, sums(zeros, 9, false));
        in_layout(Layout::GLOBAL, 9) => |zeros|
            histogram::histogram(numbers, zeros.of(0, 99), 9, Layout::GLOBAL, sums(zeros, 9, false));
    }
}

#[test]
fn faults_in_selections_by_rank_name_the_caller() {
    let floats = Floats::numpy(f32::INFINITY.to_bits(), true);
    let few = Shape::with::<u32>(300, 2, 1, 4);
    let bracket = Bracket { low: 2, high: OPEN, looks_for_last: 1 };
    let candidates = |zeros: Zeros| Candidates {
        keys: zeros.of(3, 100),
        positions: zeros.of(4, 100),
        found: zeros.of::<u64>(2, 100).part(40, FOUND),
    };
    let places = |zeros: Zeros| Places {
        sorted: zeros.of(1, 20),
        positions: [zeros.of(2, 20), zeros.of(2, 0)],
        first: 3,
    };
    walk! {
        on(1, 32) => |zeros|
            rank::sample(zeros.of::<u32>(0, 90), zeros.of(1, 9), zeros.of(2, FOUND), 10);
        on(few.tiles, 64) => |zeros| rank::filter(
            floats, zeros.of(0, 300), (zeros.of(0, 9), bracket), candidates(zeros),
            scan_workspace(zeros), (1, 4));
        on(1, 32) => |zeros| rank::take(
            zeros.of::<u32>(0, 90), places(zeros), zeros.of(3, 9), zeros.of(4, 9));
    }
}

#[test]
fn faults_in_ladder_rungs_name_the_caller() {
    let some = |zeros: Zeros| (zeros.of::<u32>(0, 600), zeros.of::<u32>(3, 512));
    macro_rules! sums {
        ($($rung:ident::$name:ident;)*) => {
            walk! {$(
                on(2, 256) => |zeros| {
                    let (input, output) = some(zeros);
                    $rung::$name(input, output)
                };
            )*}
        };
    }
    sums! {
        r00_read_only::read_only; r01_serial::serial; r02_chunks::chunks; r03_strided::strided;
        r04_atomics::atomics; r05_interleaved::interleaved; r06_compacted::compacted;
        r07_sequential::sequential; r08_first_add::first_add; r09_last_warp::last_warp;
        r10_warps_first::warps_first; r11_shuffles::shuffles; r12_wide_loads::wide_loads;
        r13_redux::redux; r14_grid_stride::grid_stride; r15_atomic_finish::atomic_finish;
    }
    let words = |zeros: Zeros| zeros.of::<u32>(2, 200);
    walk! {
        on(2, 256) => |zeros| r16_last_block::last_block(
            zeros.of::<u32>(0, 600), zeros.of(3, 2), zeros.of(2, 1), zeros.of(4, 1));
        on(2, 256) => |zeros| r17_grid_barrier::grid_barrier(
            zeros.of::<u32>(0, 600), zeros.of(3, 2), words(zeros), zeros.of(4, 1));
        on(1, 256) => |zeros| s00_copy::copy(zeros.of(0, 600), zeros.of(3, 600));
        on(1, 32) => |zeros| s01_serial::serial(zeros.of(0, 60), zeros.of(3, 60));
        on(1, 256) => |zeros| s02_one_block::one_block(zeros.of(0, 256), zeros.of(3, 256));
        on(2, 256) => |zeros|
            s03_block_sums::block_sums(zeros.of(0, 500), zeros.of(3, 500), zeros.of(1, 2));
        on(2, 256) => |zeros| s03_block_sums::inject(zeros.of(3, 500), zeros.of(1, 2));
        on(1, 256) => |zeros|
            s04_blelloch::blelloch(zeros.of(0, 500), zeros.of(3, 500), zeros.of(1, 1));
        on(1, 256) => |zeros|
            s05_padded::padded(zeros.of(0, 500), zeros.of(3, 500), zeros.of(1, 1));
        on(1, 256) => |zeros|
            s06_shuffles::shuffles(zeros.of(0, 2000), zeros.of(3, 2000), zeros.of(1, 1));
        on(1, 256) => |zeros| s06_shuffles::inject_packs(zeros.of(3, 2000), zeros.of(1, 1));
        on(2, 256) => |zeros| s07_grid_barrier::grid_barrier(
            zeros.of(0, 4000), zeros.of(3, 4000), zeros.of(1, 2), words(zeros));
        on(2, 256) => |zeros|
            s08_chained::chained(zeros.of(0, 4000), zeros.of(3, 4000), zeros.of(1, 100));
        on(2, 256) => |zeros|
            s09_look_back::look_back(zeros.of(0, 4000), zeros.of(3, 4000), zeros.of(1, 100));
    }
}

/// Adds the names of the public device functions in the sources below a folder to `names`.
fn device_functions(folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            device_functions(&path, names);
            continue;
        }
        let text = fs::read_to_string(&path).expect("it is text");
        for (at, _) in text.match_indices("#[device") {
            let function = &text[at..];
            let Some(start) = function.find("fn ") else {
                continue;
            };
            if function[..start].trim_end().ends_with("pub") {
                let name = function[start + 3..].split(['(', '<']).next();
                names.push(name.expect("a function has a name").to_owned());
            }
        }
    }
}

#[test]
fn every_public_device_function_is_tested() {
    let mut names = Vec::new();
    for sources in ["src", "lab/src/ladder"] {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join(sources);
        device_functions(&sources, &mut names);
    }
    assert!(names.len() > 50, "{names:?}");
    let here = include_str!("lines.rs");
    let left_out: Vec<_> = names
        .iter()
        .filter(|name| {
            let called = ["(", "::<", ";"].map(|end| format!("{name}{end}"));
            !called.iter().any(|call| here.contains(call))
        })
        .collect();
    assert!(left_out.is_empty(), "{left_out:?}");
}
