//! What holds on a GPU and on the fake driver, which runs the same kernels.

use cuda_core::{Context, DeviceBuffer, Stream};
use gridsync::op::Sum;
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::Form;
use gridsync::primitives::sort::{Order, sort};
use gridsync_cuda_core::{Error, SliceMut, StreamDevice};
use std::sync::Arc;
use std::thread;

/// A claim, by its name.
pub(crate) type Claim = (&'static str, fn());

/// The name of each function, and the function.
macro_rules! claims {
    ($($name:ident)*) => { &[$((stringify!($name), $name)),*] };
}

pub(crate) const SHARED: &[Claim] = claims! {
    the_example_is_right
    slices_that_begin_at_any_element_are_scanned_in_place
    work_in_the_default_stream_is_in_order_with_that_of_cuda_core
    the_default_stream_of_each_thread_is_refused
    another_thread_lends_and_gives
    a_sorted_buffer_is_given_to_cuda_core
    a_buffer_that_does_not_own_its_memory_is_not_given
    memory_of_another_stream_is_lent
    the_device_keeps_the_stream_and_its_context
    empty_memory_is_lent_and_given
    a_slice_ends_within_its_buffer
    memory_is_not_lent_in_a_recording
    the_error_of_the_work_is_returned
};

#[path = "../../examples/lend.rs"]
mod example;

fn the_example_is_right() {
    example::main().expect("it should run");
}

/// Small whole numbers, whose sums are exact.
fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| (i % 7) as f32).collect()
}

/// The inclusive sums of numbers.
fn sums(numbers: &[f32]) -> Vec<f32> {
    let mut sum = 0.0;
    let next = |x: &f32| {
        sum += x;
        sum
    };
    numbers.iter().map(next).collect()
}

/// A stream of the first GPU.
pub(crate) fn stream() -> Arc<Stream> {
    let context = Context::new(0).expect("there is a device");
    context.new_stream().expect("there is room")
}

pub(crate) fn device(stream: &Arc<Stream>) -> StreamDevice {
    StreamDevice::new(stream).expect("it is live")
}

pub(crate) fn upload<T: cuda_core::DeviceCopy>(stream: &Stream, host: &[T]) -> DeviceBuffer<T> {
    DeviceBuffer::from_host(stream, host).expect("it fits")
}

/// Scans `x` from its element `from` on into part of another buffer.
fn scanned(stream: &Arc<Stream>, from: usize) -> Vec<f32> {
    let x = numbers(3000);
    let device = device(stream);
    let there = upload(stream, &x);
    let mut output = DeviceBuffer::<f32>::zeroed(stream, 3010).expect("it fits");
    let len = x.len() - from;
    let mut scanner = Scanner::new(Sum::<f32>::new(), &device, len).expect("it fits");
    let mut part = SliceMut::new(&mut output, 7..7 + len).expect("it is within");
    let x = there.slice(from..x.len()).expect("it is within");
    let launched = device.lend(&x, |x| {
        device.lend_mut(&mut part, |sums| Ok(scanner.launch(x, sums, Form::Inclusive)?))
    });
    assert_eq!(launched, Ok(()));
    let got = output.to_host_vec(stream).expect("it has run");
    assert_eq!(got[..7], [0.0; 7]);
    assert!(got[7 + len..].iter().all(|&x| x == 0.0));
    got[7..7 + len].to_vec()
}

fn slices_that_begin_at_any_element_are_scanned_in_place() {
    let stream = stream();
    for from in [0, 1, 2, 3, 4] {
        assert!(scanned(&stream, from) == sums(&numbers(3000)[from..]), "from {from}");
    }
}

fn work_in_the_default_stream_is_in_order_with_that_of_cuda_core() {
    let context = Context::new(0).expect("there is a device");
    assert!(scanned(&context.default_stream(), 0) == sums(&numbers(3000)));
}

fn the_default_stream_of_each_thread_is_refused() {
    let context = Context::new(0).expect("there is a device");
    // SAFETY: CUDA has this stream (`CU_STREAM_PER_THREAD`) as long as the context.
    let stream = unsafe { Stream::borrow_raw(std::ptr::without_provenance_mut(2), &context) };
    let refused = StreamDevice::new(&stream).err();
    assert!(matches!(refused, Some(Error::Device(_))), "{refused:?}");
}

fn another_thread_lends_and_gives() {
    let stream = stream();
    let there = stream.clone();
    let sorted = thread::spawn(move || sorted_and_given(&there)).join().expect("it should run");
    assert_eq!(sorted.to_host_vec(&stream), Ok(vec![-1, 2, 3]));
}

fn a_sorted_buffer_is_given_to_cuda_core() {
    let stream = stream();
    assert_eq!(sorted_and_given(&stream).context(), stream.context());
}

/// Sorts keys of `stream`, and checks the result in that stream when the device is closed.
fn sorted_and_given(stream: &Arc<Stream>) -> DeviceBuffer<i64> {
    let device = device(stream);
    let keys = upload(stream, &[3i64, -1, 2]);
    let sorted = device.lend(&keys, |keys| Ok(sort(Order::ASCENDING, keys)?));
    let sorted = device.give(sorted.expect("it should run")).expect("it owns its memory");
    drop(device);
    assert_eq!(sorted.to_host_vec(stream), Ok(vec![-1, 2, 3]));
    sorted
}

fn a_buffer_that_does_not_own_its_memory_is_not_given() {
    let stream = stream();
    let device = device(&stream);
    let x = upload(&stream, &[1u32; 4]);
    // SAFETY: the memory is that of `x`, which lives longer.
    let owned = device.lend(&x, |x| unsafe {
        Ok(gridsync::device::Buffer::<u32>::from_raw(&device, x.address(), 4, ())?)
    });
    let refused = device.give(owned.expect("it is memory of the device"));
    assert_eq!(refused.err(), Some(Error::NotOwned { len: 4 }));
    let elsewhere = gridsync::device::Device::emulator().alloc::<u32>(4).expect("it fits");
    let refused = device.give(elsewhere).err();
    assert!(matches!(refused, Some(Error::OtherDevice { .. })), "{refused:?}");
}

fn memory_of_another_stream_is_lent() {
    let stream = stream();
    let device = device(&stream);
    let other = stream.context().new_stream().expect("there is room");
    let x = upload(&other, &vec![1.0f32; 1 << 20]);
    let mut output = DeviceBuffer::<f32>::zeroed(&other, 1 << 20).expect("it fits");
    let mut scanner = Scanner::new(Sum::<f32>::new(), &device, 1 << 20).expect("it fits");
    let launched = device.lend(&x, |x| {
        device.lend_mut(&mut output, |sums| Ok(scanner.launch(x, sums, Form::Inclusive)?))
    });
    assert_eq!(launched, Ok(()));
    drop(x);
    // Until then, cuda-core refuses to use it in the other stream.
    stream.synchronize().expect("it has run");
    let got = output.to_host_vec(&other).expect("it has run");
    assert!(got.iter().zip(1..).all(|(&sum, i)| sum == i as f32));
}

fn the_device_keeps_the_stream_and_its_context() {
    let device = device(&stream());
    let x = device.upload(&[1.0f32; 8]).expect("it fits");
    let device = device.device().clone();
    assert_eq!(x.download(), Ok(vec![1.0; 8]));
    drop(device);
    assert_eq!(x.download(), Ok(vec![1.0; 8]));
}

fn empty_memory_is_lent_and_given() {
    let stream = stream();
    let device = device(&stream);
    let mut x = upload(&stream, &[1u32; 4]);
    let end = x.slice(4..4).expect("it is within");
    assert_eq!(device.lend(&end, |x| Ok(x.download()?)), Ok(vec![]));
    drop(end);
    let mut empty = SliceMut::new(&mut x, 2..2).expect("it is within");
    assert_eq!(device.lend_mut(&mut empty, |x| Ok(x.zero()?)), Ok(()));
    let given = device.give(device.alloc::<u32>(0).expect("it fits"));
    let mut given = given.expect("nothing is anywhere");
    assert_eq!(given.len(), 0);
    assert_eq!(device.lend_mut(&mut given, |x| Ok(x.zero()?)), Ok(()));
    assert_eq!(x.to_host_vec(&stream), Ok(vec![1; 4]));
}

fn a_slice_ends_within_its_buffer() {
    let stream = stream();
    let mut x = upload(&stream, &[1u32; 4]);
    let refused = SliceMut::new(&mut x, 3..5).err();
    assert_eq!(refused, Some(Error::OutOfBounds { start: 3, end: 5, len: 4 }));
    #[expect(clippy::reversed_empty_ranges)]
    let refused = SliceMut::new(&mut x, 3..2).err();
    assert_eq!(refused, Some(Error::OutOfBounds { start: 3, end: 2, len: 4 }));
}

fn memory_is_not_lent_in_a_recording() {
    let stream = stream();
    let device = device(&stream);
    let x = upload(&stream, &[1.0f32; 8]);
    let mut refused = None;
    let recorded = device.record(|| {
        refused = Some(device.lend(&x, |_| Ok(())));
        Ok(())
    });
    recorded.expect("nothing else fails");
    assert!(matches!(refused, Some(Err(Error::Device(_)))), "{refused:?}");
}

fn the_error_of_the_work_is_returned() {
    let stream = stream();
    let device = device(&stream);
    let x = upload(&stream, &[1.0f32; 8]);
    let failed = device.lend(&x, |_| -> Result<(), _> { Err(Error::NotOwned { len: 1 }) });
    assert_eq!(failed, Err(Error::NotOwned { len: 1 }));
}
