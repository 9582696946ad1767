//! Devices and buffers on the context, streams and memory of a program that uses cust, with a
//! driver that counts everything not yet released.

#[macro_use]
mod fake_driver;

use cust::context::{Context, ContextHandle, CurrentContext};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};
use fake_driver::controls::Controls;
use fake_driver::log;
use gridsync::device::cuda::PtxImage;
use gridsync::device::{Buffer, Device, DeviceError, Devices, Emulator, EmulatorConfig};
use gridsync::primitives::Reducer;
use gridsync_kernels::op::Sum;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const IMAGES: &[PtxImage] = &[PtxImage::text(90, ptx!("sm_90": reduce_sum_f32))];

/// A program that uses cust, on the fake driver, for one test at a time.
struct Program {
    stream: Arc<Stream>,
    context: Context,
    controls: Controls,
    _one_at_a_time: MutexGuard<'static, ()>,
}

impl Program {
    fn new() -> Self {
        static TAKEN: Mutex<()> = Mutex::new(());
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let controls = Controls::new();
        controls.forget();
        controls.devices(2);
        let (context, stream) = on(0);
        Self { stream: Arc::new(stream), context, controls, _one_at_a_time: taken }
    }

    fn device(&self) -> Device {
        Device::from_cust(&self.context, self.stream.clone(), IMAGES).expect("it is live")
    }

    /// Everything that this program holds, and no other.
    #[track_caller]
    fn has_only(&self, what: &str) {
        assert_eq!(self.controls.live(), what);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.controls.devices(1);
    }
}

/// The primary context of a device, which becomes current, and a stream in it.
fn on(ordinal: u32) -> (Context, Stream) {
    cust::init(cust::CudaFlags::empty()).expect("the fake driver starts");
    let device = cust::device::Device::get_device(ordinal).expect("there are two");
    let context = Context::new(device).expect("there is room");
    (context, Stream::new(StreamFlags::DEFAULT, None).expect("there is room"))
}

/// cust memory with these numbers.
fn memory(numbers: &[f32]) -> DeviceBuffer<f32> {
    DeviceBuffer::from_slice(numbers).expect("there is room")
}

fn sum(device: &Device, numbers: &Buffer<f32>) -> Result<f32, DeviceError> {
    Reducer::new(Sum::<f32>::new(), device)?.reduce(numbers)
}

/// How often the driver has destroyed this stream since line `since` of the log.
fn destroyed(stream: usize, since: usize) -> usize {
    let line = format!("destroy {stream}");
    log()[since..].iter().filter(|logged| **logged == line).count()
}

#[test]
fn a_device_uses_the_cust_stream_and_destroys_neither_it_nor_its_context() {
    let program = Program::new();
    program.has_only("1 context, 1 stream");
    let since = log().len();
    let handle = program.stream.as_inner().cast();
    let device = program.device();
    assert_eq!(device.backend().cuda_stream(), Ok(Some(handle)));
    let numbers = device.upload(&[0.5f32; 40]).expect("it fits");
    assert_eq!(sum(&device, &numbers), Ok(20.0));
    drop((numbers, device));
    program.has_only("1 context, 1 stream");
    assert_eq!(destroyed(handle.addr(), since), 0);
    CurrentContext::set_current(&program.context).expect("it is live");
    program.stream.synchronize().expect("it is live");
}

#[test]
fn what_cust_drops_first_lives_as_long_as_the_device() {
    let program = Program::new();
    let (context, stream) = on(0);
    let (handle, since) = (stream.as_inner().addr(), log().len());
    let device = Device::from_cust(&context, stream, IMAGES).expect("it is live");
    drop(context);
    let numbers = device.upload(&[0.5f32; 40]).expect("it fits");
    drop(device.clone());
    assert_eq!(sum(&device, &numbers), Ok(20.0));
    assert_eq!(destroyed(handle, since), 0);
    drop((numbers, device));
    assert_eq!(destroyed(handle, since), 1, "cust destroys the stream with its last owner");
    program.has_only("1 context, 1 stream");
}

#[test]
fn a_raw_context_and_a_raw_stream_are_never_released() {
    let program = Program::new();
    let context = program.context.get_inner().cast();
    for stream in [program.stream.as_inner().cast(), null_mut()] {
        // SAFETY: both live as long as the program.
        let device =
            unsafe { Device::from_raw(context, stream, (), IMAGES) }.expect("both are live");
        assert_eq!(device.backend().cuda_stream(), Ok(Some(stream)));
        let numbers = device.upload(&[0.5f32; 40]).expect("it fits");
        assert_eq!(sum(&device, &numbers), Ok(20.0));
        drop((numbers, device));
        program.has_only("1 context, 1 stream");
    }
}

#[test]
fn no_graph_is_recorded_in_the_default_stream_and_none_works_in_that_of_each_thread() {
    let program = Program::new();
    let context = program.context.get_inner().cast();
    // SAFETY: the context lives as long as the program.
    let device = unsafe { Device::from_raw(context, null_mut(), (), IMAGES) }.expect("it is live");
    let refused = device.record(|| Ok(())).expect_err("the driver cannot do that");
    assert!(matches!(refused, DeviceError::Unsupported { .. }), "{refused}");
    assert_eq!(device.synchronize(), Ok(()));
    let stream = device.new_stream().expect("there is room");
    stream.record(|| Ok(())).expect("a stream of its own can be recorded");
    // SAFETY: the context lives as long as the program.
    let refused = unsafe { Device::from_raw(context, without_provenance_mut(2), (), IMAGES) };
    assert!(matches!(refused, Err(DeviceError::Unsupported { .. })), "{refused:?}");
}

#[test]
fn a_stream_or_memory_of_another_context_is_refused() {
    let program = Program::new();
    let (_context, there) = on(1);
    let there_memory = memory(&[1.0]);
    CurrentContext::set_current(&program.context).expect("it is live");
    let there = Arc::new(there);
    let device = program.device();
    let refused = [
        Device::from_cust(&program.context, there.clone(), IMAGES).map(drop),
        device.with_cust_stream(there).map(drop),
        device.lend(&there_memory, |_| Ok(())),
        Buffer::from_cust(&device, there_memory).map(drop),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(DeviceError::OtherContext { .. })), "{refused:?}");
    }
}

#[test]
fn several_cust_streams_are_streams_of_one_device() {
    let program = Program::new();
    let device = program.device();
    let stream = Stream::new(StreamFlags::DEFAULT, None).expect("there is room");
    let handle = stream.as_inner().cast();
    let sibling = device.with_cust_stream(stream).expect("it is of the same context");
    assert_eq!(sibling.backend().cuda_stream(), Ok(Some(handle)));
    // SAFETY: the stream lives as long as the program.
    let raw = unsafe { device.with_raw_stream(program.stream.as_inner().cast(), ()) };
    let raw = raw.expect("it is of the same context");
    let numbers = device.upload(&[0.5f32; 40]).expect("it fits");
    assert_eq!((sum(&sibling, &numbers), sum(&raw, &numbers)), (Ok(20.0), Ok(20.0)));
    drop((device, numbers, sibling, raw));
    program.has_only("1 context, 1 stream");
}

#[test]
fn memory_goes_from_cust_to_a_buffer_and_back() {
    let program = Program::new();
    let device = program.device();
    let numbers: Vec<f32> = (0..50u8).map(f32::from).collect();
    let of_cust = memory(&numbers);
    let address = of_cust.as_device_ptr().as_raw();
    let mut buffer = Buffer::from_cust(&device, of_cust).expect("it is memory of the device");
    assert_eq!((buffer.address(), buffer.device_pointer().as_raw()), (address, address));
    assert_eq!(sum(&device, &buffer), Ok(1225.0));
    buffer.copy_part_from(0, &[100.0]).expect("it is there");
    let mut host = numbers.clone();
    // SAFETY: the buffer is alive.
    unsafe { buffer.device_slice() }.copy_to(&mut host).expect("it is there");
    assert_eq!((host[0], &host[1..]), (100.0, &numbers[1..]));
    let back = buffer.into_cust().expect("nothing has failed");
    let mut host = numbers.clone();
    back.copy_to(&mut host).expect("it is there");
    assert_eq!((host[0], &host[1..]), (100.0, &numbers[1..]));
    drop(back);
    // Memory that the device allocated can be handed over too; memory that it keeps is freed once.
    let allocated = device.upload(&numbers).expect("it fits").into_cust().expect("it is its own");
    drop(Buffer::from_cust(&device, allocated).expect("it is memory of the device"));
    let nothing = Buffer::from_cust(&device, memory(&[])).expect("nothing is anywhere");
    assert_eq!((nothing.len(), sum(&device, &nothing)), (0, Ok(-0.0)));
    assert_eq!(nothing.into_cust().expect("nothing has failed").len(), 0);
    drop(device);
    program.has_only("1 context, 1 stream");
}

#[test]
fn memory_waits_for_all_streams_before_it_goes_back() {
    let program = Program::new();
    let device = program.device();
    let other = device.new_stream().expect("there is room");
    let buffer = device.upload(&[1.0f32; 4]).expect("it fits");
    let waits = [&device, &other].map(|device| {
        let stream = device.backend().cuda_stream().expect("nobody records");
        format!("synchronize {}", stream.expect("it is a CUDA device").addr())
    });
    let since = log().len();
    let back = buffer.into_cust().expect("nothing has failed");
    assert_eq!(log()[since..], waits);
    let since = log().len();
    assert_eq!(device.lend(&back, |lent| Ok(lent.len())), Ok(4));
    assert_eq!(log()[since..], waits);
    let since = log().len();
    let lent = || -> Result<(), DeviceError> { device.lend(&back, |_| panic!("on purpose")) };
    assert!(catch_unwind(AssertUnwindSafe(lent)).is_err());
    assert_eq!(log()[since..], waits);
}

#[test]
fn shared_memory_is_freed_by_its_last_owner() {
    let program = Program::new();
    let device = program.device();
    for here_first in [true, false] {
        let shared = Arc::new(memory(&[0.5; 40]));
        let buffer = Buffer::from_shared(&device, shared.clone()).expect("it is its memory");
        assert_eq!(sum(&device, &buffer), Ok(20.0));
        if here_first {
            drop(buffer)
        } else {
            drop(shared);
            assert_eq!(sum(&device, &buffer), Ok(20.0));
            let refused = buffer.into_cust().map(drop);
            assert!(matches!(refused, Err(DeviceError::Unsupported { .. })), "{refused:?}");
        }
    }
    drop(device);
    program.has_only("1 context, 1 stream");
}

#[test]
fn a_part_may_begin_at_any_element_but_not_end_past_the_memory() {
    let program = Program::new();
    let device = program.device();
    let of_cust = memory(&[1.0; 64]);
    let slice = |range: std::ops::Range<usize>| of_cust.index(range);
    assert_eq!(device.lend(&slice(4..64), |part| sum(&device, part)), Ok(60.0));
    assert_eq!(device.lend(&slice(3..64), |part| sum(&device, part)), Ok(61.0));
    let address = of_cust.as_device_ptr().as_raw();
    // SAFETY: the buffer is refused.
    let longer = unsafe { Buffer::<f32>::from_raw(&device, address + 16, 61, ()) };
    let no_memory =
        DeviceError::NoMemory { address: address + 16, bytes: 244, device: "Fake GPU".into() };
    assert_eq!(longer.expect_err("there are 60 elements"), no_memory);
    // In cust, a slice can outlive its buffer.
    let dangling = slice(0..64);
    drop(of_cust);
    let refused = device.lend(&dangling, |_| Ok(())).expect_err("it has been freed");
    assert!(matches!(refused, DeviceError::NoMemory { .. }), "{refused}");
}

#[test]
fn the_emulator_has_no_memory_for_cust() {
    let _program = Program::new();
    let device = Device::new(Emulator::new(EmulatorConfig::default()));
    let refused = [
        device.lend(&memory(&[1.0]), |_| Ok(())),
        Buffer::from_cust(&device, memory(&[1.0])).map(drop),
        Buffer::from_shared(&device, Arc::new(memory(&[1.0]))).map(drop),
        device.upload(&[1.0]).and_then(Buffer::<f64>::into_cust).map(drop),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(DeviceError::Unsupported { .. })), "{refused:?}");
    }
}

#[test]
fn an_owner_is_never_dropped_by_a_device_that_is_given_up() {
    let _program = Program::new();
    let devices = Devices::cuda(&[0, 1], IMAGES).expect("there are two");
    let (memory, owner) = (devices[0].zeroed::<f32>(4).expect("it fits"), Arc::new(()));
    // SAFETY: `memory` has the same length and outlives the buffer.
    let buffer =
        unsafe { Buffer::<f32>::from_raw(&devices[0], memory.address(), 4, owner.clone()) };
    let buffer = buffer.expect("it is memory of the device");
    let sibling = devices[0].new_stream().expect("there is room");
    devices.iter().for_each(|device| device.backend().give_up());
    assert!(matches!(sibling.synchronize(), Err(DeviceError::GivenUp { .. })));
    drop(buffer);
    assert_eq!(Arc::strong_count(&owner), 2);
    drop((memory, sibling, devices));
}
