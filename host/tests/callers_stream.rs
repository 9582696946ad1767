//! Devices in a caller's context and stream: their owners, and memory that the stream frees.

#[macro_use]
mod fake_driver;

use cuda_std::prelude::*;
use fake_driver::controls::{Controls, Launches};
use fake_driver::log;
use gridsync::device::cuda::PtxImage;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::Form;
use gridsync_kernels::op::Sum;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const IMAGES: &[PtxImage] = &[PtxImage::text(90, ptx!("sm_90": scan_sum_f32 waits_to_be_ended))];

/// # Safety
///
/// It accesses no memory.
#[kernel]
unsafe fn waits_to_be_ended() {}

/// A program with a context and a stream, on the fake driver, for one test at a time.
struct Program {
    controls: Controls,
    context: *mut c_void,
    _one_at_a_time: MutexGuard<'static, ()>,
}

impl Program {
    fn new() -> Self {
        static TAKEN: Mutex<()> = Mutex::new(());
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let controls = Controls::new();
        controls.forget();
        controls.devices(1);
        let mut context = null_mut();
        // SAFETY: the handle is writable, and the fake driver has a device 0.
        unsafe {
            assert_eq!(libcuda::cuInit(0).ok(), Ok(()));
            let made = libcuda::cuDevicePrimaryCtxRetain(&raw mut context, 0);
            assert_eq!(made.ok(), Ok(()));
            assert_eq!(libcuda::cuCtxSetCurrent(context).ok(), Ok(()));
        }
        Self { controls, context: context.cast(), _one_at_a_time: taken }
    }

    /// A stream of the program.
    fn stream(&self) -> Arc<Stream> {
        let mut stream = null_mut();
        // SAFETY: the handle is writable.
        let made = unsafe { libcuda::cuStreamCreateWithPriority(&raw mut stream, 0, 0) };
        assert_eq!(made.ok(), Ok(()));
        Arc::new(Stream(stream.expose_provenance()))
    }

    /// The device of a stream, which it keeps alive.
    fn device(&self, stream: &Arc<Stream>) -> Device {
        // SAFETY: the context lives as long as the program, and the stream as long as its owner.
        let device =
            unsafe { Device::from_raw(self.context, stream.raw(), stream.clone(), IMAGES) };
        device.expect("both are live")
    }

    /// Adds a launch that does not end before [`Controls::end`].
    fn keep_busy(&self, device: &Device) {
        self.controls.launches(0, Launches::Endless);
        // SAFETY: the kernel accesses no memory.
        unsafe { device.launch::<waits_to_be_ended>(&Geometry::new(1, 32), ()) }
            .expect("it should launch");
        self.controls.launches(0, Launches::Run);
    }

    #[track_caller]
    fn has(&self, what: &str) {
        assert_eq!(self.controls.live(), what);
    }
}

/// A stream that its last owner destroys.
struct Stream(usize);

impl Stream {
    fn raw(&self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is live, and destroyed only here.
        let _lost = unsafe { libcuda::cuStreamDestroy_v2(self.raw().cast()) };
    }
}

/// Whether the log has a line that starts with `start`, from line `since` on.
fn logged(since: usize, start: &str) -> bool {
    log()[since..].iter().any(|line| line.starts_with(start))
}

#[test]
fn the_owner_of_a_stream_is_dropped_after_everything_made_from_the_device() {
    let program = Program::new();
    let stream = program.stream();
    let device = program.device(&stream);
    let sibling = device.new_stream().expect("there is room");
    let buffer = device.zeroed::<u32>(8).expect("it fits");
    let event = device.record_event().expect("nobody records");
    drop((device, stream));
    drop(event);
    assert_eq!(buffer.download(), Ok(vec![0; 8]));
    drop(buffer);
    program.has("1 context, 2 stream");
    drop(sibling);
    program.has("1 context");
}

#[test]
fn the_owner_of_another_stream_lives_as_long_as_its_device() {
    let program = Program::new();
    let device = program.device(&program.stream());
    let other = program.stream();
    // SAFETY: the stream lives as long as its owner.
    let sibling = unsafe { device.with_raw_stream(other.raw(), other.clone()) };
    let sibling = sibling.expect("it is of the same context");
    drop(other);
    assert_eq!(sibling.upload(&[7u32]).and_then(|word| word.download()), Ok(vec![7]));
    program.has("1 context, 2 stream");
    drop(sibling);
    program.has("1 context, 1 stream");
}

#[test]
fn dropping_buffers_and_primitives_does_not_wait_for_the_stream() {
    let program = Program::new();
    let device = program.device(&program.stream());
    assert!(device.frees_in_stream_order());
    let input = device.upload(&[1.0f32; 100]).expect("it fits");
    let mut output = device.zeroed::<f32>(100).expect("it fits");
    let mut scanner = Scanner::new(Sum::<f32>::new(), &device, 100).expect("it fits");
    program.keep_busy(&device);
    scanner.launch(&input, &mut output, Form::Inclusive).expect("it should launch");
    let (since, before) = (log().len(), program.controls.live());
    drop((input, output, scanner));
    assert!(!logged(since, "synchronize") && logged(since, "free_async"));
    program.has(&before);
    // The scan uses its memory before that is freed.
    program.controls.end();
    assert_eq!(device.synchronize(), Ok(()));
    drop(device);
    program.has("1 context");
}

#[test]
fn memory_that_several_streams_use_is_freed_after_all_of_them() {
    let program = Program::new();
    let device = program.device(&program.stream());
    let other = device.new_stream().expect("there is room");
    let since = log().len();
    let buffer = device.alloc::<u32>(8).expect("it fits");
    assert!(logged(since, "synchronize"), "the other stream may use it at once");
    program.keep_busy(&other);
    let since = log().len();
    drop(buffer);
    assert!(!logged(since, "synchronize"));
    assert!(program.controls.live().contains("1 allocation"), "the other stream may use it");
    program.controls.end();
    drop((device, other));
    program.has("1 context");
}

#[test]
fn without_memory_pools_buffers_are_freed_after_a_wait() {
    let program = Program::new();
    program.controls.without_pools();
    let device = program.device(&program.stream());
    assert!(!device.frees_in_stream_order());
    let buffer = device.upload(&[7u32; 4]).expect("it fits");
    let since = log().len();
    drop(buffer);
    assert!(logged(since, "synchronize") && !logged(since, "free_async"));
    drop(device);
    program.has("1 context");
}

#[test]
fn memory_dropped_in_a_recording_is_freed_after_it() {
    let program = Program::new();
    let device = program.device(&program.stream());
    let buffer = device.alloc::<u32>(8).expect("it fits");
    let mut held = Some(buffer);
    let recorded = device.record(|| {
        drop(held.take());
        assert!(program.controls.live().contains("1 allocation"));
        Ok(())
    });
    drop(recorded.expect("nothing fails"));
    assert!(!program.controls.live().contains("allocation"));
    drop(device);
    program.has("1 context");
}

#[test]
fn lent_memory_is_left_alone_and_taken_memory_is_the_callers() {
    let program = Program::new();
    let device = program.device(&program.stream());
    let whole = device.upload(&[0u32, 1, 2, 3]).expect("it fits");
    program.keep_busy(&device);
    // SAFETY: all but the first element of `whole`, which is dropped later.
    let rest = unsafe { Buffer::<u32>::lent(&device, whole.address() + 4, 3) };
    drop(rest.expect("it begins at an element"));
    program.controls.end();
    assert_eq!(whole.download(), Ok(vec![0, 1, 2, 3]));
    let (address, start) = (whole.address(), whole.into_raw());
    assert_eq!(start.ok(), Some(address));
    program.has("1 allocation, 1 context, 1 module, 1 stream");
    // SAFETY: the address came from the device, nothing uses it, and it is freed only here.
    assert_eq!(unsafe { libcuda::cuMemFree_v2(address) }.ok(), Ok(()));
    // SAFETY: an empty buffer accesses nothing.
    let lent = unsafe { Buffer::<u32>::lent(&device, 0, 0) }.expect("nothing is anywhere");
    assert!(lent.into_raw().is_err(), "it belongs to someone else");
    drop(device);
    program.has("1 context");
}

#[test]
fn a_failed_allocation_is_an_error_and_leaks_nothing() {
    let program = Program::new();
    let device = program.device(&program.stream());
    let _other = device.new_stream().expect("there is room");
    let mut reached = Vec::new();
    for call in 1.. {
        program.controls.fail(call, false);
        let allocated = device.alloc::<u32>(8);
        let Some(failed) = program.controls.failed() else { break };
        assert!(allocated.is_err(), "{failed}");
        if failed == "cuMemAllocAsync" {
            assert!(matches!(allocated, Err(DeviceError::OutOfMemory { requested: 32, .. })));
        }
        reached.push(failed);
        assert!(!program.controls.live().contains("allocation"), "{reached:?}");
    }
    assert!(reached.iter().any(|call| call == "cuMemAllocAsync"), "{reached:?}");
    program.controls.fail(0, false);
}

#[test]
fn a_failure_while_memory_is_freed_leaks_nothing() {
    let program = Program::new();
    let device = program.device(&program.stream());
    let _other = device.new_stream().expect("there is room");
    let mut reached = Vec::new();
    for call in 1.. {
        let buffer = device.alloc::<u32>(8).expect("it fits");
        program.controls.fail(call, false);
        drop(buffer);
        let Some(failed) = program.controls.failed() else { break };
        reached.push(failed);
        assert!(!program.controls.live().contains("allocation"), "{reached:?}");
        program.controls.fail(0, false);
    }
    for call in ["cuEventCreate", "cuEventRecord", "cuStreamWaitEvent"] {
        assert!(reached.iter().any(|failed| failed == call), "{call}: {reached:?}");
    }
    program.controls.fail(0, false);
}
