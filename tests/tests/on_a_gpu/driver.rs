//! Launches, clusters, graphs and refusals.

use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::cuda::{PtxImage, probe};
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync::launch::{Blocks, cooperative, resident_blocks};
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
use gridsync_lab_kernels::barrier::{barrier_only, barrier_rounds};
use gridsync_tests::devices::{images, skipped};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            a_ptx_that_the_driver_rejects_shows_the_jit_log,
            a_cluster_launch_makes_clusters,
            the_driver_and_the_plan_agree_on_the_largest_resident_grid,
            a_barrier_word_serves_a_thousand_rounds_of_every_grid,
            a_graph_of_the_barrier_replays_a_hundred_times_without_an_error,
            a_kernel_is_compiled_while_its_first_launch_is_recorded,
            an_overlapping_launch_sees_the_previous_kernels_writes_after_its_wait,
            calls_that_cannot_be_recorded_do_not_break_the_recording_of_the_driver,
            out_of_memory_on_a_gpu_reports_the_requested_and_free_bytes;
    }
}

/// The first GPU, opened with `images`. Without a GPU the test is skipped.
fn gpu(images: &[PtxImage]) -> Option<Device> {
    if let Err(reason) = probe() {
        skipped(&format!("no CUDA device: {reason}"));
        return None;
    }
    Some(Device::cuda(0, images).expect("a device that was found should open"))
}

/// Declares the type to launch a kernel that this file has as PTX.
macro_rules! ptx_kernel {
    ($name:ident($($arg:ty),*)) => {
        #[allow(non_camel_case_types)]
        struct $name;

        impl Kernel for $name {
            const NAME: &'static str = stringify!($name);
            const COOPERATIVE: bool = false;
            type Args = ($($arg,)*);

            unsafe fn run(_: Self::Args) {
                unreachable!("a kernel in PTX runs on a GPU only")
            }
        }
    };
}
ptx_kernel!(broken());
ptx_kernel!(cluster_rank(Global<u32>));
ptx_kernel!(writes_late(Global<u32>, u32));
ptx_kernel!(copies_mirrored(Global<u32>, Global<u32>));

fn a_ptx_that_the_driver_rejects_shows_the_jit_log() {
    const IMAGE: PtxImage = PtxImage::text(
        75,
        ".version 7.0\n.target sm_75\n.address_size 64\n\
               .visible .entry broken()\n{\n  no.such.instruction %r1;\n  ret;\n}\n",
    );
    let Some(device) = gpu(&[IMAGE]) else { return };
    // SAFETY: the kernel has no arguments, and it never runs.
    let error =
        unsafe { device.launch::<broken>(&Geometry::new(1, 1), ()) }.expect_err("this is no PTX");
    let DeviceError::Jit { log, .. } = &error else { panic!("{error}") };
    assert!(log.contains("line 6"), "the log should name the line: {log}");
    let said = error.to_string();
    assert!(said.contains("`broken`") && said.contains(log), "{said}");
}

fn a_cluster_launch_makes_clusters() {
    const IMAGE: PtxImage = PtxImage::text(
        90,
        ".version 7.8\n.target sm_90\n.address_size 64\n\
               .visible .entry cluster_rank(.param .align 8 .b8 out[16])\n{\n\
               .reg .b32 %r<4>; .reg .b64 %rd<4>;\n\
               ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_ctarank;\n\
               mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r2;\n\
               ret;\n}\n",
    );
    let Some(device) = gpu(&images()) else { return };
    if !device.properties().cluster {
        skipped(&format!("{} has no clusters", device.properties().name));
        return;
    }
    let device = gpu(&[IMAGE]).expect("the device is there");
    let ranks = device.zeroed::<u32>(8).expect("8 words should fit");
    let geometry = Geometry::new(8, 32).clusters_of(4);
    // SAFETY: one word per block.
    unsafe { device.launch::<cluster_rank>(&geometry, (ranks.view(),)) }.expect("should launch");
    assert_eq!(ranks.download().expect("should run"), [0, 1, 2, 3, 0, 1, 2, 3]);
}

fn the_driver_and_the_plan_agree_on_the_largest_resident_grid() {
    let Some(device) = gpu(&images()) else { return };
    for threads in [32, 128, 256, 1024] {
        let resident = resident_blocks::<barrier_only>(&device, threads, 0).expect("should say");
        assert!(resident >= device.properties().multiprocessors);
        let barrier = device.zeroed::<u32>(GridBarrier::words(0)).expect("the words should fit");
        let largest = Geometry::new(resident, threads).cooperative();
        // SAFETY: a barrier word of 0; the driver makes all blocks resident or refuses the launch.
        unsafe { device.launch::<barrier_only>(&largest, (barrier.view(), 3)) }
            .expect("the largest grid should be accepted");
        device.synchronize().expect("and should end");

        let larger = Geometry::new(resident + 1, threads).cooperative();
        // SAFETY: the barrier word is 0; the driver makes all blocks resident or refuses the
        // launch.
        let refused = unsafe { device.launch::<barrier_only>(&larger, (barrier.view(), 3)) };
        assert!(
            matches!(refused, Err(DeviceError::GridTooLarge { resident: r, .. }) if r == u64::from(resident)),
            "{refused:?}"
        );
        let planned =
            cooperative::<barrier_only>(&device, Blocks::Exactly(resident + 1), threads, 0);
        assert!(matches!(planned, Err(DeviceError::GridTooLarge { .. })));
    }
}

fn a_barrier_word_serves_a_thousand_rounds_of_every_grid() {
    let Some(device) = gpu(&images()) else { return };
    let barrier = device.zeroed::<u32>(GridBarrier::words(0)).expect("the words should fit");
    for (blocks, threads) in [
        (Blocks::Exactly(1), 1),
        (Blocks::Exactly(33), 96),
        (Blocks::Fill, 512),
        (Blocks::Fill, 64),
    ] {
        let geometry = cooperative::<barrier_rounds>(&device, blocks, threads, 0).expect("fits");
        let grid_threads = (geometry.grid.volume() * geometry.block.volume()) as usize;
        let cells = device.zeroed::<u32>(grid_threads).expect("cells should fit");
        let errors = device.zeroed::<u32>(1).expect("a word should fit");
        let args = (barrier.view(), cells.view(), errors.view(), 1, 1000, 0);
        // SAFETY: a cell per thread, one counter, a resident geometry, and a barrier word that the
        // previous launch left between two rounds.
        unsafe { device.launch::<barrier_rounds>(&geometry, args) }.expect("should launch");
        assert_eq!(errors.download().expect("should run"), [0], "{geometry}");
    }
}

fn a_graph_of_the_barrier_replays_a_hundred_times_without_an_error() {
    let Some(device) = gpu(&images()) else { return };
    let geometry = cooperative::<barrier_rounds>(&device, Blocks::Fill, 256, 0).expect("fits");
    let grid_threads = (geometry.grid.volume() * geometry.block.volume()) as usize;
    let zeroed = |len| device.zeroed::<u32>(len).expect("the words should fit");
    let (barrier, cells, errors) = (zeroed(GridBarrier::words(0)), zeroed(grid_threads), zeroed(1));
    let args = (barrier.view(), cells.view(), errors.view(), 1, 10, 0);
    // SAFETY: a cell per thread, one counter, a resident geometry, and a barrier word that the
    // previous launch left between two rounds.
    let graph = device
        .record(|| unsafe {
            device.launch::<barrier_rounds>(&geometry, args)?;
            device.launch::<barrier_rounds>(&geometry, args)
        })
        .expect("cooperative launches should be recorded");
    for _ in 0..100 {
        // SAFETY: the buffers of the recorded launches are alive.
        unsafe { graph.launch() }.expect("should launch");
    }
    device.synchronize().expect("should run");
    assert_eq!(errors.download().expect("should run"), [0], "{geometry}");
    drop(graph);
    let larger = Geometry::new(1 << 20, 256);
    // SAFETY: the launch is refused, so it never runs.
    let refused = device.record(|| unsafe { device.launch::<barrier_rounds>(&larger, args) });
    assert!(matches!(refused, Err(DeviceError::GridTooLarge { .. })), "{refused:?}");
}

fn a_kernel_is_compiled_while_its_first_launch_is_recorded() {
    let Some(device) = gpu(&images()) else { return };
    let words = device.zeroed::<u32>(GridBarrier::words(0));
    let barrier = words.expect("the words should fit");
    // SAFETY: barrier words of 0, and two blocks, which any GPU can hold.
    let launch =
        || unsafe { device.launch::<barrier_only>(&Geometry::new(2, 32), (barrier.view(), 3)) };
    let graph = device.record(launch).expect("a first launch should be recorded");
    // SAFETY: the barrier words are alive.
    unsafe { graph.launch() }.expect("should launch");
    device.synchronize().expect("should run");
}

/// Each block of the first kernel lets the next grid start, sleeps, and writes its element. Each
/// block of the second one waits, and copies the mirrored element.
const OVERLAPPING: PtxImage = PtxImage::text(
    90,
    ".version 7.8\n.target sm_90\n.address_size 64\n\
           .visible .entry writes_late(.param .align 8 .b8 to[16], .param .u32 value)\n{\n\
           .reg .b32 %r<3>; .reg .b64 %rd<4>;\n\
           griddepcontrol.launch_dependents; nanosleep.u32 200000;\n\
           ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [value]; mov.u32 %r2, %ctaid.x;\n\
           mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;\n\
           ret;\n}\n\
           .visible .entry copies_mirrored(.param .align 8 .b8 from[16], .param .align 8 .b8 to[16])\n{\n\
           .reg .b32 %r<6>; .reg .b64 %rd<7>;\n\
           ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to];\n\
           mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.u32 %r3, %r2, %r1;\n\
           sub.u32 %r4, %r3, 1; mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;\n\
           mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd2, %rd5;\n\
           griddepcontrol.wait; ld.global.u32 %r5, [%rd4]; st.global.u32 [%rd6], %r5;\n\
           ret;\n}\n",
);

fn an_overlapping_launch_sees_the_previous_kernels_writes_after_its_wait() {
    let Some(device) = gpu(&images()) else { return };
    if device.properties().compute < 90 {
        skipped(&format!("{} is below compute 9.0", device.properties().name));
        return;
    }
    let device = gpu(&[OVERLAPPING]).expect("the device is there");
    let zeroed = || device.zeroed::<u32>(64).expect("64 words should fit");
    let (mut from, mut to) = (zeroed(), zeroed());
    let (from_view, to_view) = (from.view(), to.view());
    let geometry = Geometry::new(64, 1);
    let pair = |value| {
        // SAFETY: one word per block. The second kernel waits for the first, which does not overlap
        // and so runs after all earlier work.
        unsafe {
            device.launch::<writes_late>(&geometry, (from_view, value))?;
            device.launch::<copies_mirrored>(&geometry.overlapping(), (from_view, to_view))
        }
    };
    for value in 1..100 {
        pair(value).expect("should launch");
        assert_eq!(to.download().expect("should run"), [value; 64]);
    }
    let graph = device
        .record(|| {
            from.zero()?;
            to.zero()?;
            pair(7)
        })
        .expect("an overlapping launch should be recorded");
    for _ in 0..10 {
        // SAFETY: the buffers of the recorded launches are alive.
        unsafe { graph.launch() }.expect("should launch");
        assert_eq!(to.download().expect("should run"), [7; 64]);
    }
}

fn calls_that_cannot_be_recorded_do_not_break_the_recording_of_the_driver() {
    let Some(device) = gpu(&images()) else { return };
    let barrier = device.zeroed::<u32>(GridBarrier::words(0)).expect("the words should fit");
    let mut dropped = Some(device.zeroed::<u32>(1).expect("a word should fit"));
    let geometry = Geometry::new(1, 32);
    let graph = device
        .record(|| {
            drop(dropped.take());
            let refused = [
                barrier.download().err(),
                device.alloc::<u32>(1).err(),
                device.synchronize().err(),
            ];
            for error in refused {
                assert!(matches!(error, Some(DeviceError::NotRecordable { .. })), "{error:?}");
            }
            // This is the kernel's first use on this device, in the middle of a recording.
            // SAFETY: a barrier word of 0, and one block.
            unsafe { device.launch::<barrier_only>(&geometry, (barrier.view(), 3)) }
        })
        .expect("the rest should be recorded");
    // SAFETY: the barrier word is alive.
    unsafe { graph.launch() }.expect("should launch");
    device.synchronize().expect("should run");
}

fn out_of_memory_on_a_gpu_reports_the_requested_and_free_bytes() {
    let Some(device) = gpu(&images()) else { return };
    let elements = device.properties().memory_bytes as usize;
    let Err(DeviceError::OutOfMemory { requested, free, total }) = device.alloc::<u32>(elements)
    else {
        panic!("four times the memory should not fit")
    };
    assert_eq!(requested, 4 * elements);
    assert!(free <= total && total <= elements);
}
