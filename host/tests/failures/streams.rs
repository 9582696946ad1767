//! Work in several streams, and the expected results.

use super::scenarios::{Scenario, bytes, floats};
use gridsync::device::Device;
use gridsync::primitives::Reducer;
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync_kernels::op::Sum;

pub(crate) const LEN: usize = 1500;

pub(crate) fn sum_on_cpu() -> f32 {
    reduce_on_cpu(Sum::<f32>::new(), &floats(LEN))
}

pub(crate) const STREAMS: &[Scenario<Device>] = &[Scenario {
    name: "reduce in a second stream",
    begin: |device| {
        let device = device.clone();
        let other = device.new_stream()?;
        let input = device.upload(&floats(LEN))?;
        let mut zeros = device.alloc::<f32>(LEN)?;
        let mut sum = Reducer::new(Sum::<f32>::new(), &other)?;
        Ok(Box::new(move || {
            let before = device.record_event()?;
            zeros.zero()?;
            let zeroed = device.record_event()?;
            other.wait_for(&zeroed)?;
            let sums = [sum.reduce(&input)?, sum.reduce(&zeros)?];
            let done = other.record_event()?;
            assert_eq!(done.microseconds_since(&before)?, 1500.0);
            assert!(zeroed.is_done()?);
            device.synchronize_all()?;
            Ok(bytes(&sums))
        }))
    },
    expected: || bytes(&[sum_on_cpu(), 0.0]),
}];
