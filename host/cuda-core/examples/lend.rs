//! Running sums and a sort of cuda-core's memory, in its stream. Needs a GPU.

use gridsync_cuda_core::StreamDevice;
use gridsync_cuda_core::cuda_core::{Context, DeviceBuffer};
use gridsync_cuda_core::gridsync::op::Sum;
use gridsync_cuda_core::gridsync::primitives::Scanner;
use gridsync_cuda_core::gridsync::primitives::scan::Form;
use gridsync_cuda_core::gridsync::primitives::sort::{Order, sort};
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let stream = Context::new(0)?.new_stream()?;
    let x = DeviceBuffer::from_host(&stream, &[4.0f32, 1.0, 3.0, 2.0])?;
    let mut sums = DeviceBuffer::<f32>::zeroed(&stream, 3)?;

    let device = StreamDevice::new(&stream)?; // keep it: it has the compiled kernels
    let mut scanner = Scanner::new(Sum::<f32>::new(), &device, 3)?;
    // A buffer or a slice, which may begin at any element.
    device.lend(&x.slice(1..4)?, |x| {
        device.lend_mut(&mut sums, |sums| Ok(scanner.launch(x, sums, Form::Inclusive)?))
    })?;
    assert_eq!(sums.to_host_vec(&stream)?, [1.0, 4.0, 6.0]);

    // A buffer of gridsync becomes a buffer of cuda-core.
    let keys = DeviceBuffer::from_host(&stream, &[4i64, 1, 3, 2])?;
    let sorted = device.lend(&keys, |keys| Ok(sort(Order::ASCENDING, keys)?))?;
    let sorted: DeviceBuffer<i64> = device.give(sorted)?;
    assert_eq!(sorted.to_host_vec(&stream)?, [1, 2, 3, 4]);
    Ok(())
}
