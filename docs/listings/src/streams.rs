//! Two streams of a device, and the event between them.

use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig};
use gridsync::primitives::scan::Form;
use gridsync::primitives::{Reducer, Scanner};
use gridsync_kernels::op::Sum;

fn device() -> Device {
    Device::new(Emulator::new(EmulatorConfig::checking(0)))
}

#[test]
fn an_event_orders_two_streams() -> Result<(), DeviceError> {
    let device = device();
    let other = device.new_stream()?; // the same memory, the same kernels
    let ones = device.upload(&[1u32; 1000])?;
    let mut counts = device.zeroed::<u32>(ones.len())?;
    let mut scanner = Scanner::new(Sum::<u32>::new(), &device, ones.len())?;
    let mut sum = Reducer::new(Sum::<u32, u64>::new(), &other)?;
    scanner.launch(&ones, &mut counts, Form::Inclusive)?; // in the stream of `device`
    let counted = device.record_event()?;
    other.wait_for(&counted)?; // without this the sum may come first
    assert_eq!(sum.reduce(&counts)?, 500_500); // in that of `other`
    Ok(())
}
