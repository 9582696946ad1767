//! A program that uses the primitives and has no kernel.

use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig};
use gridsync::primitives::scan::Form;
use gridsync::primitives::select::Within;
use gridsync::primitives::{Reducer, Scanner, partition};
use gridsync_kernels::op::Sum;

fn main() -> Result<(), DeviceError> {
    // On a GPU: Device::cuda(0, &KERNELS)?, with `use gridsync::device::cuda::KERNELS`.
    let device = Device::new(Emulator::new(EmulatorConfig::checking(0)));
    let input = device.upload(&[3.0f32, 1.0, 4.0, 1.0, 5.0])?;

    let mut sum = Reducer::new(Sum::<f32>::new(), &device)?; // allocates: make it once, use it often
    assert_eq!(sum.reduce(&input)?, 14.0);

    let mut sums = device.zeroed::<f32>(input.len())?;
    let mut scanner = Scanner::new(Sum::<f32>::new(), &device, input.len())?;
    scanner.launch(&input, &mut sums, Form::Inclusive)?;
    assert_eq!(sums.download()?, [3.0, 4.0, 8.0, 9.0, 14.0]);

    let [large, small] = partition(Within::greater_than(2.0f32), &input)?;
    assert_eq!(large.download()?, [3.0, 4.0, 5.0]);
    assert_eq!(small.download()?, [1.0, 1.0]);
    Ok(())
}

#[test]
fn the_program_of_the_readme_runs() -> Result<(), DeviceError> {
    main()
}

#[test]
fn an_operation_is_a_type_and_the_cpu_gives_the_same_bits() -> Result<(), DeviceError> {
    use gridsync::primitives::reduce::reduce_on_cpu;
    use gridsync_kernels::op::ArgMax;

    let device = Device::new(Emulator::new(EmulatorConfig::checking(0)));
    let tenths: Vec<f32> = (0..10_000u16).map(|i| 0.1 * f32::from(i)).collect();
    let input = device.upload(&tenths)?;

    // Sums of f32, added as f64.
    let sum = Reducer::new(Sum::<f32, f64>::new(), &device)?.reduce(&input)?;
    assert_eq!(sum, reduce_on_cpu(Sum::<f32, f64>::new(), &tenths));

    // The largest element, and its index.
    let largest = Reducer::new(ArgMax::<f32>::new(), &device)?.reduce(&input)?;
    assert_eq!(largest, reduce_on_cpu(ArgMax::<f32>::new(), &tenths));
    Ok(())
}

/// Scans 100 elements to a buffer that has room for 99.
fn scan_to_a_short_buffer(device: &Device) -> Result<(), DeviceError> {
    let input = device.upload(&[1u32; 100])?;
    let mut sums = device.zeroed::<u32>(99)?;
    Scanner::new(Sum::<u32>::new(), device, input.len())?.launch(&input, &mut sums, Form::Inclusive)
}

#[test]
fn a_refused_call_leaves_the_device_usable() -> Result<(), DeviceError> {
    let device = Device::new(Emulator::new(EmulatorConfig::checking(0)));
    let refused = scan_to_a_short_buffer(&device).expect_err("99 of 100");
    crate::output::is("refused.txt", &refused.to_string());
    assert_eq!(device.upload(&[7u32])?.download()?, [7]);
    Ok(())
}
