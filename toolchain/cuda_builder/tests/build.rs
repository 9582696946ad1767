//! Builds a small crate with this machine's compiler. Without a compiler, the tests print SKIPPED.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use cuda_builder::{Arch, BuildError, Compiler, CudaBuilder, Header, fingerprint};

const DEPENDENCY: &str = r#"
#![no_std]
/// Names the file it is called in, which must not carry a machine's path into the PTX.
#[inline(never)]
#[track_caller]
pub fn first_letters(at: usize) -> u8 {
    core::panic::Location::caller().file().as_bytes()[at]
}
"#;

const KERNELS: &str = r#"
#![no_std]
#![feature(abi_ptx)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! { loop {} }

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn checked(data: *mut u32, at: usize, len: usize) {
    // SAFETY: only compiled, never run.
    let data = unsafe { core::slice::from_raw_parts_mut(data, len) };
    data[at] = data[at + 1].checked_add(7).expect("the sum should fit");
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn located(out: *mut u8, at: usize) {
    // SAFETY: only compiled, never run.
    unsafe { *out = dependency::first_letters(at) };
}

#[cfg(compute_ge_90)]
#[unsafe(no_mangle)]
pub extern "ptx-kernel" fn hopper_only() {}
"#;

/// Writes the crate and its dependency into a folder that persists, so that later runs find it
/// built.
fn workspace(place: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(place);
    let package = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}")
    };
    let files = [
        (
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"kernels\", \"dependency\"]\n".to_owned(),
        ),
        (
            "kernels/Cargo.toml",
            package(
                "kernels",
                "[dependencies]\ndependency.path = \"../dependency\"\n[lints.rust.unexpected_cfgs]\nlevel = \"warn\"\ncheck-cfg = [\"cfg(compute_ge_90)\"]\n",
            ),
        ),
        ("kernels/src/lib.rs", KERNELS.to_owned()),
        ("dependency/Cargo.toml", package("dependency", "")),
        ("dependency/src/lib.rs", DEPENDENCY.to_owned()),
    ];
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Rewriting an equal file would make cargo build again.
        if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            fs::write(&path, text).unwrap();
        }
    }
    root
}

fn compiler() -> Option<Compiler> {
    let found = Compiler::find();
    if let Err(why) = &found {
        println!("SKIPPED: {why}");
    }
    found.ok()
}

/// `cargo xtask validate` also shows it: it builds images again that were built in another checkout.
#[test]
#[ignore = "compiles core twice"]
fn two_checkouts_give_the_same_bytes() {
    let Some(compiler) = compiler() else { return };
    let build = &|place: &str| {
        let root = workspace(place);
        let built = CudaBuilder::new(root.join("kernels"))
            .arch(Arch::Compute90)
            .compiler(compiler.clone())
            .sources(&["kernels", "dependency"])
            .copy_to(root.join("out/kernels.ptx"))
            .build()
            .unwrap();
        assert_eq!(built.ptx, root.join("out/kernels.ptx"));
        assert_eq!(built.compiler, compiler.version().unwrap());
        assert_eq!(built.warnings, Vec::<String>::new());
        let crates = ["dependency", "kernels"].map(|name| root.join(name).canonicalize().unwrap());
        let files = crates.iter().flat_map(|dir| [dir.join("Cargo.toml"), dir.join("src/lib.rs")]);
        assert_eq!(built.made_from, files.collect::<Vec<_>>());
        let mut kernels = built.kernels;
        kernels.sort();
        assert_eq!(kernels, ["checked", "hopper_only", "located"]);

        let text = fs::read_to_string(&built.ptx).unwrap();
        let sources = Header::read(&text).unwrap().sources.unwrap();
        assert_eq!(sources.sha256, fingerprint(&root, &sources.dirs).unwrap());
        text
    };
    // Each build uses one core.
    let [one, two] = thread::scope(|scope| {
        let builds = ["here", "some/where/else"].map(|place| scope.spawn(move || build(place)));
        builds.map(|built| built.join().expect("it says why it fails"))
    });
    assert_eq!(one, two);
    assert!(!one.contains("panicking"), "a panic should be a trap, not a call:\n{one}");
}

#[test]
fn errors_quote_cargos_output_of_a_failed_build() {
    let Some(compiler) = compiler() else { return };
    let error = CudaBuilder::new(workspace("failing").join("kernels"))
        .compiler(compiler)
        .build_args(&["--features", "no-such-feature"])
        .build()
        .unwrap_err();
    assert!(matches!(error, BuildError::Failed { .. }), "{error}");
    assert!(error.to_string().contains("no-such-feature"), "{error}");
}

#[test]
fn a_missing_crate_folder_is_named() {
    let error = CudaBuilder::new("no/such/kernels").build().unwrap_err();
    assert!(error.to_string().contains("no/such/kernels"), "{error}");
}
