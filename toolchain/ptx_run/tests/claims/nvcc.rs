//! CUDA C++ compiled by nvcc, with and without optimisation. Without nvcc, the tests print SKIPPED.

use std::path::Path;

use ptx_run::{Kernel, Program};
use simt::{Fault, LaunchConfig, Memory};

use crate::compiler;
use crate::support::{checked, fault, filled, numbers};

/// The kernel of a file for a device, optimised with lines and for debugging.
fn compiled(file: &str, device: &str, mut run: impl FnMut(&Kernel, &mut Memory)) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    for options in compiler::MODES {
        let Some(module) = compiler::compile(&source, device, options) else { return };
        let name = module.kernels().next().expect("a kernel").name.clone();
        let mut memory = Memory::new(1 << 24);
        let program = Program::new(&module, &name).expect("it is in the module");
        run(&program.load(&mut memory).expect("it fits"), &mut memory);
    }
}

/// The bytes of parameters of 8 bytes each.
fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn atomics_and_a_flag_work_and_the_racy_store_is_named() {
    compiled("../ptx/tests/cuda/atomics.cu", "sm_80", |kernel, memory| {
        for config in checked(4, 1) {
            // The flag and the counter keep their values from launch to launch.
            let flag = kernel.address("flag").expect("a variable");
            let counter = kernel.address("counter").expect("a variable");
            for variable in [flag, counter] {
                memory.zero(variable, 4).expect("it has four bytes");
            }
            let (sum, out) = (filled(memory, &[0, 0]), filled(memory, &[0, 5]));
            let floats = filled(memory, &[0]);
            let arguments = words(&[sum, out, floats]);
            let calm = LaunchConfig { races: false, ..config };
            kernel
                .launch(memory, &calm, &arguments)
                .unwrap_or_else(|error| panic!("{:?}: {error}", config.schedule));
            assert_eq!(numbers(memory, sum, 2), [4, 0]);
            assert_eq!(numbers(memory, out, 2), [0, 5]);
            assert_eq!(numbers(memory, floats, 1), [2f32.to_bits()]);
            for variable in [flag, counter] {
                memory.zero(variable, 4).expect("it has four bytes");
            }
            let found = fault(kernel.launch(memory, &config, &arguments));
            let Fault::Race(race) = &found else { panic!("{found}") };
            // Both the store and the exchange are in that line; optimised, they are inlined.
            for place in [&race.earlier, &race.later].map(|access| access.site.place) {
                assert!(place.file().ends_with("atomics.cu"), "{found}");
                assert!([12, 16].contains(&place.line()), "{found}");
            }
        }
    });
}

#[test]
fn shared_memory_vectors_and_shuffles_work_without_a_race() {
    compiled("../ptx/tests/cuda/shared.cu", "sm_80", |kernel, memory| {
        let values: Vec<u32> = (0..256).map(|it| it * 1000).collect();
        let row = |it: u32| [1.0, 2.0, it as f32, 4.0];
        let rows: Vec<u32> = (0..256).flat_map(row).map(f32::to_bits).collect();
        for config in checked(1, 256) {
            let (out, rows) = (filled(memory, &values), filled(memory, &rows));
            let mut arguments = words(&[out, rows]);
            arguments.extend(100u32.to_le_bytes());
            let config = LaunchConfig { dynamic_shared: 1024, ..config };
            kernel.launch(memory, &config, &arguments).expect("no fault");
            let expected = |it: u32| (255 - it) * 1000 + if it % 32 == 31 { it } else { it + 1 };
            assert_eq!(numbers(memory, out, 256), (0..256).map(expected).collect::<Vec<_>>());
            let found: Vec<f32> =
                numbers(memory, rows, 1024).into_iter().map(f32::from_bits).collect();
            assert_eq!(found[99 * 4..101 * 4], [4.0, 99.0, 2.0 * 0.1, 1.0, 1.0, 2.0, 100.0, 4.0]);
        }
    });
}

#[test]
fn device_functions_tables_doubles_and_printf_work() {
    compiled("../ptx/tests/cuda/functions.cu", "sm_80", |kernel, memory| {
        let mut run = |which: u32| {
            let out = filled(memory, &[0, 6, 7, 0, 0, 0, 0]);
            let mut arguments = words(&[out]);
            arguments.extend(which.to_le_bytes());
            arguments.extend([0; 4]);
            arguments.extend(3u64.to_le_bytes());
            arguments.extend(2.5f64.to_le_bytes());
            let launch = kernel.launch(memory, &LaunchConfig::new("call", 1, 1), &arguments);
            launch.map(|_| numbers(memory, out, 7))
        };
        // out[0] is 6 + 7 or 6 · 7; the swapped pair is (2, 3.0).
        assert_eq!(run(0).expect("no fault"), [13, 6, 7, 2, 0, 0, 0]);
        assert_eq!(run(1).expect("no fault"), [42, 6, 7, 0, 1, 0, 0]);
        assert_eq!(run(2).expect("no fault"), [13, 6, 7, 0, 0, (-6i32).cast_unsigned(), 0]);
        assert_eq!(run(3).expect("no fault"), [42, 6, 7, 0, 0, 0, 3]);
        assert_eq!(run(4).expect("no fault"), [13, 6, 7, 0, 0, 0, 0]);
        let trap = run(5).expect_err("it traps").to_string();
        assert!(trap.contains("trap") && trap.contains("functions.cu:25"), "{trap}");
    });
}

#[test]
fn asynchronous_copies_barriers_and_the_barrier_of_the_grid_work_without_a_race() {
    compiled("tests/nvcc/cooperative.cu", "sm_80", |kernel, memory| {
        let input: Vec<u32> = (0..4 * 256).map(|it| it * 5).collect();
        let copied = |it: u32| {
            let (block, thread) = (it / 64, it % 64);
            let row = block * 128 + 63 - thread;
            input[4 * row as usize] + input[4 * (row as usize + 64) + 1]
        };
        for config in checked(2, 64) {
            let given = filled(memory, &input);
            let (out, sums) = (filled(memory, &[0; 128]), filled(memory, &[0; 128]));
            let config = LaunchConfig { cooperative: true, ..config };
            kernel
                .launch(memory, &config, &words(&[given, out, sums]))
                .unwrap_or_else(|error| panic!("{:?}: {error}", config.schedule));
            assert_eq!(numbers(memory, out, 128), (0..128).map(copied).collect::<Vec<_>>());
            let expected = |it: u32| copied((it + 64) % 128) + 64;
            assert_eq!(numbers(memory, sums, 128), (0..128).map(expected).collect::<Vec<_>>());
        }
    });
}

#[test]
fn bulk_copies_and_the_memory_of_a_cluster_work_without_a_race() {
    compiled("tests/nvcc/cluster.cu", "sm_90", |kernel, memory| {
        let input: Vec<u32> = (0..256).map(|it| it * 3).collect();
        for config in checked(4, 64) {
            let (given, out) = (filled(memory, &input), filled(memory, &[0; 256]));
            let config = LaunchConfig { cluster: Some(2), ..config };
            kernel
                .launch(memory, &config, &words(&[given, out]))
                .unwrap_or_else(|error| panic!("{:?}: {error}", config.schedule));
            let expected = |it: u32| input[((it ^ 64) ^ 63) as usize] + 2;
            assert_eq!(numbers(memory, out, 256), (0..256).map(expected).collect::<Vec<_>>());
        }
    });
}

#[test]
fn halves_roundings_approximations_and_bits_of_cuda_work() {
    compiled("tests/nvcc/halves.cu", "sm_80", |kernel, memory| {
        let half = |value: u32| [0, 0x3c00, 0x4000, 0x4200][value as usize];
        for config in checked(1, 64).take(4) {
            let array = |memory: &mut Memory, of: &dyn Fn(u32) -> u32| {
                filled(memory, &(0..64).map(of).collect::<Vec<u32>>())
            };
            let h = array(memory, &|it| half(it % 4) | 0x3c00 << 16);
            let b = array(memory, &|it| if it % 2 == 0 { 0x3fc0_bf00 } else { 0x4000_c000 });
            let f = array(memory, &|it| (it as f32 / 16.0).to_bits());
            let sum = filled(memory, &[0]);
            let doubles: Vec<u32> = (0..64)
                .flat_map(|it| (f64::from(it) / 32.0).to_bits().to_le_bytes())
                .collect::<Vec<u8>>()
                .chunks(4)
                .map(|it| u32::from_le_bytes(it.try_into().expect("4 bytes")))
                .collect();
            let (d, u) = (filled(memory, &doubles), array(memory, &|it| it * 0x0101_0305 + 3));
            let launch = kernel.launch(memory, &config, &words(&[h, b, sum, f, d, u]));
            launch.unwrap_or_else(|error| panic!("{:?}: {error}", config.schedule));
            // 0.5, 2, 6 or 12, and 1 + 1.
            assert_eq!(numbers(memory, h, 4), [0x4000_3800, 0x4000_4000, 0x4000_4600, 0x4000_4a00]);
            assert_eq!(numbers(memory, sum, 1), [0x5800_5d20]);
            // 1.5 + 2.25, and 0.25 - 0.5; 2 + 4, and 4 - 2.
            assert_eq!(numbers(memory, b, 2), [0x4070_0000, 0x40c0_4000]);
            for (it, found) in (0u32..).zip(numbers(memory, f, 64)) {
                let x = f64::from(it) / 16.0;
                let expected =
                    x.exp() + x / 3.0 + x + 1.0 / (x + 2.0) + 1.0 / (x + 1.0).sqrt() + x.sin();
                let found = f64::from(f32::from_bits(found));
                assert!((found - expected).abs() < 2e-6 * expected, "{x}: {found}, not {expected}");
            }
            for (it, found) in (0u32..).zip(numbers(memory, d, 128).chunks(2)) {
                let x = f64::from(it) / 32.0;
                let expected = x + x.exp() * (x + 1.0).sqrt();
                let found = f64::from_bits(u64::from(found[0]) | u64::from(found[1]) << 32);
                assert!(
                    (found - expected).abs() < 1e-15 * expected,
                    "{x}: {found}, not {expected}"
                );
            }
            for (it, found) in (0u32..).zip(numbers(memory, u, 64)) {
                let x = it * 0x0101_0305 + 3;
                let dot: u32 = x
                    .to_le_bytes()
                    .into_iter()
                    .zip([4, 3, 2, 1])
                    .map(|(a, b)| u32::from(a) * b)
                    .sum();
                let second = (0..32).filter(|at| x >> at & 1 == 1).nth(1).unwrap_or(u32::MAX);
                let [a, b] = [x, it].map(u32::to_le_bytes);
                let permuted = u32::from_le_bytes([a[0], b[0], a[1], b[1]]);
                let all = [dot + 5, (x & 0x00ff_ffff).wrapping_mul(7), second, permuted];
                assert_eq!(found, all.into_iter().fold(0, u32::wrapping_add), "{x:#x}");
            }
        }
    });
}
