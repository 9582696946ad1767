//! What holds on a GPU and on the fake driver, which runs the same kernels.

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use gridsync::op::Sum;
use gridsync::primitives::Scanner;
use gridsync::primitives::scan::Form;
use gridsync::primitives::sort::{Order, sort};
use gridsync_cudarc::{Error, StreamDevice};
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
    views_that_begin_at_any_element_are_scanned_in_place
    work_in_the_default_stream_is_in_order_with_that_of_cudarc
    work_in_the_default_stream_of_each_thread_is_in_order
    a_sorted_buffer_is_given_to_cudarc
    a_buffer_that_does_not_own_its_memory_is_not_given
    memory_of_another_stream_is_waited_for
    the_device_keeps_the_stream_and_its_context
    empty_memory_is_lent_and_given
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

/// A context and a stream of the first GPU.
pub(crate) fn stream() -> Arc<CudaStream> {
    let context = CudaContext::new(0).expect("there is a device");
    context.new_stream().expect("there is room")
}

pub(crate) fn device(stream: &Arc<CudaStream>) -> StreamDevice {
    StreamDevice::new(stream).expect("it is live")
}

/// Scans `x` from its element `from` on into another slice.
fn scanned(stream: &Arc<CudaStream>, from: usize) -> Vec<f32> {
    let x = numbers(3000);
    let device = device(stream);
    let there = stream.clone_htod(&x).expect("it fits");
    let mut output = stream.alloc_zeros::<f32>(3010).expect("it fits");
    let len = x.len() - from;
    let mut scanner = Scanner::new(Sum::<f32>::new(), &device, len).expect("it fits");
    let mut part = output.slice_mut(7..7 + len);
    let launched = device.lend(&there.slice(from..), |x| {
        device.lend_mut(&mut part, |sums| Ok(scanner.launch(x, sums, Form::Inclusive)?))
    });
    assert_eq!(launched, Ok(()));
    let got = stream.clone_dtoh(&output).expect("it has run");
    stream.synchronize().expect("it has run");
    assert_eq!(got[..7], [0.0; 7]);
    assert!(got[7 + len..].iter().all(|&x| x == 0.0));
    got[7..7 + len].to_vec()
}

fn views_that_begin_at_any_element_are_scanned_in_place() {
    let stream = stream();
    for from in [0, 1, 2, 3, 4] {
        assert!(scanned(&stream, from) == sums(&numbers(3000)[from..]), "from {from}");
    }
}

fn work_in_the_default_stream_is_in_order_with_that_of_cudarc() {
    let context = CudaContext::new(0).expect("there is a device");
    assert!(scanned(&context.default_stream(), 0) == sums(&numbers(3000)));
}

fn work_in_the_default_stream_of_each_thread_is_in_order() {
    let stream = CudaContext::new(0).expect("there is a device").per_thread_stream();
    for from in [0, 1] {
        assert!(scanned(&stream, from) == sums(&numbers(3000)[from..]), "from {from}");
        let there = stream.clone();
        let scanned = thread::spawn(move || scanned(&there, from)).join().expect("it should run");
        assert!(scanned == sums(&numbers(3000)[from..]), "from {from} in another thread");
    }
    sorted_and_given(&stream);
}

fn a_sorted_buffer_is_given_to_cudarc() {
    let stream = stream();
    assert_eq!(sorted_and_given(&stream).stream(), &stream);
}

/// Sorts keys of `stream`, and checks the result in that stream when the device is closed.
fn sorted_and_given(stream: &Arc<CudaStream>) -> CudaSlice<i64> {
    let device = device(stream);
    let keys = stream.clone_htod(&[3i64, -1, 2]).expect("it fits");
    let sorted = device.lend(&keys, |keys| Ok(sort(Order::ASCENDING, keys)?));
    let sorted = device.give(sorted.expect("it should run")).expect("it owns its memory");
    drop(device);
    assert_eq!(stream.clone_dtoh(&sorted), Ok(vec![-1, 2, 3]));
    sorted
}

fn a_buffer_that_does_not_own_its_memory_is_not_given() {
    let stream = stream();
    let device = device(&stream);
    let x = stream.clone_htod(&[1u32; 4]).expect("it fits");
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

fn memory_of_another_stream_is_waited_for() {
    let stream = stream();
    let device = device(&stream);
    let other = stream.context().new_stream().expect("there is room");
    let x = other.clone_htod(&vec![1.0f32; 1 << 20]).expect("it fits");
    let mut output = other.alloc_zeros::<f32>(1 << 20).expect("it fits");
    let mut scanner = Scanner::new(Sum::<f32>::new(), &device, 1 << 20).expect("it fits");
    let launched = device.lend(&x, |x| {
        device.lend_mut(&mut output, |sums| Ok(scanner.launch(x, sums, Form::Inclusive)?))
    });
    assert_eq!(launched, Ok(()));
    drop(x);
    let got = other.clone_dtoh(&output).expect("it has run");
    other.synchronize().expect("it has run");
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
    let mut x = stream.clone_htod(&[1u32; 4]).expect("it fits");
    assert_eq!(device.lend(&x.slice(4..), |x| Ok(x.download()?)), Ok(vec![]));
    assert_eq!(device.lend_mut(&mut x.slice_mut(2..2), |x| Ok(x.zero()?)), Ok(()));
    let given = device.give(device.alloc::<u32>(0).expect("it fits"));
    assert_eq!(given.expect("nothing is anywhere").len(), 0);
    assert_eq!(stream.clone_dtoh(&x), Ok(vec![1; 4]));
}

fn memory_is_not_lent_in_a_recording() {
    let stream = stream();
    let device = device(&stream);
    let x = stream.clone_htod(&[1.0f32; 8]).expect("it fits");
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
    let x = stream.clone_htod(&[1.0f32; 8]).expect("it fits");
    let failed = device.lend(&x, |_| -> Result<(), _> { Err(Error::NotOwned { len: 1 }) });
    assert_eq!(failed, Err(Error::NotOwned { len: 1 }));
}
