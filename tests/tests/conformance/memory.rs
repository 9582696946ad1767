//! The kernels that measure memory: walks reach the right line, sums are those of the words, and
//! the loads are the intended instructions. The measurements are not tested.

use cuda_std::launch::Kernel;
use gridsync::device::cuda::Modules;
use gridsync::device::{Device, Geometry};
use gridsync_lab::images::LAB;
use gridsync_lab::memory::bandwidth::{Array, READERS, Shape, read_shared};
use gridsync_lab::memory::latencies::{Walk, WalkArgs, repeat, two_multiprocessors};
use gridsync_lab::memory::lines::look;
use gridsync_lab::ptx::Body;
use gridsync_lab_kernels::memory::latency::{
    memory_barrier, memory_shuffle, memory_walk_cluster, memory_walk_l1, memory_walk_l2,
    memory_walk_shared,
};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            each_walk_repeats_the_load_that_it_measures;
        on_each_backend:
            walks_end_at_the_right_line,
            a_walk_goes_through_the_shared_memory_of_another_block,
            shuffles_and_barriers_run_the_requested_number_of_times,
            every_line_is_read_from_every_block,
            readers_add_up_every_word_that_they_should_read,
            shared_memory_is_read_the_requested_number_of_times;
    }
}

fn each_walk_repeats_the_load_that_it_measures() {
    let walks = [
        (75, memory_walk_l1::NAME, "ld.global.b32"),
        (75, memory_walk_l2::NAME, "ld.relaxed.gpu.global.b32"),
        (75, memory_walk_shared::NAME, "ld.shared.b32"),
        (90, memory_walk_cluster::NAME, "ld.shared::cluster.b32"),
    ];
    for compute in [75, 90] {
        let modules = Modules::of(&LAB, compute).expect("whole images");
        for (_, kernel, load) in walks.into_iter().filter(|(since, ..)| *since <= compute) {
            let body = Body::of(&modules, kernel).expect("a whole image");
            let body = body.expect("the kernel is built");
            let is_looped = body.looped().any(|it| it.mnemonic.text() == load);
            assert!(is_looped, "{kernel} on compute_{compute}: {body:?}");
        }
    }
}

/// Walks over several cycles, from several lines.
fn walks<K: Kernel<Args = WalkArgs>>(device: &Device, geometry: &Geometry) {
    for lines in [1, 7, 128] {
        let walk = Walk::new(device, lines).expect("there is room");
        for (first, warm, steps) in [(0, 0, 0), (0, 0, 1), (lines as u32 - 1, 3, 20), (0, 5, 300)] {
            // This compares the line that the kernel reaches with the host's.
            if let Err(error) = walk.run::<K>(geometry, first, warm, steps) {
                panic!("{lines} lines from {first}, {warm} and {steps} steps: {error}");
            }
        }
    }
}

pub(super) fn walks_end_at_the_right_line(device: &Device) {
    let one = Geometry::new(1, 1);
    walks::<memory_walk_l1>(device, &one);
    walks::<memory_walk_l2>(device, &one);
    walks::<memory_walk_shared>(device, &one);
}

pub(super) fn a_walk_goes_through_the_shared_memory_of_another_block(device: &Device) {
    if device.properties().cluster {
        walks::<memory_walk_cluster>(device, &two_multiprocessors(device));
    }
}

pub(super) fn shuffles_and_barriers_run_the_requested_number_of_times(device: &Device) {
    for steps in [0, 1, 33, 100] {
        repeat::<memory_shuffle>(device, 32, steps).expect("lanes rotate");
        repeat::<memory_barrier>(device, 96, steps).expect("all threads pass");
    }
}

pub(super) fn every_line_is_read_from_every_block(device: &Device) {
    for (lines, blocks) in [(1, 1), (5, 3), (16, 2)] {
        let seen = look(device, lines, blocks).expect("every load gives its own index");
        assert_eq!(seen.len(), blocks as usize);
        assert!(seen.iter().all(|cycles| cycles.len() == lines), "{seen:?}");
        // The emulator's clock counts steps of the schedule, and these loads are not steps.
        let is_timed = seen.iter().flatten().all(|&cycles| cycles > 0.0);
        assert!(is_timed || device.properties().is_emulated(), "{seen:?}");
    }
}

fn readers_add_up_every_word_that_they_should_read(device: &Device) {
    let array = Array::new(device, 1 << 14).expect("there is room");
    for reader in &READERS {
        for (blocks, threads) in [(1, 1), (2, 33), (3, 64)] {
            for (first, rounds) in [(0, 0), (0, 1), (1000, 3), (1, 40)] {
                let read = array.read(reader, Shape { blocks, threads }, first, rounds);
                read.unwrap_or_else(|error| panic!("{reader:?}, {blocks} × {threads}: {error}"));
            }
        }
    }
}

pub(super) fn shared_memory_is_read_the_requested_number_of_times(device: &Device) {
    for (blocks, rounds) in [(1, 0), (1, 1), (2, 5)] {
        read_shared(device, blocks, rounds).expect("the sums are right");
    }
}
