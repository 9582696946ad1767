//! Reductions, scans and selections as a program calls them.

use gridsync::device::{Emulator, EmulatorConfig};
use gridsync::prelude::*;

fn device() -> Device {
    Device::new(Emulator::new(EmulatorConfig::checking(0)))
}

#[test]
fn a_sum_is_one_launch() -> Result<(), DeviceError> {
    let device = device();
    let numbers: Vec<f32> = (1..=1000u16).map(f32::from).collect();
    let input = device.upload(&numbers)?;
    let mut sum = Reducer::new(Sum::<f32>::new(), &device)?; // allocates; keep it
    let total = sum.reduce(&input)?; // one launch
    assert_eq!(total, 500_500.0);
    Ok(())
}

#[test]
fn a_scan_is_one_launch() -> Result<(), DeviceError> {
    let device = device();
    let input = device.upload(&[3u32, 1, 4, 1, 5])?;
    let mut sums = device.zeroed::<u32>(input.len())?;
    let mut scanner = Scanner::new(Sum::<u32>::new(), &device, input.len())?;
    scanner.launch(&input, &mut sums, Form::Inclusive)?;
    assert_eq!(sums.download()?, [3, 4, 8, 9, 14]);
    scanner.launch(&input, &mut sums, Form::Exclusive)?;
    assert_eq!(sums.download()?, [0, 3, 4, 8, 9]);
    Ok(())
}

#[test]
fn a_partition_keeps_the_order_of_both_parts() -> Result<(), DeviceError> {
    let device = device();
    let input = device.upload(&[0.7f32, 0.2, 0.9, 0.5, 0.6])?;
    let [kept, rest] = partition(Within::greater_than(0.5f32), &input)?;
    assert_eq!(kept.download()?, [0.7, 0.9, 0.6]);
    assert_eq!(rest.download()?, [0.2, 0.5]);
    Ok(())
}
