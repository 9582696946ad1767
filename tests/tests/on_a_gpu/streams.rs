//! Streams, events, and devices on cust's context, streams and memory.

use cust::context::{Context, ContextHandle, CurrentContext, legacy};
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};
use gridsync::device::cuda::probe;
use gridsync::device::{Allocator, Buffer, Device, DeviceError, KERNELS};
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync::primitives::select::{Within, select_on_cpu};
use gridsync::primitives::{Reducer, Scanner, select};
use gridsync_kernels::op::Sum;
use gridsync_tests::devices::skipped;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            primitives_are_right_in_streams_of_every_kind,
            memory_of_the_allocator_of_a_program_is_freed_by_it,
            dropping_gridsync_objects_keeps_the_context_and_stream_of_the_program,
            a_non_primary_context_has_its_own_memory,
            freed_memory_is_refused,
            a_stream_that_waits_for_an_event_sees_all_that_came_before_it,
            a_buffer_that_another_stream_writes_is_not_freed_before,
            a_graph_of_one_stream_is_recorded_while_another_works;
    }
}

/// The first GPU, for one test at a time: no other test must allocate the memory that this one has
/// freed.
struct Gpu {
    device: cust::device::Device,
    _one_at_a_time: MutexGuard<'static, ()>,
}

impl Gpu {
    /// Opens the GPU, or returns `None` without one. In that case the test is skipped.
    fn take() -> Option<Self> {
        static TAKEN: Mutex<()> = Mutex::new(());
        if let Err(reason) = probe() {
            skipped(&format!("no CUDA device: {reason}"));
            return None;
        }
        let device = cust::device::Device::get_device(0).expect("a device that was found is there");
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Self { device, _one_at_a_time: taken })
    }

    /// The primary context, which becomes current, and a cust stream.
    fn with_cust(&self) -> (Context, Arc<Stream>) {
        let context = Context::new(self.device).expect("the context should open");
        let stream = Stream::new(StreamFlags::DEFAULT, None).expect("there should be room");
        (context, Arc::new(stream))
    }

    fn open(&self) -> Device {
        Device::cuda(0, &KERNELS).expect("a device that was found should open")
    }
}

/// Length of a scan that takes far longer than adding the next launch to a stream.
const LONG: usize = 1 << 26;

/// Numbers whose sums are rounded.
fn numbers() -> Vec<f32> {
    (0..100_003).map(|i| ((i * 37) % 101) as f32 * 0.37 - 11.0).collect()
}

/// Reduces, scans and selects cust memory on `device`, and returns the memory to cust.
fn primitives_are_right_on(device: &Device) {
    let host = numbers();
    let sum = Sum::<f32>::new();
    let [memory, output] = [(); 2].map(|()| DeviceBuffer::from_slice(&host).expect("it fits"));
    // cust copies in the default stream, and a non-blocking stream does not wait for that.
    CurrentContext::synchronize().expect("nothing has failed");
    let mut reducer = Reducer::new(sum, device).expect("it fits");
    let total = device.lend(&memory, |numbers| reducer.reduce(numbers));
    assert_eq!(total.map(f32::to_bits), Ok(reduce_on_cpu(sum, &host).to_bits()));

    let mut sums = Buffer::from_cust(device, output).expect("it is memory of the device");
    let mut scanner = Scanner::new(sum, device, host.len()).expect("it fits");
    device
        .lend(&memory, |numbers| scanner.launch(numbers, &mut sums, Form::Inclusive))
        .expect("it should run");
    let mut scanned = vec![0.0; host.len()];
    sums.into_cust()
        .expect("it should have run")
        .copy_to(&mut scanned)
        .expect("it should be there");
    assert!(scanned == scan_on_cpu(sum, &host, Form::Inclusive));

    let above = Within::greater_than(0.5f32);
    let kept = device.lend(&memory, |numbers| select(above, numbers)?.download());
    assert!(kept == Ok(select_on_cpu(above, &host)));
}

fn primitives_are_right_in_streams_of_every_kind() {
    let Some(gpu) = Gpu::take() else { return };
    let (context, stream) = gpu.with_cust();
    let device = Device::from_cust(&context, stream, &KERNELS).expect("it should open");
    primitives_are_right_on(&device);
    primitives_are_right_on(&device.new_stream().expect("there should be room"));
    // The default stream.
    //
    // SAFETY: it is always live.
    let default = unsafe { device.with_raw_stream(null_mut(), ()) };
    primitives_are_right_on(&default.expect("it is of every context"));

    let mut stream = null_mut();
    // SAFETY: the handle is writable; 1 is CU_STREAM_NON_BLOCKING.
    let made = unsafe { libcuda::cuStreamCreateWithPriority(&raw mut stream, 1, 0) };
    assert_eq!(made.ok(), Ok(()));
    // SAFETY: the stream is destroyed after everything that was created from it.
    let non_blocking = unsafe { device.with_raw_stream(stream.cast(), ()) };
    let non_blocking = non_blocking.expect("it is of this context");
    primitives_are_right_on(&non_blocking);
    drop(non_blocking);
    // SAFETY: the stream is live, and nothing uses it any longer.
    let destroyed = unsafe { libcuda::cuStreamDestroy_v2(stream) };
    assert_eq!(destroyed.ok(), Ok(()), "it was left alone");
}

/// Allocates by the driver, and frees at the end.
#[derive(Default)]
struct Counting {
    live: Arc<Mutex<Vec<u64>>>,
    freed: Arc<Mutex<Vec<u64>>>,
}

// SAFETY: memory of the driver is aligned, and the test frees it after all work.
unsafe impl Allocator for Counting {
    fn allocate(&self, bytes: usize) -> Option<u64> {
        let mut address = 0;
        // SAFETY: the pointer is valid, and the context of the device is current.
        let made = unsafe { libcuda::cuMemAlloc_v2(&raw mut address, bytes) };
        made.ok().ok()?;
        self.live.lock().expect("no panic before").push(address);
        Some(address)
    }

    fn free(&self, address: u64) {
        self.live.lock().expect("no panic before").retain(|&live| live != address);
        self.freed.lock().expect("no panic before").push(address);
    }
}

fn memory_of_the_allocator_of_a_program_is_freed_by_it() {
    let Some(gpu) = Gpu::take() else { return };
    let (context, stream) = gpu.with_cust();
    let device = Device::from_cust(&context, stream, &KERNELS).expect("it should open");
    let counting = Counting::default();
    let (live, freed) = (counting.live.clone(), counting.freed.clone());
    // SAFETY: the default stream is always live.
    let device = unsafe { device.with_allocator(null_mut(), counting) }.expect("it should open");
    assert!(!device.is_captured());
    primitives_are_right_on(&device);
    assert!(live.lock().expect("no panic").is_empty(), "all is freed");
    let buffer = device.zeroed::<u32>(5).expect("there is room");
    let address = buffer.address();
    assert_eq!(live.lock().expect("no panic")[..], [address]);
    let buffer = buffer.into_raw().expect_err("the allocator has to free it");
    drop(buffer);
    device.synchronize().expect("it is live");
    let freed = std::mem::take(&mut *freed.lock().expect("no panic"));
    assert_eq!(freed.last(), Some(&address));
    for address in freed {
        // SAFETY: it came from the driver, and all work has ended.
        let freed = unsafe { libcuda::cuMemFree_v2(address) };
        assert_eq!(freed.ok(), Ok(()));
    }
}

fn dropping_gridsync_objects_keeps_the_context_and_stream_of_the_program() {
    let Some(gpu) = Gpu::take() else { return };
    let (context, stream) = gpu.with_cust();
    let memory = DeviceBuffer::from_slice(&[1.0f32; 1000]).expect("it fits");
    for _ in 0..3 {
        let device = Device::from_cust(&context, stream.clone(), &KERNELS).expect("it opens");
        let mut sum = Reducer::new(Sum::<f32>::new(), &device).expect("it fits");
        assert_eq!(device.lend(&memory, |numbers| sum.reduce(numbers)), Ok(1000.0));
    }
    stream.synchronize().expect("it is live");
    let mut host = [0.0; 1000];
    memory.copy_to(&mut host).expect("it is there");
    assert_eq!(host, [1.0; 1000]);
}

fn a_non_primary_context_has_its_own_memory() {
    let Some(gpu) = Gpu::take() else { return };
    let flags = legacy::ContextFlags::SCHED_AUTO;
    let own = legacy::Context::create_and_push(flags, gpu.device).expect("there should be room");
    let stream = Stream::new(StreamFlags::DEFAULT, None).expect("there should be room");
    let (context, handle) = (own.get_inner().cast(), stream.as_inner().cast());
    // SAFETY: both are dropped after everything that was created from them.
    let device = unsafe { Device::from_raw(context, handle, (), &KERNELS) };
    let device = device.expect("it should open");
    primitives_are_right_on(&device);

    let primary = gpu.open();
    let elsewhere = primary.upload(&[1.0f32; 16]).expect("it fits");
    // SAFETY: the buffer is refused.
    let refused = unsafe { Buffer::<f32>::from_raw(&device, elsewhere.address(), 16, ()) };
    assert!(matches!(refused, Err(DeviceError::OtherContext { .. })), "{refused:?}");
    // SAFETY: the stream is refused.
    let refused = unsafe { primary.with_raw_stream(handle, ()) };
    assert!(matches!(refused, Err(DeviceError::OtherContext { .. })), "{refused:?}");
    drop((elsewhere, primary));
    device.synchronize().expect("it makes its own context current again");
    drop(device);
}

fn freed_memory_is_refused() {
    let Some(gpu) = Gpu::take() else { return };
    let (context, stream) = gpu.with_cust();
    let device = Device::from_cust(&context, stream, &KERNELS).expect("it should open");
    let memory = DeviceBuffer::from_slice(&vec![1.0f32; LONG]).expect("it fits");
    let (slice, address) = (*memory.as_slice(), memory.as_device_ptr().as_raw());
    // SAFETY: the buffer is refused.
    let longer = unsafe { Buffer::<f32>::from_raw(&device, address, LONG + 1, ()) };
    assert!(matches!(longer, Err(DeviceError::NoMemory { .. })), "{longer:?}");
    assert_eq!(device.lend(&slice, |memory| Ok(memory.len())), Ok(LONG));
    drop(memory);
    // In cust, a slice can outlive its buffer.
    let refused = device.lend(&slice, |_| Ok(()));
    assert!(matches!(refused, Err(DeviceError::NoMemory { .. })), "{refused:?}");
    let on_the_host = Box::new([0u64; 8]);
    let address = (on_the_host.as_ptr().addr() as u64).next_multiple_of(16);
    // SAFETY: the buffer is refused.
    let refused = unsafe { Buffer::<u64>::from_raw(&device, address, 4, ()) };
    assert!(refused.is_err(), "{refused:?}");
}

fn a_stream_that_waits_for_an_event_sees_all_that_came_before_it() {
    let Some(gpu) = Gpu::take() else { return };
    let first = gpu.open();
    let second = first.new_stream().expect("there should be room");
    let ones = first.upload(&vec![1u32; LONG]).expect("it fits");
    let mut sums = first.zeroed::<u32>(LONG).expect("it fits");
    let mut scanner = Scanner::new(Sum::<u32>::new(), &first, LONG).expect("it fits");
    let mut reducer = Reducer::new(Sum::<u32, u64>::new(), &second).expect("it fits");
    // The sum of 1 to LONG.
    let expected = (LONG as u64) * (LONG as u64 + 1) / 2;
    for _ in 0..20 {
        sums.zero().expect("it should be put into the stream");
        let begun = first.record_event().expect("it should be recorded");
        scanner.launch(&ones, &mut sums, Form::Inclusive).expect("it should launch");
        let scanned = first.record_event().expect("it should be recorded");
        second.wait_for(&scanned).expect("it should be put into the stream");
        assert_eq!(reducer.reduce(&sums), Ok(expected));
        assert_eq!(scanned.is_done(), Ok(true), "the sum came after it");
        assert!(scanned.microseconds_since(&begun).expect("both are done") > 0.0);
        // The buffer must not be zeroed again before the sum has been read.
        let summed = second.record_event().expect("it should be recorded");
        first.wait_for(&summed).expect("it should be put into the stream");
    }
}

fn a_buffer_that_another_stream_writes_is_not_freed_before() {
    let Some(gpu) = Gpu::take() else { return };
    let device = gpu.open();
    let other = device.new_stream().expect("there should be room");
    let ones = device.upload(&vec![1u32; LONG]).expect("it fits");
    let mut scanner = Scanner::new(Sum::<u32>::new(), &other, LONG).expect("it fits");
    for _ in 0..20 {
        let mut sums = device.alloc::<u32>(LONG).expect("it fits");
        scanner.launch(&ones, &mut sums, Form::Inclusive).expect("it should launch");
        drop(sums);
        // Allocate the freed memory again.
        let zeros = device.zeroed::<u32>(LONG).expect("it fits");
        let mut sum = Reducer::new(Sum::<u32, u64>::new(), &device).expect("it fits");
        assert_eq!(sum.reduce(&zeros), Ok(0));
        other.synchronize().expect("it should have run");
        assert_eq!(sum.reduce(&zeros), Ok(0));
    }
}

fn a_graph_of_one_stream_is_recorded_while_another_works() {
    let Some(gpu) = Gpu::take() else { return };
    let device = gpu.open();
    let other = device.new_stream().expect("there should be room");
    let numbers = device.upload(&vec![1u32; 100_000]).expect("it fits");
    let mut recorded = Reducer::new(Sum::<u32, u64>::new(), &device).expect("it fits");
    let mut dropped = device.upload(&[1u32; 1000]).ok();
    let mut meanwhile = Reducer::new(Sum::<u32, u64>::new(), &other).expect("it fits");
    let graph = device.record(|| {
        assert_eq!(meanwhile.reduce(&numbers), Ok(100_000));
        drop(dropped.take());
        recorded.launch(&numbers)?;
        other.synchronize()
    });
    // SAFETY: everything that was recorded is alive.
    unsafe { graph.expect("it should be recorded").launch() }.expect("it should launch");
    assert_eq!(recorded.result(), Ok(100_000));
}
