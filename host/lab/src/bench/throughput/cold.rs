//! The time of one call whose input is not cached.

use crate::bench::launch_time::time_runs;
use crate::bench::sampling::warm_up;
use crate::bench::{Measurement, Sampling};
use gridsync::device::{Device, DeviceError};
use gridsync::primitives::Reducer;
use gridsync_kernels::op::Sum;

/// Maximum number of bytes that all calls read and write together, unless a single call needs more.
const MOST_BYTES: u64 = 2 << 30;

/// Maximum number of calls in a replay.
const MOST_CALLS: u64 = 256;

/// The bytes of a replay must be this many times the L2. Then the first input has left the L2 when
/// the last one has been read.
const REPLAYED_FROM: u64 = 16;

/// Minimum duration of a sample in microseconds, if replays may follow each other.
const SAMPLE_US: f64 = 2000.0;

/// Maximum number of replays in a sample.
const MOST_REPLAYS: f64 = 4096.0;

/// How many times its size is read to flush the L2.
const EVICTED_BY: usize = 4;

/// How calls on inputs of one size are timed: many in a row, or one alone. A peer uses the same
/// plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::bench) struct Plan {
    /// Calls of a replay, each on a different input.
    pub(in crate::bench) calls: usize,
    /// Minimum duration of a sample in microseconds, reached by replays. 0 if a second replay would
    /// find inputs in the L2: then a sample is a single replay.
    pub(in crate::bench) sample_us: f64,
}

impl Plan {
    /// One call, enqueued after other work so that the device does not wait for the host. This is
    /// the time of a program that calls once. It includes about two microseconds for the events.
    pub(in crate::bench) const ALONE: Self = Self { calls: 1, sample_us: 0.0 };

    /// The plan for calls in a row that read and write `bytes` each, on a device with an L2 of
    /// `l2_bytes`.
    ///
    /// If the device does not report the size of its L2, nothing is replayed and nothing is
    /// flushed.
    pub(super) fn in_a_row(bytes: u64, l2_bytes: u32) -> Self {
        let calls = (MOST_BYTES / bytes.max(1)).clamp(1, MOST_CALLS);
        let replayed = l2_bytes > 0 && calls * bytes >= REPLAYED_FROM * u64::from(l2_bytes);
        Self { calls: calls as usize, sample_us: if replayed { SAMPLE_US } else { 0.0 } }
    }

    /// Number of consecutive replays in a sample. `one` returns the µs of one replay.
    fn replays<E>(&self, one: impl FnOnce() -> Result<f64, E>) -> Result<u32, E> {
        if self.sample_us == 0.0 {
            return Ok(1);
        }
        Ok((self.sample_us / one()?).ceil().clamp(1.0, MOST_REPLAYS) as u32)
    }
}

/// Device time in microseconds of one `call` whose input is not in the L2. `call(i)` works on input
/// i. The number of inputs is the plan's number of calls.
///
/// Before each sample the L2 is flushed by reading other memory. Reading leaves no modified lines,
/// which would have to be written back during the measurement. With [`Plan::ALONE`] a sample is one
/// call right after that, between two events. With other plans the calls are recorded into one
/// graph, and a sample is the time of its replays divided by the number of calls. The start of a
/// replay takes some microseconds, which its calls share.
///
/// # Errors
/// [`DeviceError::OutOfMemory`] if the memory that is read to flush the L2 cannot be allocated; or
/// if `call` or the device fails.
///
/// # Panics
/// If [`Sampling::measure`] panics.
///
/// # Safety
/// The launches of `call` can be repeated with the memory as they leave it, and use only memory
/// that lives as long as `call`.
pub(in crate::bench) unsafe fn time_cold(
    device: &Device,
    plan: &Plan,
    sampling: &Sampling,
    mut call: impl FnMut(usize) -> Result<(), DeviceError>,
) -> Result<Measurement, DeviceError> {
    // If the call fails, it fails here with its own message.
    call(0)?;
    device.synchronize()?;
    let l2 = device.properties().l2_bytes as usize;
    let other = device.zeroed::<u64>(EVICTED_BY * l2 / size_of::<u64>())?;
    let mut evict = Reducer::new(Sum::<u64>::new(), device)?;
    if *plan == Plan::ALONE {
        let mut alone = || device.time_behind(|| evict.launch(&other), || call(0));
        warm_up(&mut alone)?;
        return sampling.measure(alone);
    }

    let graph = device.record(|| (0..plan.calls).try_for_each(&mut call))?;
    // SAFETY: guaranteed by the caller; `call` outlives the graph.
    let replay = |times| time_runs(device, times, || unsafe { graph.launch() });
    warm_up(|| replay(1))?;
    let replays = plan.replays(|| replay(1))?;
    let calls = f64::from(replays) * plan.calls as f64;
    sampling.measure_each_of(calls, || {
        evict.launch(&other)?;
        replay(replays)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::{Emulator, EmulatorConfig};
    use std::cell::Cell;
    use std::convert::Infallible;

    /// L2 of an H200.
    const L2: u32 = 60 << 20;

    #[test]
    fn small_inputs_are_many_and_a_large_one_is_alone() {
        let calls = |bytes| Plan::in_a_row(bytes, L2).calls;
        assert_eq!(calls(0), 256);
        assert_eq!(calls(1 << 12), 256);
        assert_eq!(calls(1 << 23), 256);
        assert_eq!(calls((1 << 23) + 4), 255);
        assert_eq!(calls(1 << 30), 2);
        assert_eq!(calls((1 << 30) + 4), 1);
        assert_eq!(calls(1 << 35), 1);
    }

    #[test]
    fn a_second_replay_never_finds_an_input_in_the_l2() {
        // 256 × 3 MiB are 12.8 times the L2, 256 × 4 MiB are 17 times.
        assert_eq!(Plan::in_a_row(3 << 20, L2).sample_us, 0.0);
        assert_eq!(Plan::in_a_row(4 << 20, L2).sample_us, SAMPLE_US);
        assert_eq!(Plan::in_a_row(1 << 35, L2).sample_us, SAMPLE_US);
        assert_eq!(Plan::in_a_row(1 << 35, 0).sample_us, 0.0);
    }

    #[test]
    fn a_sample_is_replayed_until_it_is_long_enough_or_not_at_all() {
        let replays =
            |sample_us, us| Plan { calls: 1, sample_us }.replays(|| Ok::<_, Infallible>(us));
        assert_eq!(replays(SAMPLE_US, 470.0), Ok(5));
        assert_eq!(replays(SAMPLE_US, 7600.0), Ok(1));
        assert_eq!(replays(SAMPLE_US, 0.0), Ok(4096));
        assert_eq!(replays(0.0, 470.0), Ok(1));
    }

    #[test]
    fn every_input_is_recorded_once_and_the_time_is_that_of_one_call() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let inputs: Vec<_> = (0..3)
            .map(|_| device.upload(&[1u64; 100]))
            .collect::<Result<_, _>>()
            .expect("there is room");
        let mut reducer = Reducer::new(Sum::<u64>::new(), &device).expect("it has the kernel");
        let (calls, once) = (Cell::new(0), Sampling { at_most: 7, ..Sampling::default() });
        let plan = Plan { calls: 3, sample_us: 0.0 };
        let call = |i: usize| {
            calls.set(calls.get() + 1);
            reducer.launch(&inputs[i])
        };
        // SAFETY: a reduction leaves its ticket at 0, and the reducer outlives the measurement.
        let measured =
            unsafe { time_cold(&device, &plan, &once, call) }.expect("the emulator reduces");
        assert_eq!(calls.get(), 1 + 3);
        assert!(measured.time.min > 0.0);
        assert_eq!(reducer.result(), Ok(100));
    }
}
