//! A reduction of a function of the elements.

use cuda_std::launch::KernelArg;
use cuda_std::prelude::*;
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig};
use gridsync::primitives::reduce::{Arguments, reduce_on_cpu};
use gridsync::primitives::{ByKernel, Reducer};
use gridsync_kernels::op::{Count, Map, Mapped};

/// 1 for a number above a limit, and 0 for others.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Above(f32);

// SAFETY: it is one f32.
unsafe impl KernelArg for Above {}

impl Map for Above {
    type From = f32;
    type To = u32;

    fn map(self, x: f32, _index: u64) -> u32 {
        u32::from(x > self.0)
    }
}

type CountAbove = Mapped<Above, Count<u32>>;

/// Counts the numbers above a limit.
///
/// # Safety
///
/// As for `gridsync_kernels::grid::reduce`.
#[kernel(max_threads = 512)]
unsafe fn count_above(common: Arguments<f32>, op: CountAbove) {
    common.reduce(op);
}

/// The number of elements above 0.75, in one read.
fn count(device: &Device, host: &[f32]) -> Result<u64, DeviceError> {
    let above = CountAbove::new(Above(0.75));
    // SAFETY: the kernel reduces by its argument.
    let op = unsafe { ByKernel::<CountAbove, count_above>::new(above) };
    let count = Reducer::new(op, device)?.reduce(&device.upload(host)?)?;
    assert_eq!(count, reduce_on_cpu(above, host));
    Ok(count)
}

#[test]
fn a_limit_is_a_parameter_of_the_kernel() -> Result<(), DeviceError> {
    let device = Device::new(Emulator::new(EmulatorConfig::checking(0)));
    let host: Vec<f32> = (0..10_000u16).map(|i| f32::from(i) / 10_000.0).collect();
    assert_eq!(count(&device, &host)?, 2499);
    Ok(())
}
