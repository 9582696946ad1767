//! CUDA C++ compiled by nvcc, with and without optimisation. Without nvcc, the tests print SKIPPED.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_run::{Kernel, Program};
use simt::{Fault, LaunchConfig, Memory};

use crate::support::{checked, fault, filled, numbers};

/// The variable with the path of nvcc. Without it, nvcc is looked up in PATH.
const NVCC: &str = "NVCC";

fn nvcc() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::var_os(NVCC).map(PathBuf::from);
    let found = std::env::split_paths(&path).map(|folder| folder.join("nvcc"));
    named.into_iter().chain(found).find(|program| program.is_file())
}

/// The kernel of a file for a device, optimised with lines and for debugging.
fn compiled(file: &str, device: &str, mut run: impl FnMut(&Kernel, &mut Memory)) {
    let Some(nvcc) = nvcc() else {
        writeln!(std::io::stderr(), "SKIPPED: no nvcc in PATH or {NVCC}").expect("stderr is open");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().join("output.ptx");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    for options in [&["-O3", "-lineinfo"][..], &["-G"]] {
        let mut command = Command::new(&nvcc);
        command.args(["-ptx", "-arch", device, "-o"]).arg(&output).arg(&source).args(options);
        let done = command.output().unwrap_or_else(|error| panic!("{nvcc:?}: {error}"));
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let text = std::fs::read_to_string(&output).expect("nvcc wrote it");
        let module = ptx::parse(&text).expect("a module");
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
    compiled("tests/cuda/cooperative.cu", "sm_80", |kernel, memory| {
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
    compiled("tests/cuda/cluster.cu", "sm_90", |kernel, memory| {
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
