//! A kernel in CUDA C++, checked as PTX. `cuda/last_block.ptx` is the output of `nvcc -ptx -O3
//! -lineinfo -arch=sm_80` for `cuda/last_block.cu`.

use gridsync::check::{Check, Wrong};
use gridsync::device::{Device, Geometry};
use gridsync::ptx::{Kernel, Module, PtxError};

/// The kernel of the file, without the fences.
fn last_block() -> Result<Kernel, PtxError> {
    let module = Module::parse("last_block.ptx", include_str!("../cuda/last_block.ptx"))?;
    module.kernel("_Z3sumPKjPjS1_")
}

/// Adds up the numbers below 192 in three blocks.
fn adds_up(kernel: &Kernel, device: &Device) -> Result<(), Wrong> {
    let numbers = device.upload(&(0..192).collect::<Vec<u32>>())?;
    let (of_blocks, total) = (device.zeroed::<u32>(3)?, device.zeroed::<u32>(1)?);
    let arguments = [(&numbers).into(), (&of_blocks).into(), (&total).into()];
    kernel.launch(device, &Geometry::new(3, 64), &arguments)?;
    match total.download()?[0] {
        18336 => Ok(()),
        other => Err(format!("the sum is {other}, not 18336").into()),
    }
}

#[test]
fn a_missing_fence_in_cuda_is_found_in_its_source() {
    let kernel = last_block().expect("the output of nvcc");
    let failure = Check::default().run(|device| adds_up(&kernel, device));
    let failure = failure.expect_err("nothing orders the blocks");
    crate::output::is("cuda_last_block.txt", &failure.to_string());
}
