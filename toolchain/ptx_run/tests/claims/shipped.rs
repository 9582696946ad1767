//! Kernels of this project, from its committed PTX.

use std::path::Path;

use ptx_image::{Modules, PtxImage};
use ptx_run::Program;
use simt::{LaunchConfig, Memory};

use crate::support::{checked, filled, numbers};

/// A sum of `u32` in `u64`.
const SUM: &str = "reduce_sum_u32_in_u64";

/// Words of the state of a scan: three of its tiles, and eight for the next launch.
const SCAN_STATE: usize = 11;

/// The committed images of the kernels of primitives.
fn files() -> [Vec<u8>; 2] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host/ptx");
    [75, 90].map(|compute| {
        let path = folder.join(format!("kernels_compute_{compute}.ptxz"));
        std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    })
}

/// The text of a kernel's module for a device.
fn text(name: &str, compute: u32) -> String {
    let files = files();
    let images = files.each_ref().map(|file| PtxImage::packed(file));
    let modules = Modules::of(&images, compute).expect("whole images");
    modules.module(name).expect("a whole module").expect("it is in the images").text
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
    assert!(matches!(fault, simt::Fault::Race(_)), "{fault}");
}

/// The kernels for a target that have an instruction which is not supported.
fn kernels_with_unsupported(compute: u32) -> Vec<String> {
    let files = files();
    let images = files.each_ref().map(|file| PtxImage::packed(file));
    let modules = Modules::of(&images, compute).expect("whole images");
    let is_partial = |name: &&str| {
        let text = modules.module(name).expect("a whole module").expect("it is listed").text;
        program(name, &text).unsupported().next().is_some()
    };
    modules.kernels().filter(is_partial).map(str::to_owned).collect()
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
