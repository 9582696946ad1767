//! One launch of a resident grid gives the same result as one launch for each stage.

use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig, Geometry};
use gridsync::launch::{Blocks, Plan, barrier_words, cooperative, plan, resident_blocks};
use gridsync_kernels::grid::barrier::GridBarrier;
use gridsync_lab_kernels::xpx::{xpx_grid_barrier, xpx_stage};

const ROUNDS: u32 = 3;

/// Runs [`ROUNDS`] rounds of X→P→X, launched as planned, and returns X.
fn xpx(device: &Device, blocks: u32, threads: u32) -> Result<(Plan, Vec<f32>), DeviceError> {
    let host: Vec<f32> = (0..97).map(|i| (i * i % 31) as f32).collect();
    let (x, p) = (device.upload(&host)?, device.zeroed::<f32>(host.len())?);
    let plan = plan::<xpx_grid_barrier, xpx_stage>(device, blocks, threads, 0)?;
    match plan {
        Plan::Single(geometry) => {
            let barrier = barrier_words::<GridBarrier>(device, &geometry)?;
            let args = (x.view(), p.view(), 0, barrier.view(), ROUNDS);
            // SAFETY: `x` and `p` have the same length, and the barrier has its words.
            unsafe { device.launch::<xpx_grid_barrier>(&geometry, args)? };
        }
        Plan::Stages(geometry) => {
            // SAFETY: `x` and `p` are not empty, and outlive the graph.
            let round = device.record(|| unsafe {
                device.launch::<xpx_stage>(&geometry, (x.view(), p.view()))?;
                device.launch::<xpx_stage>(&geometry, (p.view(), x.view()))
            })?;
            for _ in 0..ROUNDS {
                // SAFETY: `x` and `p` are alive.
                unsafe { round.launch()? };
            }
        }
    }
    Ok((plan, x.download()?))
}

#[test]
fn one_block_above_the_resident_limit_is_run_in_stages_with_the_same_result() {
    let device = Device::new(Emulator::new(EmulatorConfig {
        multiprocessors: 2,
        ..EmulatorConfig::default()
    }));
    let resident = resident_blocks::<xpx_grid_barrier>(&device, 256, 0).expect("should say");
    let (fits, alone) = xpx(&device, resident, 256).expect("should run");
    let single = cooperative::<xpx_grid_barrier>(&device, Blocks::Exactly(resident), 256, 0);
    assert_eq!(Ok(fits), single.map(Plan::Single));
    let (larger, staged) = xpx(&device, resident + 1, 256).expect("should run");
    assert_eq!(larger, Plan::Stages(Geometry::new(resident + 1, 256)));
    assert_eq!(staged, alone);
}

#[test]
fn a_block_that_no_plan_can_run_is_refused_with_the_kernel_of_a_stage() {
    let device = Device::new(Emulator::new(EmulatorConfig::default()));
    let refused = |blocks, threads, shared| {
        plan::<xpx_grid_barrier, xpx_stage>(&device, blocks, threads, shared)
            .expect_err("no block should fit")
    };
    for threads in [0, 1025] {
        assert_eq!(
            refused(4, threads, 0),
            DeviceError::BadBlock { kernel: "xpx_stage", threads, limit: 1024 }
        );
    }
    assert!(matches!(refused(0, 64, 0), DeviceError::EmptyGrid { .. }));
    assert!(matches!(
        refused(4, 64, 1 << 20),
        DeviceError::SharedTooLarge { kernel: "xpx_stage", .. }
    ));
}
