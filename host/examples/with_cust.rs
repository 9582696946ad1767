//! A program that uses cust, with gridsync between its own kernels: its context, its stream, its
//! memory.
//!
//! cust's kernel squares numbers, gridsync sums, scans and selects them, and cust's kernel
//! continues with the result on the device. Everything is submitted to one stream, so it needs no
//! events and no waits in between.
//!
//! `cargo run --release -p gridsync --example with_cust`

use cust::context::Context;
use cust::memory::{CopyDestination, DeviceBuffer, DevicePointer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use gridsync::device::cuda::probe;
use gridsync::device::{Buffer, Device, DeviceError, KERNELS};
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync::primitives::select::{Within, select_on_cpu};
use gridsync::primitives::{Reducer, Scanner, Selector};
use gridsync_kernels::op::Sum;
use std::error::Error;
use std::sync::Arc;

/// The program's own kernel: it squares each of `len` numbers.
const SQUARE: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry square(.param .u64 numbers, .param .u32 len)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    ld.param.u32 %r5, [len];
    setp.ge.u32 %p1, %r4, %r5;
    @%p1 ret;
    ld.param.u64 %rd1, [numbers];
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f1, [%rd3];
    mul.rn.f32 %f2, %f1, %f1;
    st.global.f32 [%rd3], %f2;
    ret;
}
";

/// Larger squares are kept.
const BOUND: f32 = 0.5;

fn main() -> Result<(), Box<dyn Error>> {
    match probe() {
        Err(DeviceError::NoCuda(why)) => println!("no GPU, hence nothing to do for cust: {why}"),
        devices => {
            let name = devices?.swap_remove(0).properties.name;
            run(1_000_003)?;
            println!(
                "{name}: what gridsync made of cust's memory in cust's stream equals the CPU's"
            );
        }
    }
    Ok(())
}

/// Squares `len` numbers, sums, scans and selects the squares, squares the selected ones, and
/// compares everything with the CPU.
pub(crate) fn run(len: u32) -> Result<(), Box<dyn Error>> {
    // As in any program that uses cust.
    let context = Context::new(cust::device::Device::get_device(0)?)?;
    let stream = Arc::new(Stream::new(StreamFlags::DEFAULT, None)?);
    let module = Module::from_ptx(SQUARE, &[])?;
    let square = |numbers: DevicePointer<f32>, len: u32| {
        let kernel = module.get_function("square")?;
        // SAFETY: one thread for each of `len` numbers, which live until the stream has been waited
        // for.
        unsafe { cust::launch!(kernel<<<len.div_ceil(256), 256, 0, stream>>>(numbers, len)) }
    };
    let host: Vec<f32> = (0..len).map(|i| (i % 1009) as f32 / 1009.0).collect();
    let numbers = DeviceBuffer::from_slice(&host)?;
    square(numbers.as_device_ptr(), len)?;

    // gridsync's part. Everything that it allocates and keeps for many calls is created first.
    let device = Device::from_cust(&context, stream.clone(), &KERNELS)?;
    let squares = Buffer::from_cust(&device, numbers)?;
    let (mut sums, mut kept) = (device.alloc(squares.len())?, device.alloc(squares.len())?);
    let mut count = device.zeroed(1)?;
    let mut sum = Reducer::new(Sum::<f32>::new(), &device)?;
    let mut scanner = Scanner::new(Sum::<f32>::new(), &device, squares.len())?;
    let above = Within::greater_than(BOUND);
    let mut selector = Selector::new(above, &device, squares.len())?;
    sum.launch(&squares)?;
    scanner.launch(&squares, &mut sums, Form::Inclusive)?;
    selector.launch(&squares, &mut kept, &mut count)?;

    // cust again, after all that: it is the same stream.
    square(kept.device_pointer(), len)?;
    let numbers = squares.into_cust()?; // waits
    let mut squared = vec![0.0; host.len()];
    numbers.copy_to(&mut squared)?;

    let expected: Vec<f32> = host.iter().map(|x| x * x).collect();
    assert!(squared == expected);
    assert_eq!(sum.result()?, reduce_on_cpu(Sum::<f32>::new(), &expected));
    assert!(sums.download()? == scan_on_cpu(Sum::<f32>::new(), &expected, Form::Inclusive));
    let expected: Vec<f32> = select_on_cpu(above, &expected).iter().map(|x| x * x).collect();
    assert!(kept.download_part(0..count.download()?[0] as usize)? == expected);
    Ok(())
}
