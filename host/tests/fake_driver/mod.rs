//! The fake driver of `tests/fake_driver`, which logs its calls.
#![allow(dead_code, reason = "each test uses some of it")]

pub(crate) mod controls;

use gridsync::device::{Device, DeviceError, Geometry, KernelInfo, cuda::PtxImage};
use std::{env, fs, path::PathBuf, sync::LazyLock};
use tempfile::TempDir;

/// PTX for a target, with empty kernels: the fake driver uses only the names.
macro_rules! ptx {
    ($target:literal: $($kernel:ident)*) => {
        concat!(
            ".target ", $target, "\n",
            $(".visible .entry ", stringify!($kernel), "()\n{\n}\n",)*
        )
    };
}

pub(crate) const GOOD: &[PtxImage] = &[
    PtxImage::text(75, ptx!("sm_75": attributes only_older too_early)),
    PtxImage::text(
        90,
        ptx!("sm_90":
            a_store after attributes barrier barrier_rounds brief drawn early fault graph_end
            replay_fault tiles timed times_and_plus too_large unasked wide
        ),
    ),
];

/// A kernel that launches another one. It also stores a value, as its name implies.
pub(crate) const LAUNCHES: PtxImage = PtxImage::text(
    90,
    ".target sm_90
.extern .func  (.param .b32 r) __cudaCDP2LaunchDeviceV2
(
\t.param .b64 a
)
;
.visible .entry launch_and_store(
\t.param .u64 launch_and_store_param_0
)
{
\tmov.u64 %rd1, child;
\tcall __cudaCDP2LaunchDeviceV2;
}
.visible .entry child()
{
}
",
);

/// The folder of the driver's log. The first use ensures that the fake driver gets loaded.
pub(crate) static DRIVER: LazyLock<TempDir> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a temporary folder should be there to write to");
    fs::write(dir.path().join("devrt.a"), "").expect("the folder should be there to write to");
    // SAFETY: this runs once, before any test of this process uses the loader or the fake driver,
    // and nothing else reads these variables.
    unsafe {
        env::set_var(libcuda::LIBRARY_VARIABLE, library());
        env::set_var("GRIDSYNC_FAKE_LOG", dir.path().join("log"));
        env::set_var("GRIDSYNC_CUDADEVRT", dir.path().join("devrt.a"));
    }
    dir
});

/// The path of the fake driver, next to the running test.
pub(crate) fn library() -> PathBuf {
    let test = env::current_exe().expect("a test knows where it is");
    test.with_file_name("libgridsync_fake_driver.so")
}

/// Opens the fake device with `images`.
pub(crate) fn open(images: &[PtxImage]) -> Device {
    LazyLock::force(&DRIVER);
    Device::cuda(0, images).expect("the fake driver has one device")
}

/// The lines of the log; empty if nothing has been logged.
pub(crate) fn log() -> Vec<String> {
    let log = fs::read_to_string(DRIVER.path().join("log")).unwrap_or_default();
    log.lines().map(String::from).collect()
}

/// The log's lines about `kernel`.
pub(crate) fn log_of(kernel: &str) -> Vec<String> {
    log().into_iter().filter(|line| line.split(' ').nth(1) == Some(kernel)).collect()
}

/// A kernel without arguments.
pub(crate) fn kernel(name: &'static str) -> KernelInfo {
    KernelInfo { name, cooperative: false, args: &[], parameters: &[], run: |_| {} }
}

/// Launches a kernel without arguments.
pub(crate) fn launch(
    device: &Device,
    kernel: &KernelInfo,
    geometry: Geometry,
) -> Result<(), DeviceError> {
    // SAFETY: the kernels launched by this function have no arguments.
    unsafe { device.backend().launch(kernel, &geometry, &[]) }
}
