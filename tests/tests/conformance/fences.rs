//! The kernels that measure fences: the operation is in a loop, and the final words are right. The
//! measurements are not tested.

use gridsync::device::Device;
use gridsync::device::cuda::Modules;
use gridsync_lab::fences::{NOTHING, OPERATIONS};
use gridsync_lab::images::LAB;
use gridsync_lab::ptx::Body;
use gridsync_lab_kernels::fences::{MAX_STORES, WORDS_PER_BLOCK};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            each_operation_is_in_a_loop_of_its_kernel,
            every_thread_reports_its_cycles_on_cuda;
        on_each_backend:
            each_thread_stores_to_its_lines_and_reds_add_to_its_word;
    }
}

/// Words of a line.
const LINE: usize = WORDS_PER_BLOCK / (MAX_STORES as usize + 1);
const ROUNDS: u32 = 5;

fn each_operation_is_in_a_loop_of_its_kernel() {
    for compute in [75, 90] {
        let modules = Modules::of(&LAB, compute).expect("whole images");
        for operation in OPERATIONS {
            let body = Body::of(&modules, operation.kernel).expect("a whole image");
            let body = body.expect("the kernel is built");
            let mut looped = body.looped().map(|it| it.mnemonic.text());
            let is_looped = looped.any(|text| text.starts_with(operation.instruction));
            assert!(is_looped, "{operation:?}: {body:?}");
        }
    }
}

pub(super) fn each_thread_stores_to_its_lines_and_reds_add_to_its_word(device: &Device) {
    for operation in OPERATIONS.into_iter().chain([NOTHING]) {
        for (grid, stores) in [((1, 1), 8), ((2, 7), 1), ((3, 32), 0), ((3, 32), 8)] {
            let run = operation
                .run(device, grid, stores, ROUNDS)
                .unwrap_or_else(|error| panic!("{operation:?}: {error}"));
            let adds = operation.instruction.starts_with("red");
            let expected: Vec<u32> = (0..grid.0 as usize * WORDS_PER_BLOCK)
                .map(|word| left_in(word, grid.1 as usize, stores as usize, adds))
                .collect();
            assert_eq!(run.words, expected, "{operation:?}, {grid:?}, {stores} stores");
        }
    }
}

/// The final value of a word: the number of the last round in each line that is stored to, the
/// number of rounds in the last line if the operation adds, and 0 elsewhere.
fn left_in(word: usize, threads: usize, stores: usize, adds: bool) -> u32 {
    let (line, thread) = (word % WORDS_PER_BLOCK / LINE, word % LINE);
    let touched = line < stores || (adds && line == MAX_STORES as usize);
    if touched && thread < threads { ROUNDS } else { 0 }
}

fn every_thread_reports_its_cycles_on_cuda() {
    gridsync_tests::devices::with_cuda(|device| {
        for operation in OPERATIONS {
            let run = operation.run(device, (3, 32), 1, 100).expect("it should run");
            assert_eq!(run.cycles.len(), 96);
            assert!(run.cycles.iter().all(|&cycles| cycles > 0), "{run:?}");
        }
    });
}
