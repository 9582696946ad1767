//! Work in cust's stream on cust's memory, and the expected results.

use super::scenarios::{KERNELS, Scenario, bytes, floats};
use super::streams::{LEN, sum_on_cpu};
use cust::context::Context;
use cust::error::CudaError;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};
use gridsync::device::{Buffer, Device, DeviceError};
use gridsync::primitives::Reducer;
use gridsync_kernels::op::Sum;
use libcuda::CUresult;
use std::sync::Arc;

/// A cust error with the driver's error code.
fn cust_error(error: CudaError) -> DeviceError {
    DeviceError::Driver { during: "a call of cust's".into(), result: CUresult(error as u32) }
}

pub(crate) const WITH_CUST: &[Scenario<Device>] = &[
    Scenario {
        name: "reduce memory of cust's",
        begin: |_| {
            let cuda = cust::device::Device::get_device(0).map_err(cust_error)?;
            let context = Context::new(cuda).map_err(cust_error)?;
            let stream = Stream::new(StreamFlags::DEFAULT, None).map_err(cust_error)?;
            let lent = DeviceBuffer::from_slice(&floats(LEN)).map_err(cust_error)?;
            let device = Device::from_cust(&context, Arc::new(stream), KERNELS)?;
            let mut sum = Reducer::new(Sum::<f32>::new(), &device)?;
            Ok(Box::new(move || {
                let of_lent = device.lend(&lent, |lent| sum.reduce(lent))?;
                let memory = DeviceBuffer::from_slice(&floats(LEN)).map_err(cust_error)?;
                let taken = Buffer::from_cust(&device, memory)?;
                let of_taken = sum.reduce(&taken)?;
                let mut back = vec![0.0; LEN];
                taken.into_cust()?.copy_to(&mut back).map_err(cust_error)?;
                back.extend([of_lent, of_taken]);
                Ok(bytes(&back))
            }))
        },
        expected: || bytes(&[floats(LEN), vec![sum_on_cpu(); 2]].concat()),
    },
    Scenario {
        name: "a sibling in cust's stream",
        begin: |device| {
            let stream = Stream::new(StreamFlags::DEFAULT, None).map_err(cust_error)?;
            let sibling = device.with_cust_stream(stream)?;
            let input = device.upload(&floats(LEN))?;
            let mut sum = Reducer::new(Sum::<f32>::new(), &sibling)?;
            Ok(Box::new(move || Ok(bytes(&[sum.reduce(&input)?]))))
        },
        expected: || bytes(&[sum_on_cpu()]),
    },
];
