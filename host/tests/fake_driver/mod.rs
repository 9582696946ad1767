//! A driver that keeps a log of what it is asked, compiled by the test that asks it. Where there is
//! no compiler the tests say SKIPPED.

use gridsync::device::{Device, DeviceError, Geometry, KernelInfo, cuda::PtxImage};
use std::{
    env, fs,
    io::{self, Write},
    process::Command,
    sync::LazyLock,
};
use tempfile::TempDir;

/// PTX for a target, with kernels that have nothing in them: the fake driver goes by the names.
macro_rules! ptx {
    ($target:literal: $($kernel:ident)*) => {
        concat!(
            ".target ", $target, "\n",
            $(".visible .entry ", stringify!($kernel), "()\n{\n}\n",)*
        )
    };
}

pub(crate) const GOOD: &[PtxImage] = &[
    PtxImage {
        compute: 75,
        text: ptx!("sm_75": too_early),
    },
    PtxImage {
        compute: 90,
        text: ptx!("sm_90":
            a_store after attributes barrier barrier_rounds brief drawn early fault graph_end
            replay_fault tiles timed times_and_plus too_large unasked wide
        ),
    },
];

/// Compiles the fake driver once and has it loaded; the folder of its log, or why there is none.
pub(crate) static DRIVER: LazyLock<Option<TempDir>> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a temporary folder should be there to write to");
    let library = dir.path().join("libfake_cuda.so");
    let source = dir.path().join("fake.rs");
    fs::write(&source, include_str!("libcuda.rs"))
        .expect("the fake driver's source should be written");
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(compiler)
        .args(["--edition=2024", "--crate-type=cdylib", "-o"])
        .args([&library, &source])
        .output();
    match built {
        Err(absent) => {
            // Not by eprintln!, which the test harness hides when a test passes.
            let said = format!("SKIPPED: no rustc to build a fake driver with ({absent})");
            writeln!(io::stderr(), "{said}").expect("stderr should take a line");
            return None;
        }
        Ok(built) => assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        ),
    }
    // SAFETY: runs once, before any test of this process reaches the loader or the fake driver,
    // which alone read these.
    unsafe {
        env::set_var(libcuda::LIBRARY_VARIABLE, &library);
        env::set_var("GRIDSYNC_FAKE_LOG", dir.path().join("log"));
    }
    Some(dir)
});

/// The fake device with `images`, or none, said aloud, without a compiler.
pub(crate) fn open(images: &[PtxImage]) -> Option<Device> {
    DRIVER.as_ref()?;
    Some(Device::cuda(0, images).expect("the fake driver has one device"))
}

/// The log's lines about `kernel`.
pub(crate) fn log_of(kernel: &str) -> Vec<String> {
    let dir = DRIVER
        .as_ref()
        .expect("only asked when the driver is there");
    let log = fs::read_to_string(dir.path().join("log")).expect("something was logged");
    let word = |line: &&str| line.split(' ').nth(1) == Some(kernel);
    log.lines().filter(word).map(String::from).collect()
}

/// A kernel without arguments.
pub(crate) fn kernel(name: &'static str) -> KernelInfo {
    KernelInfo {
        name,
        cooperative: false,
        args: &[],
        run: |_| {},
    }
}

/// Launches a kernel without arguments.
pub(crate) fn launch(
    device: &Device,
    kernel: &KernelInfo,
    geometry: Geometry,
) -> Result<(), DeviceError> {
    // SAFETY: the kernels launched through here take no arguments.
    unsafe { device.backend().launch(kernel, &geometry, &[]) }
}
