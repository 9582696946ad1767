//! Launches that use the same words in sequence. Each has different data: a word of an earlier
//! launch holds a wrong value, and a kernel that mistakes it for a new one has a wrong result. In
//! schedules that run the blocks sequentially every word is new when it is read, so schedules are
//! random.

use cuda_std::memory::{Global, Scalar};
use cuda_std::thread;
use gridsync_kernels::grid::barrier::{AcrossGpus, Exchange, SystemExchange, head};
use gridsync_kernels::grid::reduce::{self, reduce_long_rows};
use gridsync_kernels::grid::scan::{self, Form, Mode, Shape, Stripes, head_and_places};
use gridsync_kernels::grid::select::{Outputs, Within};
use gridsync_kernels::grid::{self, Workspace};
use gridsync_kernels::op::Sum;
use simt::{Dim3, LaunchConfig, Memory, Schedule, launch_on_gpus};
use std::ops::Range;

/// Launches in a row.
const LAUNCHES: u64 = 3;

/// Schedules for kernels that are fast to emulate.
const SEEDS: Range<u64> = 0..12;

/// The schedule for scans by bulk copies, whose tiles are long: blocks poll before others have
/// sent.
const BULK_SEED: u64 = 1;

/// The operation: a value has two words, which may become visible separately.
type Add = Sum<u64>;

/// Emulated GPUs under one schedule. Memory is weak, and half of the schedules check for races.
struct Gpus {
    memory: Memory,
    count: u32,
    seed: u64,
}

impl Gpus {
    fn new(count: u32, seed: u64) -> Self {
        Self { memory: Memory::of_gpus(count, 1 << 21), count, seed }
    }

    /// Zeros in the memory of a GPU.
    fn zeros<T: Scalar>(&mut self, gpu: u32, len: usize) -> Global<T> {
        let bytes = len * size_of::<T>();
        let address = self.memory.alloc_on(gpu, bytes, 256).expect("it fits");
        self.memory.zero(address, bytes).expect("allocated just now");
        // SAFETY: allocated just now with this length, and never freed.
        unsafe { Global::from_address(address, len) }
    }

    fn write(&mut self, to: Global<u64>, values: &[u64]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        self.memory.write(to.address(), &bytes).expect("it has room");
    }

    fn read(&self, from: Global<u64>) -> Vec<u64> {
        let mut bytes = vec![0; 8 * from.len()];
        self.memory.read(from.address(), &mut bytes).expect("it was written");
        let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        bytes.chunks_exact(8).map(word).collect()
    }

    /// Runs `kernel` on each GPU, with the index of the GPU, in blocks of `threads` threads.
    fn launch(&mut self, grid: impl Into<Dim3>, threads: u32, kernel: impl Fn(usize)) {
        let kernel = &kernel;
        let config = LaunchConfig {
            schedule: Schedule::from_seed(self.seed),
            races: self.seed.is_multiple_of(2),
            weak_memory: true,
            dynamic_shared: scan::BULK_SHARED as usize,
            shared_per_block: 227 << 10,
            ..LaunchConfig::new("test", grid, threads)
        };
        let bodies: Vec<_> = (0..self.count as usize).map(|gpu| move || kernel(gpu)).collect();
        let bodies: Vec<&dyn Fn()> = bodies.iter().map(|body| body as &dyn Fn()).collect();
        if let Err(fault) = launch_on_gpus(&mut self.memory, &config, &bodies) {
            panic!("seed {}: {fault}", self.seed);
        }
    }

    /// Words on each GPU, with a head that has the addresses of all.
    fn words_with_heads(&mut self, len: usize) -> Vec<Global<u64>> {
        let words: Vec<Global<u64>> = (0..self.count).map(|gpu| self.zeros(gpu, len)).collect();
        let addresses: Vec<u64> = words.iter().map(|words| words.address()).collect();
        for (gpu, words) in words.iter().enumerate() {
            let head = head(gpu, &addresses);
            self.write(words.part(0, head.len()), &head);
        }
        words
    }
}

/// Different data in each launch, in both halves of a value.
fn data(launch: u64, len: usize) -> Vec<u64> {
    let value = |i: u64| (launch + 1) * ((i % 11 + 1) << 32 | (i % 7 + 1));
    (0..len as u64).map(value).collect()
}

/// The prefix sums of the values.
fn sums(values: &[u64]) -> Vec<u64> {
    values
        .iter()
        .scan(0, |sum: &mut u64, value| {
            *sum += value;
            Some(*sum)
        })
        .collect()
}

fn total(values: &[u64]) -> u64 {
    values.iter().sum()
}

#[test]
fn a_sum_uses_no_word_of_an_earlier_launch() {
    const LEN: usize = 4 * 1024 - 5;
    for seed in SEEDS {
        let mut gpu = Gpus::new(1, seed);
        let (input, result) = (gpu.zeros(0, LEN), gpu.zeros::<u64>(0, 1));
        let workspace = Workspace {
            words: gpu.zeros(0, 2 * reduce::MOST_TILES),
            state: gpu.zeros(0, reduce::STATE),
        };
        for launch in 0..LAUNCHES {
            let values = data(launch, LEN);
            gpu.write(input, &values);
            // Tiles of two warps with 512 elements each.
            gpu.launch(4, 64, |_| grid::reduce(Add::new(), input, workspace, result.cast(), 1));
            assert_eq!(gpu.read(result), [total(&values)], "launch {launch}, seed {seed}");
        }
    }
}

#[test]
fn sums_of_long_rows_use_no_word_of_an_earlier_launch() {
    const COLUMNS: usize = 2 * 1024 - 6;
    const ROWS: usize = 2;
    for seed in SEEDS {
        let mut gpu = Gpus::new(1, seed);
        let (input, result) = (gpu.zeros(0, ROWS * COLUMNS), gpu.zeros::<u64>(0, ROWS));
        // A leaf for each of the two warps of each of the two tiles of a row.
        let workspace = Workspace {
            words: gpu.zeros(0, ROWS * 4 * 2),
            state: gpu.zeros(0, ROWS * reduce::ROW_STATE),
        };
        for launch in 0..LAUNCHES {
            let values = data(launch, ROWS * COLUMNS);
            gpu.write(input, &values);
            gpu.launch((2, ROWS as u32), 64, |_| {
                reduce_long_rows(Add::new(), input, workspace, result.cast(), COLUMNS, 1);
            });
            let expected: Vec<u64> = values.chunks(COLUMNS).map(total).collect();
            assert_eq!(gpu.read(result), expected, "launch {launch}, seed {seed}");
        }
    }
}

/// Six tiles of one warp, in three groups.
fn small(len: usize) -> Shape {
    let shape = Shape::with::<u64>(len, 1, 1, 2);
    assert_eq!((shape.tiles, shape.groups()), (6, 3));
    shape
}

const SMALL: usize = 5 * 64 + 9;

/// Memory for scans and selections with `shape`.
fn workspace(gpu: &mut Gpus, shape: Shape) -> Workspace {
    Workspace { words: gpu.zeros(0, 2 * shape.places()), state: gpu.zeros(0, scan::STATE) }
}

#[test]
fn a_scan_uses_no_word_of_an_earlier_launch() {
    let shape = small(SMALL);
    for seed in SEEDS {
        let mut gpu = Gpus::new(1, seed);
        let (input, output) = (gpu.zeros(0, SMALL), gpu.zeros(0, SMALL));
        let workspace = workspace(&mut gpu, shape);
        for launch in 0..LAUNCHES {
            let values = data(launch, SMALL);
            gpu.write(input, &values);
            gpu.launch(shape.tiles, shape.threads(), |_| {
                let mode = Mode::whole(Form::Inclusive);
                grid::scan(Add::new(), input, output, workspace, shape.rows, shape.group, mode);
            });
            assert_eq!(gpu.read(output), sums(&values), "launch {launch}, seed {seed}");
        }
    }
}

#[test]
fn each_part_of_a_scan_begins_with_the_sum_of_all_parts_before() {
    let shape = small(SMALL);
    for seed in SEEDS {
        let mut gpu = Gpus::new(1, seed);
        let (input, output) = (gpu.zeros(0, SMALL), gpu.zeros(0, SMALL));
        let workspace = workspace(&mut gpu, shape);
        let mut before = 0;
        for launch in 0..LAUNCHES {
            let values = data(launch, SMALL);
            gpu.write(input, &values);
            let in_second = launch % 2 == 1;
            let mode = Mode { form: Form::Inclusive, goes_on: launch > 0, leaves: true, in_second };
            gpu.launch(shape.tiles, shape.threads(), |_| {
                grid::scan(Add::new(), input, output, workspace, shape.rows, shape.group, mode);
            });
            let expected: Vec<u64> = sums(&values).iter().map(|sum| before + sum).collect();
            assert_eq!(gpu.read(output), expected, "launch {launch}, seed {seed}");
            before += total(&values);
        }
    }
}

#[test]
fn a_scan_by_bulk_copies_uses_no_word_of_an_earlier_launch() {
    let tile = Shape::for_bulk::<u64>(1).tile::<u64>();
    let len = 2 * tile + 9;
    let shape = Shape::for_bulk::<u64>(len);
    let mut gpu = Gpus::new(1, BULK_SEED);
    let (input, output) = (gpu.zeros(0, len), gpu.zeros(0, len));
    let workspace = workspace(&mut gpu, shape);
    for launch in 0..2 {
        let values = data(launch, len);
        gpu.write(input, &values);
        gpu.launch(shape.tiles, scan::BULK_THREADS, |_| {
            let mode = Mode::whole(Form::Inclusive);
            scan::scan_by_bulk(Add::new(), input, output, workspace, shape.tiles, mode);
        });
        assert!(gpu.read(output) == sums(&values), "launch {launch}");
    }
}

#[test]
fn a_selection_uses_no_count_of_an_earlier_launch() {
    let shape = small(SMALL);
    for seed in SEEDS {
        let mut gpu = Gpus::new(1, seed);
        let input = gpu.zeros(0, SMALL);
        let workspace = workspace(&mut gpu, shape);
        let outputs = Outputs {
            kept: gpu.zeros(0, SMALL),
            rest: gpu.zeros(0, SMALL),
            positions: gpu.zeros(0, 0),
            count: gpu.zeros(0, 1),
        };
        for launch in 0..LAUNCHES {
            // Each launch keeps fewer, and has longer runs.
            let values: Vec<u64> = (0..SMALL as u64).map(|i| i / (launch + 1) % 5).collect();
            gpu.write(input, &values);
            let less = Within::less_than(4 - launch);
            gpu.launch(shape.tiles, shape.threads(), |_| {
                grid::select(less, input, outputs, workspace, shape.rows, shape.group);
            });
            let (kept, rest): (Vec<u64>, Vec<u64>) =
                values.iter().partition(|&&value| value < 4 - launch);
            let what = format!("launch {launch}, seed {seed}");
            assert_eq!(gpu.read(outputs.count), [kept.len() as u64], "{what}");
            assert_eq!(gpu.read(outputs.kept.part(0, kept.len())), kept, "{what}");
            assert_eq!(gpu.read(outputs.rest.part(0, rest.len())), rest, "{what}");

            gpu.launch(shape.tiles, shape.threads(), |_| {
                let outputs = Outputs { rest: outputs.rest.part(0, 0), ..outputs };
                grid::unique(input, outputs, workspace, shape.rows, shape.group);
            });
            let mut runs = values;
            runs.dedup();
            assert_eq!(gpu.read(outputs.count), [runs.len() as u64], "runs, {what}");
            assert_eq!(gpu.read(outputs.kept.part(0, runs.len())), runs, "runs, {what}");
        }
    }
}

/// The elements of a GPU that has every `gpus`-th tile of `tile` elements.
fn share(values: &[u64], tile: usize, gpu: usize, gpus: usize) -> Vec<u64> {
    values.chunks(tile).skip(gpu).step_by(gpus).flatten().copied().collect()
}

/// Scans across `gpus` GPUs in stripes of one tile, on the same words, and compares each GPU's
/// share.
fn scans_over(
    gpus: u32,
    seed: u64,
    shape: Shape,
    len: usize,
    launch: impl Fn(&mut Gpus, &[[Global<u64>; 2]], &[Workspace], Stripes),
) {
    let mut all = Gpus::new(gpus, seed);
    let tile = shape.tile::<u64>();
    let words = all.words_with_heads(head_and_places(2 * shape.places()));
    let mut arrays = Vec::new();
    let mut workspaces = Vec::new();
    for (gpu, words) in (0..gpus).zip(words) {
        let own = share(&vec![0; len], tile, gpu as usize, gpus as usize).len();
        arrays.push([all.zeros(gpu, own), all.zeros(gpu, own)]);
        workspaces.push(Workspace { words, state: all.zeros(gpu, scan::STATE) });
    }
    for number in 0..2 {
        let values = data(number, len);
        for (gpu, [input, _]) in arrays.iter().enumerate() {
            all.write(*input, &share(&values, tile, gpu, gpus as usize));
        }
        let stripes = Stripes { tiles: 1, stamp: number as u32 + 1 };
        launch(&mut all, &arrays, &workspaces, stripes);
        for (gpu, [_, output]) in arrays.iter().enumerate() {
            let expected = share(&sums(&values), tile, gpu, gpus as usize);
            let what = format!("GPU {gpu} of {gpus}, launch {number}, seed {seed}");
            assert!(all.read(*output) == expected, "{what}");
        }
    }
}

/// The array has several groups, so every GPU needs bases too.
#[test]
fn a_scan_over_several_gpus_sends_aggregates_and_bases_to_each_gpu_in_each_launch() {
    let shape = small(SMALL);
    for (seed, gpus) in SEEDS.zip([2, 3].into_iter().cycle()) {
        scans_over(gpus, seed, shape, SMALL, |all, arrays, workspaces, stripes| {
            all.launch(1, shape.threads(), |gpu| {
                let ([input, output], workspace) = (arrays[gpu], workspaces[gpu]);
                let form = Form::Inclusive;
                scan::scan_spread(Add::new(), input, output, workspace, shape, stripes, form);
            });
        });
    }
}

#[test]
fn a_scan_by_bulk_copies_sends_aggregates_to_each_gpu_in_each_launch() {
    let len = 2 * Shape::for_bulk::<u64>(1).tile::<u64>() + 9;
    let shape = Shape::for_bulk::<u64>(len);
    scans_over(2, BULK_SEED, shape, len, |all, arrays, workspaces, stripes| {
        all.launch(1, scan::BULK_THREADS, |gpu| {
            let ([input, output], workspace) = (arrays[gpu], workspaces[gpu]);
            let form = Form::Inclusive;
            scan::scan_spread_by_bulk(Add::new(), input, output, workspace, stripes, form);
        });
    });
}

#[test]
fn an_exchange_uses_no_word_of_an_earlier_launch() {
    const BLOCKS: usize = 3;
    for seed in SEEDS {
        let mut gpu = Gpus::new(1, seed);
        let words = gpu.zeros(0, Exchange::words(BLOCKS));
        let (input, output) = (gpu.zeros(0, 2 * BLOCKS), gpu.zeros(0, 2 * BLOCKS));
        for launch in 0..LAUNCHES {
            let values = data(launch, 2 * BLOCKS);
            gpu.write(input, &values);
            gpu.launch(BLOCKS as u32, 32, |_| {
                let mut exchange = Exchange::attach(words);
                for at in [thread::block_index(), BLOCKS + thread::block_index()] {
                    let sum = exchange.all_reduce(Add::new(), input.read(at));
                    if thread::is_first_in_block() {
                        output.write(at, sum);
                    }
                }
            });
            let (first, second) = values.split_at(BLOCKS);
            let expected = [[total(first); BLOCKS], [total(second); BLOCKS]].concat();
            assert_eq!(gpu.read(output), expected, "launch {launch}, seed {seed}");
        }
    }
}

#[test]
fn an_exchange_of_several_gpus_uses_no_word_of_an_earlier_launch() {
    const GPUS: usize = 3;
    const BLOCKS: usize = 2;
    const VALUES: usize = 2 * BLOCKS;
    for seed in SEEDS {
        let mut all = Gpus::new(GPUS as u32, seed);
        let words = all.words_with_heads(SystemExchange::words(BLOCKS));
        let of_each = |gpu| [all.zeros::<u64>(gpu, VALUES), all.zeros(gpu, VALUES)];
        let arrays: Vec<_> = (0..GPUS as u32).map(of_each).collect();
        for launch in 0..LAUNCHES {
            let values = data(launch, GPUS * VALUES);
            for ([input, _], values) in arrays.iter().zip(values.chunks(VALUES)) {
                all.write(*input, values);
            }
            all.launch(BLOCKS as u32, 32, |gpu| {
                let [input, output] = arrays[gpu];
                let mut exchange = SystemExchange::attach(words[gpu]);
                for at in [thread::block_index(), BLOCKS + thread::block_index()] {
                    let sum = exchange.all_reduce(Add::new(), input.read(at));
                    if thread::is_first_in_block() {
                        output.write(at, sum);
                    }
                }
            });
            // Of each GPU the first half of the values, and then the second.
            let of_half = |half: usize| {
                let values = values.chunks(BLOCKS).skip(half).step_by(2);
                [values.map(total).sum(); BLOCKS]
            };
            let expected = [of_half(0), of_half(1)].concat();
            for (gpu, [_, output]) in arrays.iter().enumerate() {
                let what = format!("GPU {gpu}, launch {launch}, seed {seed}");
                assert_eq!(all.read(*output), expected, "{what}");
            }
        }
    }
}
