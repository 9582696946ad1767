//! All cases: each kernel with its inputs, and their time in the emulator.

use gridsync::device::{Device, Emulator, EmulatorConfig, Properties, Schedule};
use gridsync::launch::Blocks;
use gridsync::primitives::kendall::Method;
use gridsync::primitives::sort::Order;
use gridsync_lab::xpx::{self, Form, Setup};
use gridsync_verify::{
    CaseError, Contender, Crossing, DESIGNS, Keys, Kind, Lens, Primitive, Size, Ties, kinds,
};

/// A kernel, or a few kernels with one purpose, and the cases.
pub(super) struct Kernel {
    pub(super) name: String,
    pub(super) cases: Vec<Case>,
}

/// Runs a kernel on a device, and compares its results with the reference.
type RunOn = dyn Fn(&Device) -> Result<(), CaseError> + Send + Sync;

/// A kernel on one input.
pub(super) struct Case {
    pub(super) name: String,
    /// Elements of the input, or threads of the grid.
    pub(super) size: usize,
    /// Approximate time in the emulator, in µs.
    pub(super) us: f64,
    run: Box<RunOn>,
    emulated: Emulated,
    seed: u64,
}

/// How the emulator runs a case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Emulated {
    /// Under the fast schedule.
    Fast,
    /// Access by access, under the schedule of its seed.
    Interleaved,
    /// Access by access, under the schedule of its seed, with checks for data races.
    Judged,
}

/// The longest input that the emulator runs access by access.
pub(super) const INTERLEAVED: usize = 300;

/// The longest arrays for which the emulator compares all pairs.
const ALL_PAIRS: usize = 600;

/// The longest arrays that the emulator sorts to correlate them. It sorts only under the fast
/// schedule, because a block of 256 threads sorts even a short array.
const SORTED: usize = 4097;

/// Rows and columns of sorts: in warps, in blocks, several together and one, and in passes.
const SORTED_ROWS: [(usize, usize); 13] = [
    (5, 1),
    (300, 13),
    (100, 16),
    (67, 32),
    (67, 33),
    (40, 100),
    (4, 1000),
    (2, 2048),
    (3, 4097),
    (5, 8193),
    (131, 12_288),
    (7, 12_289),
    (2, (1 << 20) + 1),
];

/// A block sorts a shorter array as slowly as one of this length.
const SHORTEST_SORT: usize = 2048;

/// A block of 768 threads counts a shorter array as slowly as one of this length.
const SHORTEST_HISTOGRAM: usize = 4096;

/// Numbers of bins: in one column for each lane, in fewer, in half words, and in device memory.
const BINS: [usize; 7] = [1, 10, 256, 1000, 20_000, 60_000, 200_000];

/// Lengths of segments.
const LENS: [Lens; 5] = [Lens::Mixed, Lens::Skewed, Lens::Of(1), Lens::Of(1000), Lens::Of(1 << 20)];

/// The most threads of a grid whose barriers the emulator also checks for data races.
const JUDGED: u32 = 600;

/// Time in the emulator, in µs, for each byte of a long input and for each thread that crosses
/// barriers.
// Measured on a core of an Intel Xeon with a release build, 2026-11-22: CPU time for inputs of 4095
// to 4097 elements, over all kernels of a kind, and for grids of 8192 threads.
const OF_REDUCE: f64 = 1.1;
const OF_SCAN: f64 = 19.0;
const OF_SELECT: f64 = 10.0;
const OF_RANGES: f64 = 5.0;
const OF_KENDALL: f64 = 25.0;
const OF_SORT: f64 = 50.0;
const OF_HISTOGRAM: f64 = 20.0;
const OF_SEGMENTS: f64 = 20.0;
const OF_DOT: f64 = 2.0;
const OF_SOFTMAX: f64 = 10.0;
const OF_CROSSINGS: f64 = 100.0;

impl Case {
    /// A case of this name, size and seed.
    pub(super) fn of(
        (name, size, seed): (String, usize, u64),
        us: f64,
        emulated: Emulated,
        run: impl Fn(&Device) -> Result<(), CaseError> + Send + Sync + 'static,
    ) -> Self {
        Self { name, size, us, run: Box::new(run), emulated, seed }
    }

    /// Runs the case on `device`. If that is the emulator, the case runs on a new emulator.
    pub(super) fn run(&self, device: &Device) -> Result<(), CaseError> {
        if !device.properties().is_emulated() {
            return (self.run)(device);
        }
        let fast = EmulatorConfig::default();
        // The atomics and loads of PTX that wait are many, and each would be judged.
        let judges = self.emulated == Emulated::Judged && fast.ptx.is_none();
        (self.run)(&Device::new(Emulator::new(match self.emulated {
            Emulated::Fast => fast,
            _ => EmulatorConfig { schedule: Schedule::from_seed(self.seed), races: judges, ..fast },
        })))
    }
}

/// Bytes of an element. The name of its type ends with the number of bits, as in `bf16`.
fn bytes(element: &str) -> f64 {
    let bits = element.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    bits.parse::<f64>().map_or(8.0, |bits| bits / 8.0)
}

/// All kernels that the device can run, on inputs of up to 2^`max_log2` elements, with `seeds` inputs of each length.
pub(super) fn kernels(device: &Properties, max_log2: u32, seeds: u64) -> Vec<Kernel> {
    let is_emulated = device.is_emulated();
    let primitives = [
        (Primitive::Reduce, OF_REDUCE),
        (Primitive::Scan, OF_SCAN),
        (Primitive::Select, OF_SELECT),
        (Primitive::Rows, OF_REDUCE),
        (Primitive::Ranges, OF_RANGES),
        (Primitive::Kendall, OF_KENDALL),
        (Primitive::Sort, OF_SORT),
        (Primitive::Histogram, OF_HISTOGRAM),
        (Primitive::Rank, OF_SORT),
        (Primitive::Segments, OF_SEGMENTS),
        (Primitive::ByKey, OF_SORT),
        (Primitive::Dot, OF_DOT),
        (Primitive::Softmax, OF_SOFTMAX),
    ];
    let mut kernels = Vec::new();
    for (primitive, us_a_byte) in primitives {
        let shapes = shapes(primitive, is_emulated, max_log2);
        for kind in kinds(primitive) {
            let us = us_a_byte * bytes(kind.element);
            let cases = shapes
                .iter()
                .flat_map(|&shape| (0..seeds).map(move |seed| case(kind, shape, seed, us)));
            kernels.push(Kernel { name: name(kind), cases: cases.collect() });
        }
    }
    kernels.extend(barriers(device, seeds));
    kernels.push(transforms(seeds));
    kernels
}

/// The name of a kind, with the accumulator if its type differs from the elements', and whether it skips
/// NaN.
fn name(kind: &Kind) -> String {
    let primitive = match kind.primitive {
        Primitive::Reduce => "reduce ",
        Primitive::Scan => "scan ",
        Primitive::Select => "select ",
        Primitive::Rows => "reduce rows, ",
        Primitive::Ranges => "ranges, ",
        Primitive::Segments => "reduce segments, ",
        Primitive::Kendall
        | Primitive::Sort
        | Primitive::Histogram
        | Primitive::Rank
        | Primitive::ByKey
        | Primitive::Dot
        | Primitive::Softmax => "",
    };
    let mut name = format!("{primitive}{} {}", kind.op, kind.element);
    if kind.element != kind.accumulator {
        name += &format!(" in {}", kind.accumulator);
    }
    if kind.name.contains("_of_numbers_") {
        name += ", skip NaN";
    }
    name
}

/// Rows and columns of a primitive's cases.
fn shapes(primitive: Primitive, is_emulated: bool, max_log2: u32) -> Vec<(usize, usize)> {
    let most = match primitive {
        Primitive::Rows | Primitive::Softmax => return matrices(max_log2),
        Primitive::Kendall | Primitive::Sort | Primitive::Rank | Primitive::ByKey
            if is_emulated =>
        {
            SORTED
        }
        _ => usize::MAX,
    };
    let arrays = lengths(max_log2).into_iter().map(|len| (1, len));
    let is_by_rows = matches!(primitive, Primitive::Sort | Primitive::Rank);
    let rows: &[_] = if is_by_rows { &SORTED_ROWS } else { &[] };
    let rows = rows.iter().copied().filter(|(rows, columns)| rows * columns <= 1 << max_log2);
    arrays.chain(rows).filter(|(rows, columns)| rows * columns <= most).collect()
}

/// The case of this shape and seed, which takes about `us` µs for each element in the emulator.
fn case(kind: &'static Kind, (rows, columns): (usize, usize), seed: u64, us: f64) -> Case {
    let elements = rows * columns;
    let size = match kind.primitive {
        Primitive::Rows | Primitive::Softmax => Size::Matrix(rows, columns),
        Primitive::Kendall => {
            let methods: &[Method] = match columns {
                ..=ALL_PAIRS => &[Method::Pairs, Method::Sort],
                _ => &[Method::Sort],
            };
            let ties = Ties::ALL[(columns + seed as usize) % Ties::ALL.len()];
            Size::Pairs(columns, ties, methods)
        }
        Primitive::Sort => {
            let number = columns + seed as usize;
            Size::Keys(rows, columns, Keys::ALL[number % 7], Order::ALL[number % 4])
        }
        Primitive::Histogram => Size::Bins(columns, BINS[(columns + seed as usize) % BINS.len()]),
        Primitive::Rank => {
            let number = columns + seed as usize;
            let (keys, order) = (Keys::ALL[number % 7], Order::ALL[number % 4]);
            Size::Ranks(rows, columns, keys, order, columns.div_ceil(1 << (number % 5)))
        }
        Primitive::Segments | Primitive::ByKey => {
            Size::Ragged(columns, LENS[(columns + seed as usize) % LENS.len()])
        }
        _ => Size::Array(columns),
    };
    let (least, is_fast) = match kind.primitive {
        Primitive::Sort | Primitive::Rank | Primitive::ByKey => (SHORTEST_SORT, true),
        Primitive::Histogram => (SHORTEST_HISTOGRAM, true),
        Primitive::Kendall => (0, true),
        _ => (0, false),
    };
    let us = us * elements.max(least) as f64;
    let emulated = match elements {
        _ if is_fast => Emulated::Fast,
        ..=INTERLEAVED => Emulated::Judged,
        _ => Emulated::Fast,
    };
    let name = format!("{size}, seed {seed}");
    Case::of((name, elements, seed), us, emulated, move |device| kind.run(device, size, seed))
}

/// The grid barriers.
fn barriers(device: &Properties, seeds: u64) -> Vec<Kernel> {
    let mut shapes = Vec::new();
    for threads in [1, 32, 33, 96, 256] {
        for (blocks, most) in [
            (Blocks::Exactly(1), 1),
            (Blocks::Exactly(2), 2),
            (Blocks::AtMost(33), 33),
            // As many blocks as the emulator's 8 multiprocessors hold: each holds up to 1024
            // threads and 16 blocks.
            (Blocks::Fill, 8 * (1024 / threads).min(16)),
        ] {
            shapes.push((threads, blocks, most * threads));
        }
    }
    let kernel = |design: &'static Contender| {
        let cases = shapes.iter().flat_map(|&(threads, blocks, size)| {
            let emulated = match blocks {
                Blocks::Fill => Emulated::Fast,
                _ if size <= JUDGED => Emulated::Judged,
                _ => Emulated::Interleaved,
            };
            (0..seeds).map(move |seed| {
                let crossing = Crossing::of(blocks, threads);
                let name = format!("{crossing:?}, seed {seed}");
                let us = OF_CROSSINGS * f64::from(size);
                Case::of((name, size as usize, seed), us, emulated, move |device| {
                    design.case(device, &crossing)
                })
            })
        });
        Kernel { name: format!("barrier, {}", design.name), cases: cases.collect() }
    };
    let needs_clusters = |design: &&Contender| design.kernel.starts_with("cluster_");
    DESIGNS.iter().filter(|design| device.cluster || !needs_clusters(design)).map(kernel).collect()
}

/// X→P→X with the recommended barrier.
fn transforms(seeds: u64) -> Kernel {
    let setups = [(128, 2, 64), (1, 1, 1), (77, 3, 33), (1000, 4, 96)];
    let cases = setups.into_iter().flat_map(|(elements, blocks, threads)| {
        let setup = Setup { elements, blocks, threads };
        (0..seeds).map(move |seed| {
            let name = format!("{setup:?}, seed {seed}");
            let size = (blocks * threads) as usize;
            let us = OF_CROSSINGS * size as f64;
            Case::of((name, size, seed), us, Emulated::Judged, move |device| {
                match xpx::run(device, Form::GridBarrier, &setup, 0)? {
                    None => Ok(()),
                    Some(wrong) => Err(CaseError::Wrong(format!("{wrong:?}"))),
                }
            })
        })
    });
    Kernel { name: "X→P→X, grid barrier".into(), cases: cases.collect() }
}

/// Lengths around every boundary: a warp, a pack, the elements of a block, and powers of two.
fn lengths(max_log2: u32) -> Vec<usize> {
    let max = 1usize << max_log2;
    let edges = [0, 1, 7, 8, 9, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 8193];
    let powers = (13..=max_log2).flat_map(|log2| [(1 << log2) - 1, (1 << log2) + 1]);
    let mut lengths: Vec<usize> =
        edges.into_iter().chain(powers).chain([max]).filter(|&len| len <= max + 1).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Rows and columns around every boundary: a pack, a batch, a run, a tile, and zero.
fn matrices(max_log2: u32) -> Vec<(usize, usize)> {
    let edges = [
        (1, 1),
        (0, 5),
        (5, 0),
        (257, 1),
        (70, 3),
        (65, 4),
        (33, 16),
        (17, 17),
        (9, 130),
        (5, 512),
        (3, 1024),
        (3, 1025),
        (3, 2049),
        (2, 8193),
        (3, 20_000),
        (2, 100_001),
    ];
    let fits = |&(rows, columns): &(usize, usize)| rows * columns <= 1 << max_log2;
    edges.into_iter().filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_a_small_case() {
        for kernel in kernels(Device::emulator().properties(), 16, 1) {
            let is_small = |case: &Case| case.size <= INTERLEAVED;
            assert!(kernel.cases.iter().any(is_small), "{}", kernel.name);
        }
    }

    #[test]
    fn size_of_an_element_follows_from_its_name() {
        for (name, size) in [("f32", 4.0), ("bf16", 2.0), ("u64", 8.0), ("i32", 4.0)] {
            assert_eq!(bytes(name), size);
        }
    }
}
