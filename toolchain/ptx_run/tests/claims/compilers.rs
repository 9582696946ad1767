//! Kernels of Triton and numba, as `tests/compilers` describes them, for two targets: right results
//! under many schedules with checks for races and weak memory.

use std::path::Path;

use ptx_run::{Kernel, Program};
use simt::{Fault, LaunchConfig, Memory};

use crate::support::{checked, fault, filled, numbers};

/// A kernel of a compiler for a target, alone in its module.
fn program(compiler: &str, name: &str, target: u32) -> Program {
    let file = format!("tests/compilers/{compiler}_{name}_sm_{target}.ptx");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
    let module = ptx::parse(&text.expect("it is in the repository")).expect("a module");
    let kernel = module.kernels().next().expect("a kernel").name.clone();
    Program::new(&module, &kernel).expect("it is there")
}

/// Whether a launch is checked for races.
#[derive(Clone, Copy, PartialEq)]
enum Races {
    Checked,
    /// Not, because lanes store the same value to one place: see
    /// `lanes_of_triton_that_store_the_same_value_are_a_race`. With weak memory, a missing barrier or
    /// fence would still show as a wrong value.
    Ignored,
}

/// Runs a kernel of 128 threads under each schedule, for both targets.
fn runs(
    compiler: &str,
    name: &str,
    (blocks, races): (u32, Races),
    run: impl Fn(&mut Memory, &dyn Fn(&mut Memory, &[u64])),
) {
    for target in [80, 90] {
        let mut memory = Memory::new(1 << 24);
        let program = program(compiler, name, target);
        assert_eq!(program.unsupported().next(), None);
        let parameters: Vec<(usize, usize)> = program.parameters().to_vec();
        let kernel = program.load(&mut memory).expect("it fits");
        for config in checked(blocks, 128).take(8) {
            let races = races == Races::Checked;
            let config = LaunchConfig { dynamic_shared: 8192, races, ..config };
            run(&mut memory, &|memory, words| launch(&kernel, memory, &config, &parameters, words));
        }
    }
}

/// Launches a kernel with these arguments, and 0 for others that the compiler has added.
fn launch(
    kernel: &Kernel,
    memory: &mut Memory,
    config: &LaunchConfig<'_>,
    parameters: &[(usize, usize)],
    words: &[u64],
) {
    let arguments = bytes(parameters, words);
    kernel
        .launch(memory, config, &arguments)
        .unwrap_or_else(|error| panic!("{:?}: {error}", config.schedule));
}

fn bytes(parameters: &[(usize, usize)], words: &[u64]) -> Vec<u8> {
    let (last, size) = *parameters.last().expect("parameters");
    let mut bytes = vec![0; last + size];
    for ((at, size), word) in parameters.iter().zip(words) {
        bytes[*at..at + size].copy_from_slice(&word.to_le_bytes()[..*size]);
    }
    bytes
}

/// The parameters of a contiguous array of numba: two pointers for its owner, the number and size of
/// its elements, the address, extent and stride.
fn array(address: u64, count: u64) -> [u64; 7] {
    [0, 0, count, 4, address, count, 4]
}

fn floats(memory: &Memory, address: u64, count: usize) -> Vec<f32> {
    numbers(memory, address, count).into_iter().map(f32::from_bits).collect()
}

fn bits(values: impl IntoIterator<Item = f32>) -> Vec<u32> {
    values.into_iter().map(f32::to_bits).collect()
}

#[test]
fn triton_adds_vectors() {
    runs("triton", "add", (2, Races::Checked), |memory, launch| {
        let x = filled(memory, &bits((0..300).map(|it| it as f32 * 0.5)));
        let y = filled(memory, &bits((0..300).map(|it| 100.0 - it as f32)));
        let out = filled(memory, &[7; 300]);
        launch(memory, &[x, y, out, 299]);
        let found = floats(memory, out, 300);
        let expected = |it: usize| it as f32 * 0.5 + (100.0 - it as f32);
        assert!((0..299).all(|it| found[it] == expected(it)), "{found:?}");
        assert_eq!(found[299].to_bits(), 7);
    });
}

#[test]
fn triton_computes_softmax_of_rows_inexactly() {
    assert!(program("triton", "softmax", 80).inexact().next().is_some_and(|it| it.contains("ex2")));
    runs("triton", "softmax", (2, Races::Ignored), |memory, launch| {
        let values: Vec<f32> = (0..200).map(|it| ((it * 37) % 19) as f32 * 0.25 - 2.0).collect();
        let x = filled(memory, &bits(values.clone()));
        let out = filled(memory, &[0; 200]);
        launch(memory, &[x, out, 100]);
        let found = floats(memory, out, 200);
        for (row, found) in values.chunks(100).zip(found.chunks(100)) {
            let total: f64 = row.iter().map(|&it| f64::from(it).exp()).sum();
            for (value, found) in row.iter().zip(found) {
                let expected = f64::from(*value).exp() / total;
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-6 * expected,
                    "{found} {expected}"
                );
            }
        }
    });
}

#[test]
fn triton_sums_with_atomics() {
    runs("triton", "total", (3, Races::Ignored), |memory, launch| {
        let x = filled(memory, &(0..700).collect::<Vec<u32>>());
        let out = filled(memory, &[5]);
        launch(memory, &[x, out, 700]);
        assert_eq!(numbers(memory, out, 1), [5 + 699 * 350]);
    });
}

#[test]
fn triton_passes_totals_from_block_to_block_by_flags() {
    runs("triton", "chain", (4, Races::Ignored), |memory, launch| {
        let x = filled(memory, &(0..512).collect::<Vec<u32>>());
        let (flags, out) = (filled(memory, &[0; 4]), filled(memory, &[0; 4]));
        launch(memory, &[x, flags, out, 4]);
        assert_eq!(numbers(memory, flags, 4), [1; 4]);
        let expected = [127 * 64, 255 * 128, 383 * 192, 511 * 256];
        assert_eq!(numbers(memory, out, 4), expected);
    });
}

#[test]
fn triton_computes_with_halves() {
    runs("triton", "halves", (1, Races::Checked), |memory, launch| {
        // 1.5 and 2 in each pair.
        let (x, y) = (filled(memory, &[0x3e00_4000; 128]), filled(memory, &[0x4000_3e00; 128]));
        let out = filled(memory, &[0; 128]);
        launch(memory, &[x, y, out, 255]);
        let found = numbers(memory, out, 128);
        // 1.5 * 2 + 2 is 5. The last half is beyond the end.
        assert_eq!(found[..127], [0x4500_4500; 127]);
        assert_eq!(found[127], 0x4500);
    });
}

#[test]
fn lanes_of_triton_that_store_the_same_value_are_a_race() {
    // The 32 sums of a warp are equal, and Triton 3.9 lets all lanes store them. The memory model of
    // PTX calls that a race, though a warp writes one of the values (CUDA C++ Programming Guide,
    // "SIMT Architecture").
    let kernel = program("triton", "total", 80);
    let parameters: Vec<(usize, usize)> = kernel.parameters().to_vec();
    let mut memory = Memory::new(1 << 24);
    let kernel = kernel.load(&mut memory).expect("it fits");
    let (x, out) = (filled(&mut memory, &[1; 256]), filled(&mut memory, &[0]));
    let config = LaunchConfig { dynamic_shared: 16, races: true, ..LaunchConfig::new("k", 1, 128) };
    let arguments = bytes(&parameters, &[x, out, 256]);
    let found = fault(kernel.launch(&mut memory, &config, &arguments));
    let Fault::Race(race) = &found else { panic!("{found}") };
    let places = [&race.earlier, &race.later].map(|access| access.site.place);
    assert!(places.iter().all(|it| it.line() == 39), "{found}");
    assert!(found.to_string().contains("4-byte weak store"), "{found}");
}

/// The integer at a place of a matrix, small enough for exact sums.
fn entry(row: u64, column: u64) -> u64 {
    (row * 7 + column * 3) % 5
}

#[test]
fn triton_multiplies_matrices_of_halves() {
    let kernel = program("triton", "matmul", 80);
    assert!(kernel.inexact().all(|it| it.contains("mma.sync")) && kernel.inexact().count() > 0);
    let parameters: Vec<(usize, usize)> = kernel.parameters().to_vec();
    let mut memory = Memory::new(1 << 24);
    let kernel = kernel.load(&mut memory).expect("it fits");
    let half = |value: u64| [0, 0x3c00, 0x4000, 0x4200, 0x4400][value as usize];
    let matrix = |of: &dyn Fn(u64, u64) -> u64| -> Vec<u32> {
        let halves = (0..64 * 64).map(|at| half(of(at / 64, at % 64)));
        halves.collect::<Vec<u32>>().chunks(2).map(|it| it[0] | it[1] << 16).collect()
    };
    let (left, right) = (matrix(&entry), matrix(&|row, column| entry(column, row + 2)));
    let (a, b) = (filled(&mut memory, &left), filled(&mut memory, &right));
    for config in checked(1, 128).take(3) {
        let config = LaunchConfig { dynamic_shared: 16384, ..config };
        let c = filled(&mut memory, &[0; 64 * 64]);
        launch(&kernel, &mut memory, &config, &parameters, &[a, b, c]);
        let found = floats(&memory, c, 64 * 64);
        for (at, found) in (0..).zip(found) {
            let (row, column) = (at / 64, at % 64);
            let sum: u64 = (0..64).map(|k| entry(row, k) * entry(column, k + 2)).sum();
            assert_eq!(found, sum as f32, "row {row}, column {column}");
        }
    }
}

#[test]
fn a_product_of_warp_groups_is_refused_by_name_and_line() {
    let kernel = program("triton", "matmul", 90);
    let parameters: Vec<(usize, usize)> = kernel.parameters().to_vec();
    assert!(kernel.unsupported().any(|it| it.contains("wgmma.mma_async.sync.aligned")));
    let mut memory = Memory::new(1 << 24);
    let kernel = kernel.load(&mut memory).expect("it fits");
    let arrays = [2048, 2048, 4096].map(|words| filled(&mut memory, &vec![0; words]));
    let config = LaunchConfig { dynamic_shared: 32768, ..LaunchConfig::new("matmul", 1, 128) };
    let found = fault(kernel.launch(&mut memory, &config, &bytes(&parameters, &arrays)));
    let text = found.to_string();
    // The fence of the asynchronous proxy or `wgmma.fence`, in subsequent lines.
    assert!(text.contains("fence") && text.contains("in line 18"), "{text}");
    assert!(
        text.contains("is not supported") && text.contains("kernels_of_triton.py:50"),
        "{text}"
    );
}

#[test]
fn numba_sums_in_shared_memory() {
    runs("numba", "total", (3, Races::Checked), |memory, launch| {
        let x = filled(memory, &(0..300).collect::<Vec<u32>>());
        let out = filled(memory, &[1]);
        launch(memory, &[array(x, 300), array(out, 1)].concat());
        assert_eq!(numbers(memory, out, 1), [1 + 299 * 150]);
    });
}

#[test]
fn numba_counts_with_atomics() {
    runs("numba", "count", (3, Races::Checked), |memory, launch| {
        let x = filled(memory, &(0..300).map(|it| it * it).collect::<Vec<u32>>());
        let out = filled(memory, &[0; 8]);
        launch(memory, &[array(x, 300), array(out, 8)].concat());
        let count = |of: u32| (0..300u32).filter(|it| it * it % 8 == of).count() as u32;
        assert_eq!(numbers(memory, out, 8), (0..8).map(count).collect::<Vec<_>>());
    });
}

#[test]
fn numba_finds_the_largest_float_with_a_loop_of_swaps() {
    runs("numba", "largest", (2, Races::Checked), |memory, launch| {
        let x = filled(memory, &bits((0..200).map(|it| ((it * 71) % 200) as f32 - 100.5)));
        let out = filled(memory, &bits([f32::NEG_INFINITY]));
        launch(memory, &[array(x, 200), array(out, 1)].concat());
        assert_eq!(floats(memory, out, 1), [98.5]);
    });
}

#[test]
fn numba_scales_floats() {
    runs("numba", "scale", (2, Races::Checked), |memory, launch| {
        let values: Vec<f32> = (0..200).map(|it| it as f32 * 0.1).collect();
        let (x, out) = (filled(memory, &bits(values.clone())), filled(memory, &[0; 200]));
        let factor = u64::from(3f32.to_bits());
        launch(memory, &[&array(x, 200)[..], &array(out, 200), &[factor]].concat());
        let found = floats(memory, out, 200);
        for (value, found) in values.iter().zip(found) {
            assert!(
                (found - (value * value / 3.0 + 0.5)).abs() <= found * 1e-6,
                "{value}: {found}"
            );
        }
    });
}
