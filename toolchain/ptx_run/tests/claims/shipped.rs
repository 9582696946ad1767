//! Kernels of this project, from its committed PTX.

use std::path::Path;

use ptx_image::{Modules, PtxImage};
use ptx_run::{Kernel, Program};
use simt::{LaunchConfig, Memory};

use crate::support::{checked, filled, numbers};

/// A kernel as the images have it for a device.
fn shipped(name: &str, compute: u32, memory: &mut Memory) -> Kernel {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host/ptx");
    let read = |compute: u32| {
        let path = folder.join(format!("kernels_compute_{compute}.ptxz"));
        std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    };
    let files = [75, 90].map(read);
    let images = files.each_ref().map(|file| PtxImage::packed(file));
    let modules = Modules::of(&images, compute).expect("whole images");
    let text = modules.module(name).expect("a whole module").expect("it is in the images").text;
    let module = ptx::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    Program::new(&module, name).expect("it is a kernel").load(memory).expect("it fits")
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
        let kernel = shipped("reduce_sum_u32_in_u64", compute, &mut memory);
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host/ptx");
    let file = std::fs::read(folder.join("kernels_compute_75.ptxz")).expect("it is committed");
    let images = [PtxImage::packed(&file)];
    let modules = Modules::of(&images, 75).expect("a whole image");
    let name = "reduce_sum_u32_in_u64";
    let text = modules.module(name).expect("a whole module").expect("it is in the image").text;
    let line = text.lines().find(|line| line.contains("bar.sync")).expect("it has barriers");
    let module = ptx::parse(&text.replacen(line, "", 1)).expect("it is still a module");
    let mut memory = Memory::new(1 << 24);
    let kernel = Program::new(&module, name).expect("a kernel").load(&mut memory).expect("it fits");
    let words = zeros(&mut memory, 2 << 12, 8);
    let state = zeros(&mut memory, 65, 4);
    let input = [filled(&mut memory, &[1; 8192]), 8192];
    let result = zeros(&mut memory, 2, 4);
    let arguments = bytes(&[input, words, state, result], &[1, 0]);
    let config = LaunchConfig { races: true, zeroed: true, ..LaunchConfig::new(name, 4, 64) };
    let fault = crate::support::fault(kernel.launch(&mut memory, &config, &arguments));
    assert!(matches!(fault, simt::Fault::Race(_)), "{fault}");
}
