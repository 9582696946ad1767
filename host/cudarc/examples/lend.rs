//! Running sums and a sort of cudarc's memory, in its stream. Needs a GPU.

use gridsync_cudarc::StreamDevice;
use gridsync_cudarc::cudarc::driver::{CudaContext, CudaSlice};
use gridsync_cudarc::gridsync::op::Sum;
use gridsync_cudarc::gridsync::primitives::Scanner;
use gridsync_cudarc::gridsync::primitives::scan::Form;
use gridsync_cudarc::gridsync::primitives::sort::{Order, sort};
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let stream = CudaContext::new(0)?.new_stream()?;
    let x = stream.clone_htod(&[4.0f32, 1.0, 3.0, 2.0])?;
    let mut sums = stream.alloc_zeros::<f32>(3)?;

    let device = StreamDevice::new(&stream)?; // keep it: it has the compiled kernels
    let mut scanner = Scanner::new(Sum::<f32>::new(), &device, 3)?;
    // A slice or a view, which may begin at any element.
    device.lend(&x.slice(1..), |x| {
        device.lend_mut(&mut sums, |sums| Ok(scanner.launch(x, sums, Form::Inclusive)?))
    })?;
    assert_eq!(stream.clone_dtoh(&sums)?, [1.0, 4.0, 6.0]);

    // A buffer of gridsync becomes a slice of cudarc.
    let keys = stream.clone_htod(&[4i64, 1, 3, 2])?;
    let sorted = device.lend(&keys, |keys| Ok(sort(Order::ASCENDING, keys)?))?;
    let sorted: CudaSlice<i64> = device.give(sorted)?;
    assert_eq!(stream.clone_dtoh(&sorted)?, [1, 2, 3, 4]);
    Ok(())
}
