//! The library as a dependency: what the build needs on the machine.

mod fake_driver;

use std::path::Path;
use std::process::Command;
use std::{env, fs};

const LIBRARY: &str = env!("CARGO_MANIFEST_DIR");

const MAIN: &str = r#"
use gridsync::device::{Device, DeviceError, Emulator, EmulatorConfig, KERNELS};
use gridsync::op::Sum;
use gridsync::primitives::{Reducer, reduce::reduce_on_cpu};

fn main() -> Result<(), DeviceError> {
    let device = match Device::cuda(0, &KERNELS) {
        Err(DeviceError::NoCuda(_)) => Device::new(Emulator::new(EmulatorConfig::checking(1))),
        device => device?,
    };
    let numbers: Vec<f32> = (1..=1000u16).map(f32::from).collect();
    let sum = Reducer::new(Sum::<f32>::new(), &device)?.reduce(&device.upload(&numbers)?)?;
    assert_eq!(sum, reduce_on_cpu(Sum::<f32>::new(), &numbers));
    println!("{}: {sum}", device.properties().name);
    Ok(())
}
"#;

/// Runs cargo, offline, and returns its standard output.
#[track_caller]
fn cargo(cargo: &mut Command) -> String {
    let done = cargo.output().expect("cargo should start");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

fn offline() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    command.env("CARGO_NET_OFFLINE", "true");
    command
}

#[test]
fn no_crate_that_searches_for_cuda_is_built_by_default() {
    let tree = |features: &[&str]| {
        let args = ["tree", "--package=gridsync", "--edges=normal,build", "--prefix=none"];
        cargo(offline().current_dir(LIBRARY).args(args).args(features))
    };
    let looks = |tree: &str| {
        tree.lines().any(|line| line.starts_with("cust") || line.starts_with("find_cuda_helper"))
    };
    let default = tree(&[]);
    assert!(default.contains("gridsync-libcuda "), "{default}");
    assert!(!looks(&default), "{default}");
    assert!(looks(&tree(&["--features=cust"])));
}

#[test]
#[ignore = "compiles gridsync again"]
fn a_package_with_only_this_dependency_builds_and_sums_without_cuda() {
    let package = tempfile::tempdir().expect("a folder should be there to write to");
    let write = |name: &str, text: &str| {
        let path = package.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in the package"))
            .and_then(|()| fs::write(path, text))
            .expect("the folder should be there to write to");
    };
    write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"fresh\"\nedition = \"2024\"\n[dependencies]\ngridsync = {{ path = {LIBRARY:?} }}\n"
        ),
    );
    write("src/main.rs", MAIN);
    let run = |driver: &Path| {
        cargo(
            offline()
                .current_dir(package.path())
                .args(["run", "--quiet"])
                // Keep the build for later runs.
                .env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/fresh"))
                .env("GRIDSYNC_LIBCUDA", driver)
                // The workspace sets this for cust.
                .env_remove("CUDA_LIBRARY_PATH"),
        )
    };
    assert_eq!(run(Path::new("/nonexistent/libcuda.so.1")), "emulator: 500500\n");
    assert_eq!(run(&fake_driver::library()), "Fake GPU: 500500\n");
}
