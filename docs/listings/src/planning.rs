//! Checks the requirements of a launch before it starts.

use cuda_std::prelude::*;
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig, Geometry};
use gridsync::launch::{Blocks, Plan, barrier_words, cooperative, plan, resident_blocks};
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};

/// Sets each element of `to` to its neighbour in `from`, plus 1.
fn step(from: Global<u32>, to: Global<u32>) {
    let i = thread::index();
    to.write(i, from.read((i + 1) % from.len()) + 1);
}

/// One step.
///
/// # Safety
///
/// `from` and `to` have an element for each thread.
#[kernel]
unsafe fn one_step(from: Global<u32>, to: Global<u32>) {
    step(from, to);
}

/// Two steps, from `x` to `y` and back.
///
/// # Safety
///
/// `x` and `y` have an element for each thread. `barrier` has the words of the barrier. All blocks are resident.
#[kernel(cooperative)]
unsafe fn two_steps(x: Global<u32>, y: Global<u32>, barrier: Global<u32>) {
    step(x, y);
    GridBarrier::attach(barrier).sync();
    step(y, x);
}

fn device() -> Device {
    Device::new(Emulator::new(EmulatorConfig::checking(0)))
}

#[test]
fn a_grid_that_would_hang_is_refused_with_the_largest_that_fits() -> Result<(), DeviceError> {
    let device = device();
    let most = resident_blocks::<two_steps>(&device, 256, 0)?;
    assert_eq!(most, 32);

    let error = cooperative::<two_steps>(&device, Blocks::Exactly(500), 256, 0);
    let said = error.expect_err("500 blocks are not resident").to_string();
    assert!(said.contains("emulator holds 32 such blocks"), "{said}");
    assert!(said.contains("launch at most 32 blocks, or smaller ones"), "{said}");

    let all = cooperative::<two_steps>(&device, Blocks::Fill, 256, 0)?;
    assert_eq!(all.grid.volume(), 32);
    Ok(())
}

fn two_steps_of(device: &Device, blocks: u32) -> Result<Vec<u32>, DeviceError> {
    let x = device.zeroed::<u32>(blocks as usize * 64)?;
    let y = device.zeroed::<u32>(x.len())?;
    match plan::<two_steps, one_step>(device, blocks, 64, 0)? {
        Plan::Single(geometry) => {
            let barrier = barrier_words::<GridBarrier>(device, &geometry)?;
            let args = (&x, &y, &barrier);
            // SAFETY: an element for each thread, the words of the barrier, and a resident grid.
            unsafe { device.launch::<two_steps>(&geometry, args)? };
        }
        Plan::Stages(geometry) => {
            for (from, to) in [(&x, &y), (&y, &x)] {
                // SAFETY: an element for each thread.
                unsafe { device.launch::<one_step>(&geometry, (from, to))? };
            }
        }
    }
    x.download()
}

#[test]
fn a_grid_of_any_size_runs_both_steps() -> Result<(), DeviceError> {
    let device = device();
    for blocks in [4, 500] {
        assert!(two_steps_of(&device, blocks)?.iter().all(|&value| value == 2), "{blocks} blocks");
    }
    let single = plan::<two_steps, one_step>(&device, 4, 64, 0)?;
    let stages = plan::<two_steps, one_step>(&device, 500, 64, 0)?;
    assert!(matches!((single, stages), (Plan::Single(_), Plan::Stages(_))));
    Ok(())
}

/// Each thread writes to the element after the one with its index.
///
/// # Safety
///
/// `values` has one element more than there are threads.
#[kernel]
unsafe fn one_behind(values: Global<u32>) {
    values.write(thread::index() + 1, 0);
}

#[test]
fn a_fault_names_the_kernel_the_thread_and_the_line() -> Result<(), DeviceError> {
    let device = device();
    let values = device.zeroed::<u32>(64)?;
    let geometry = Geometry::new(2, 32);
    // SAFETY: `values` is one element short. The emulator stops the last thread before it writes.
    let fault = unsafe { device.launch::<one_behind>(&geometry, (&values,)) };
    let said = fault.and_then(|()| device.synchronize()).expect_err("it is caught").to_string();
    for part in ["one_behind", "planning.rs"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // The device is lost, like a GPU after a fault.
    assert!(device.zeroed::<u32>(1).is_err());
    Ok(())
}
