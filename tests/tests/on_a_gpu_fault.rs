//! A kernel that traps, on a real GPU. It runs in its own process because it loses the context.

use cuda_std::launch::Kernel;
use gridsync::device::cuda::{PtxImage, probe};
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_tests::devices::skipped;
use gridsync_tests::trials;
use std::process::ExitCode;

fn main() -> ExitCode {
    trials! { test: a_trap_is_an_error_that_reports_the_lost_context; }.run()
}

#[allow(non_camel_case_types)]
struct falls_into_a_trap;

impl Kernel for falls_into_a_trap {
    const NAME: &'static str = "falls_into_a_trap";
    const COOPERATIVE: bool = false;
    type Args = ();

    unsafe fn run(_: Self::Args) {
        unreachable!("a kernel in PTX runs on a GPU only")
    }
}

fn a_trap_is_an_error_that_reports_the_lost_context() {
    const IMAGE: PtxImage = PtxImage::text(
        75,
        ".version 7.0\n.target sm_75\n.address_size 64\n\
               .visible .entry falls_into_a_trap()\n{\n  trap;\n  ret;\n}\n",
    );
    if let Err(reason) = probe() {
        skipped(&format!("no CUDA device: {reason}"));
        return;
    }
    let device = Device::cuda(0, &[IMAGE]).expect("a device that was found should open");
    // SAFETY: the kernel has no arguments and accesses no memory.
    unsafe { device.launch::<falls_into_a_trap>(&Geometry::new(1, 32), ()) }
        .expect("the launch itself is in order");
    let error = device.synchronize().expect_err("the trap should come to light");
    assert!(matches!(error, DeviceError::Lost { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("falls_into_a_trap") && text.contains("lost"), "{text}");
}
