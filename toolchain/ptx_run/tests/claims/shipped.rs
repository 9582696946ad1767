//! Kernels of this project, from its committed PTX.

use std::path::Path;

use ptx_image::{Modules, PtxImage};
use ptx_run::Program;
use simt::{Fault, LaunchConfig, Memory};

use crate::support::{checked, filled, numbers};

/// A sum of `u32` in `u64`.
const SUM: &str = "reduce_sum_u32_in_u64";

/// Words of the state of a scan: three of its tiles, and eight for the next launch.
const SCAN_STATE: usize = 11;

/// The committed images of the kernels of primitives, and those of the lab.
const IMAGES: [&str; 2] = ["ptx/kernels", "lab/ptx/lab"];

/// The files of an image.
fn files(image: &str) -> [Vec<u8>; 2] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host");
    [75, 90].map(|compute| {
        let path = folder.join(format!("{image}_compute_{compute}.ptxz"));
        std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    })
}

/// The text of a kernel's module for a device.
fn text(name: &str, compute: u32) -> String {
    let text = IMAGES.iter().find_map(|image| {
        let files = files(image);
        let images = files.each_ref().map(|file| PtxImage::packed(file));
        let modules = Modules::of(&images, compute).expect("whole images");
        modules.module(name).expect("a whole module")
    });
    text.expect("it is in the images").text
}

/// The kernel of a text.
fn program(name: &str, text: &str) -> Program {
    let module = ptx::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    Program::new(&module, name).expect("it is a kernel")
}

/// An array of zeros of so many elements, as an argument: its address and length.
fn zeros(memory: &mut Memory, elements: usize, bytes: usize) -> [u64; 2] {
    let address = memory.alloc(elements * bytes, 16).expect("it fits");
    memory.zero(address, elements * bytes).expect("it is in bounds");
    [address, elements as u64]
}

fn bytes(arguments: &[[u64; 2]], last: &[u32]) -> Vec<u8> {
    let views = arguments.iter().flatten().flat_map(|word| word.to_le_bytes());
    views.chain(last.iter().flat_map(|word| word.to_le_bytes())).collect()
}

#[test]
fn a_shipped_sum_is_right_under_all_schedules_and_has_no_race() {
    // Four tiles of two warps with 1024 elements each.
    const LEN: u32 = 8 * 1024 - 5;
    for compute in [75, 90] {
        let mut memory = Memory::new(1 << 24);
        let program = program(SUM, &text(SUM, compute));
        let kernel = program.load(&mut memory).expect("it fits");
        let words = zeros(&mut memory, 2 << 12, 8);
        let state = zeros(&mut memory, 65, 4);
        for (launch, config) in checked(4, 64).take(12).enumerate() {
            let values: Vec<u32> =
                (0..LEN).map(|it| it.wrapping_mul(2_654_435_761 + launch as u32)).collect();
            let input = [filled(&mut memory, &values), LEN.into()];
            let result = zeros(&mut memory, 2, 4);
            let arguments = bytes(&[input, words, state, result], &[1, 0]);
            kernel
                .launch(&mut memory, &config, &arguments)
                .unwrap_or_else(|error| panic!("{:?}: {error}", config.schedule));
            let found = numbers(&memory, result[0], 2);
            let sum: u64 = values.iter().map(|&it| u64::from(it)).sum();
            assert_eq!(u64::from(found[1]) << 32 | u64::from(found[0]), sum, "launch {launch}");
        }
    }
}

#[test]
fn a_shipped_sum_without_its_barrier_has_a_race() {
    let text = text(SUM, 75);
    let line = text.lines().find(|line| line.contains("bar.sync")).expect("it has barriers");
    let program = program(SUM, &text.replacen(line, "", 1));
    let mut memory = Memory::new(1 << 24);
    let kernel = program.load(&mut memory).expect("it fits");
    let words = zeros(&mut memory, 2 << 12, 8);
    let state = zeros(&mut memory, 65, 4);
    let input = [filled(&mut memory, &[1; 8192]), 8192];
    let result = zeros(&mut memory, 2, 4);
    let arguments = bytes(&[input, words, state, result], &[1, 0]);
    let config = LaunchConfig { races: true, zeroed: true, ..LaunchConfig::new(SUM, 4, 64) };
    let fault = crate::support::fault(kernel.launch(&mut memory, &config, &arguments));
    assert!(matches!(fault, Fault::Race(_)), "{fault}");
}

/// The kernels for a target that have an instruction which is not supported.
fn kernels_with_unsupported(compute: u32) -> Vec<String> {
    let mut found = Vec::new();
    for image in IMAGES {
        let files = files(image);
        let images = files.each_ref().map(|file| PtxImage::packed(file));
        let modules = Modules::of(&images, compute).expect("whole images");
        let is_partial = |name: &&str| {
            let text = modules.module(name).expect("a whole module").expect("it is listed").text;
            program(name, &text).unsupported().next().is_some()
        };
        found.extend(modules.kernels().filter(is_partial).map(str::to_owned));
    }
    found
}

#[test]
fn all_shipped_kernels_for_compute_75_have_only_supported_instructions() {
    assert_eq!(kernels_with_unsupported(75), [""; 0]);
}

#[test]
fn all_shipped_kernels_for_compute_90_have_only_supported_instructions() {
    assert_eq!(kernels_with_unsupported(90), [""; 0]);
}

#[test]
fn a_shipped_scan_looks_back_over_several_launches_without_a_race() {
    // Six tiles of one warp with 64 elements each, in groups of two.
    const LEN: u32 = 5 * 64 + 9;
    let name = "scan_sum_u64";
    let text = text(name, 75);
    for config in checked(6, 32) {
        let mut memory = Memory::new(1 << 24);
        let kernel = program(name, &text).load(&mut memory).expect("it fits");
        let words = zeros(&mut memory, 2 * (6 + 3), 8);
        let state = zeros(&mut memory, SCAN_STATE, 4);
        for launch in 1..4 {
            let values: Vec<u64> = (0..u64::from(LEN)).map(|it| (it * launch) << 20).collect();
            let halves = values.iter().flat_map(|&it| [it as u32, (it >> 32) as u32]);
            let input = [filled(&mut memory, &halves.collect::<Vec<_>>()), LEN.into()];
            let output = zeros(&mut memory, LEN as usize, 8);
            let arguments = bytes(&[input, output, words, state], &[1, 2, 0, 0]);
            kernel
                .launch(&mut memory, &config, &arguments)
                .unwrap_or_else(|error| panic!("{:?}: {error}", config.schedule));
            let found = numbers(&memory, output[0], 2 * LEN as usize);
            let found = found.chunks(2).map(|it| u64::from(it[1]) << 32 | u64::from(it[0]));
            let sums = values.iter().scan(0, |sum, value| {
                *sum += value;
                Some(*sum)
            });
            assert!(found.eq(sums), "launch {launch}, {:?}", config.schedule);
        }
    }
}

/// A scan by bulk copies, of three tiles of 8192 elements by two blocks. Returns the results.
fn scan_by_bulk(text: &str, config: &LaunchConfig<'_>, input: &[u32]) -> Result<Vec<u32>, Fault> {
    let mut memory = Memory::new(1 << 24);
    let kernel = program(BULK_SCAN, text).load(&mut memory).expect("it fits");
    let view = [filled(&mut memory, input), input.len() as u64];
    let output = zeros(&mut memory, input.len(), 4);
    let words = zeros(&mut memory, 4, 8);
    let state = zeros(&mut memory, SCAN_STATE, 4);
    let arguments = bytes(&[view, output, words, state], &[3, 0]);
    let config = LaunchConfig {
        grid: 2.into(),
        block: 576.into(),
        dynamic_shared: 6 << 15,
        shared_per_block: 227 << 10,
        ..*config
    };
    let launched = kernel.launch(&mut memory, &config, &arguments);
    if launched.is_err() {
        Err(crate::support::fault(launched))
    } else {
        Ok(numbers(&memory, output[0], input.len()))
    }
}

/// The scan with bulk copies.
const BULK_SCAN: &str = "scan_bulk_sum_u32";

#[test]
fn a_shipped_scan_with_bulk_copies_is_right_and_needs_its_fences() {
    let text = text(BULK_SCAN, 90);
    let input: Vec<u32> = (0..2 * 8192 + 77).map(|it| it * 7 + 1).collect();
    let expected: Vec<u32> = input
        .iter()
        .scan(0u32, |sum, value| {
            *sum = sum.wrapping_add(*value);
            Some(*sum)
        })
        .collect();
    for config in checked(2, 576).take(6) {
        let found = scan_by_bulk(&text, &config, &input);
        assert!(found.unwrap_or_else(|found| panic!("{:?}: {found}", config.schedule)) == expected);
    }
    for instruction in ["fence.mbarrier_init", "fence.proxy.async"] {
        let line = text.lines().find(|line| line.contains(instruction)).expect("it is there");
        let wrong = text.replace(line, "");
        for config in checked(2, 576).take(3) {
            let found = scan_by_bulk(&wrong, &config, &input).expect_err("no fence");
            assert!(matches!(found, Fault::Race(_) | Fault::Trap { .. }), "{found}");
        }
    }
}

#[test]
fn a_shipped_walk_reads_the_shared_memory_of_another_block() {
    let name = "memory_walk_cluster";
    let text = text(name, 90);
    for config in checked(2, 1) {
        let mut memory = Memory::new(1 << 20);
        let kernel = program(name, &text).load(&mut memory).expect("it fits");
        let words = [filled(&mut memory, &[3, 0, 1, 2]), 4];
        let (found, cycles) = (zeros(&mut memory, 1, 4), zeros(&mut memory, 1, 8));
        let arguments = bytes(&[words, found, cycles], &[1, 2, 3]);
        let config = LaunchConfig { cluster: Some(2), ..config };
        kernel.launch(&mut memory, &config, &arguments).expect("no fault");
        // 1 → 0 → 3 → 2 → 1 → 0.
        assert_eq!(numbers(&memory, found[0], 1), [0]);
        assert!(numbers(&memory, cycles[0], 1)[0] > 0);
    }
}

#[test]
fn a_shipped_barrier_of_clusters_holds_under_all_schedules() {
    let name = "cluster_barrier_rounds";
    let text = text(name, 90);
    for config in checked(4, 64) {
        let mut memory = Memory::new(1 << 20);
        let kernel = program(name, &text).load(&mut memory).expect("it fits");
        let barrier = zeros(&mut memory, 1, 4);
        let (cells, errors) = (zeros(&mut memory, 256, 4), zeros(&mut memory, 1, 4));
        let arguments = bytes(&[barrier, cells, errors], &[1, 4, 0]);
        let config = LaunchConfig { cluster: Some(2), ..config };
        kernel
            .launch(&mut memory, &config, &arguments)
            .unwrap_or_else(|error| panic!("{:?}: {error}", config.schedule));
        assert_eq!(numbers(&memory, errors[0], 1), [0]);
        assert_eq!(numbers(&memory, cells[0], 256), [4; 256]);
    }
}

/// The entries of the log that a kernel and its children write.
fn logged(name: &str, number: u32, config: &LaunchConfig<'_>) -> Vec<u32> {
    let mut memory = Memory::new(1 << 20);
    let kernel = program(name, &text(name, 75)).load(&mut memory).expect("it fits");
    let (log, status) = (zeros(&mut memory, 10, 4), zeros(&mut memory, 1, 4));
    let mut arguments = bytes(&[log], &[number, 0]);
    arguments.extend(bytes(&[status], &[]));
    kernel.launch(&mut memory, config, &arguments).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(numbers(&memory, status[0], 1), [0], "{name}");
    let entries = numbers(&memory, log[0], 1)[0] as usize;
    numbers(&memory, log[0] + 4, entries)
}

#[test]
fn shipped_kernels_launch_kernels() {
    for config in checked(1, 1).take(8) {
        let ordered = logged("device_launch_ordered", 0, &config);
        let at = |number| ordered.iter().position(|&it| it == number).expect("it is logged");
        assert!(ordered.len() == 3 && at(1) < at(2) && at(1) < at(3), "{ordered:?}");
        let tail = logged("device_launch_tail", 0, &config);
        assert!(tail == [1, 2, 3, 4] || tail == [2, 1, 3, 4], "{tail:?}");
        assert_eq!(logged("device_launch_count_down", 5, &config), [5, 4, 3, 2, 1, 0]);
    }
}
