//! Modules, launches and tables of results.

use ptx_run::{Error, Kernel, Program};
use simt::{Fault, Lanes, LaunchConfig, Memory, Policy, Schedule, Stats};

/// A module of these declarations. The first is in line 4.
pub(crate) fn module(declarations: &str) -> ptx::Module {
    let text = format!(".version 8.0\n.target sm_90\n.address_size 64\n{declarations}\n");
    ptx::parse(&text).unwrap_or_else(|error| panic!("{declarations}\n{error}"))
}

/// A kernel of these declarations, loaded into its memory.
pub(crate) fn load(declarations: &str, entry: &str) -> (Kernel, Memory) {
    let mut memory = Memory::new(1 << 24);
    let program = Program::new(&module(declarations), entry).expect("it is in the module");
    (program.load(&mut memory).expect("it fits"), memory)
}

/// A kernel `k` with parameters `a` and `b`, pointers, and these statements. The first is in line 5.
pub(crate) fn kernel(statements: &str) -> (Kernel, Memory) {
    let head = ".visible .entry k(.param .u64 a, .param .u64 b) {";
    load(&format!("{head}\n{statements}\n}}"), "k")
}

/// The bytes of two pointers.
pub(crate) fn pointers(a: u64, b: u64) -> Vec<u8> {
    [a.to_le_bytes(), b.to_le_bytes()].concat()
}

/// An allocation with these numbers.
pub(crate) fn filled(memory: &mut Memory, numbers: &[u32]) -> u64 {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let address = memory.alloc(bytes.len(), 16).expect("it fits");
    memory.write(address, &bytes).expect("it is in bounds");
    address
}

/// The numbers at an address.
pub(crate) fn numbers(memory: &Memory, address: u64, count: usize) -> Vec<u32> {
    let mut bytes = vec![0; count * 4];
    memory.read(address, &mut bytes).expect("all were written");
    bytes.chunks_exact(4).map(|it| u32::from_le_bytes(it.try_into().expect("4 bytes"))).collect()
}

/// The fault of a launch.
pub(crate) fn fault(result: Result<Stats, Error>) -> Fault {
    match result {
        Err(Error::Fault(fault)) => *fault,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("no fault"),
    }
}

/// Launches with checks for races and with weak memory, under several schedules.
pub(crate) fn checked(grid: u32, block: u32) -> impl Iterator<Item = LaunchConfig<'static>> {
    let fixed = [Policy::RoundRobin, Policy::RunAhead, Policy::Reverse].map(Schedule::new);
    let apart = Schedule::seeded(Policy::Random { quantum: 3 }, 9).with_lanes(Lanes::Apart);
    let all = fixed.into_iter().chain([apart]).chain((1..20).map(Schedule::from_seed));
    all.enumerate().map(move |(index, schedule)| LaunchConfig {
        schedule,
        races: true,
        weak_memory: index % 2 == 1,
        ..LaunchConfig::new("k", grid, block)
    })
}

/// The results of an instruction for rows of sources. `d`, `a`, `b` and `c` are registers of these
/// types, which are memory types: `%d` is the destination. There are predicates `%p0` to `%p3`.
pub(crate) fn results(instructions: &str, types: [&str; 4], rows: &[[u64; 3]]) -> Vec<u64> {
    let [d, a, b, c] = types;
    let (kernel, mut memory) = kernel(&format!(
        ".reg .b64 %rd<8>; .reg .b32 %t<4>; .reg .pred %p<4>;
        .reg .{d} %d; .reg .{a} %a; .reg .{b} %b; .reg .{c} %c;
        ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
        mov.u32 %t1, %tid.x; mov.u32 %t2, %ctaid.x; mad.lo.u32 %t1, %t2, 256, %t1;
        mad.wide.u32 %rd3, %t1, 24, %rd1; mad.wide.u32 %rd4, %t1, 8, %rd2;
        ld.global.{a} %a, [%rd3]; ld.global.{b} %b, [%rd3+8]; ld.global.{c} %c, [%rd3+16];
        {instructions}
        st.global.{d} [%rd4], %d;"
    ));
    let blocks = rows.len().div_ceil(256);
    let input = memory.alloc(blocks * 256 * 24, 8).expect("it fits");
    memory.zero(input, blocks * 256 * 24).expect("it is in bounds");
    let bytes: Vec<u8> = rows.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
    memory.write(input, &bytes).expect("it is in bounds");
    let output = memory.alloc(blocks * 256 * 8, 8).expect("it fits");
    memory.zero(output, blocks * 256 * 8).expect("it is in bounds");
    let config = LaunchConfig::new("k", blocks as u32, 256);
    let launch = kernel.launch(&mut memory, &config, &pointers(input, output));
    launch.unwrap_or_else(|error| panic!("{instructions}: {error}"));
    let mut bytes = vec![0; rows.len() * 8];
    memory.read(output, &mut bytes).expect("it was zeroed");
    bytes.chunks_exact(8).map(|it| u64::from_le_bytes(it.try_into().expect("8 bytes"))).collect()
}

/// Compares the results of an instruction with a function.
pub(crate) fn check(
    instructions: &str,
    types: [&str; 4],
    rows: &[[u64; 3]],
    expected: impl Fn(u64, u64, u64) -> u64,
) {
    for (&[a, b, c], result) in rows.iter().zip(results(instructions, types, rows)) {
        let expected = expected(a, b, c);
        assert_eq!(
            result, expected,
            "{instructions} of {a:#x}, {b:#x}, {c:#x}: {result:#x}, not {expected:#x}"
        );
    }
}

/// Numbers at the edges of all types.
pub(crate) const EDGES: [u64; 18] = [
    0,
    1,
    2,
    3,
    31,
    32,
    0x7f,
    0x80,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x0123_4567_89ab_cdef,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// All pairs of these numbers, with a third one.
pub(crate) fn pairs(numbers: &[u64]) -> Vec<[u64; 3]> {
    let count = numbers.len();
    (0..count * count)
        .map(|at| {
            [numbers[at / count], numbers[at % count], numbers[(at * 7 + at / count) % count]]
        })
        .collect()
}
