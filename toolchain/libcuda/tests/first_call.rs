//! Trampolines pass every argument through, on the call that resolves them and on later ones.
//!
//! The driver is a small library that the test compiles. Without a compiler the test prints
//! SKIPPED.

use libcuda::{CUDA_ERROR_NOT_FOUND, CUDA_SUCCESS, CUresult, LIBRARY_VARIABLE};
use std::{
    env, fs,
    io::{self, Write},
    process::Command,
    ptr,
    sync::{Barrier, LazyLock},
    thread,
};
use tempfile::TempDir;

/// Folds its arguments so that a lost, swapped or clobbered one changes the result.
const FAKE: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering};

fn fold(values: &[u64]) -> u64 {
    values.iter().fold(1, |sum, value| sum.wrapping_mul(1_000_003).wrapping_add(*value))
}

static CALLS: AtomicU32 = AtomicU32::new(0);

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_flags: u32) -> u32 {
    CALLS.fetch_add(1, Ordering::Relaxed);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut i32) -> u32 {
    // SAFETY: the caller gives a place to write to.
    unsafe { *version = CALLS.load(Ordering::Relaxed) as i32 };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuLaunchKernel(
    f: u64, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32,
    stream: u64, arguments: u64, extra: u64,
) -> u32 {
    let integers = [gx, gy, gz, bx, by, bz, shared].map(u64::from);
    fold(&[&[f][..], &integers, &[stream, arguments, extra]].concat()) as u32
}

#[unsafe(no_mangle)]
pub extern "C" fn cuLinkDestroy(
    a: u64, b: u64, c: u64, d: u64, e: u64, f: u64,
    p: f64, q: f64, r: f64, s: f64, t: f64, u: f64, v: f64, w: f64,
    g: u64, h: u64, i: u64, x: f64,
) -> u64 {
    let floats = [p, q, r, s, t, u, v, w, x].map(f64::to_bits);
    fold(&[&[a, b, c, d, e, f, g, h, i][..], &floats].concat())
}
"#;

/// The same fold as in the fake driver.
fn fold(values: &[u64]) -> u64 {
    values.iter().fold(1, |sum, value| sum.wrapping_mul(1_000_003).wrapping_add(*value))
}

/// Builds the fake driver once and points the loader at it. If this fails, prints a message and
/// returns false.
fn with_the_fake_driver() -> bool {
    static BUILT: LazyLock<Option<TempDir>> = LazyLock::new(|| {
        let dir = tempfile::tempdir().expect("a temporary folder should be there to write to");
        let (source, library) = (dir.path().join("fake.rs"), dir.path().join("libfake_cuda.so"));
        fs::write(&source, FAKE).expect("the fake driver's source should be written");
        let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let built = Command::new(compiler)
            .args(["--edition=2024", "--crate-type=cdylib", "-o"])
            .args([&library, &source])
            .output();
        match built {
            Err(absent) => {
                // Not with eprintln!, which the test harness hides if a test passes.
                let said = format!("SKIPPED: no rustc to build a fake driver with ({absent})");
                writeln!(io::stderr(), "{said}").expect("stderr should take a line");
                return None;
            }
            Ok(built) => {
                assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr))
            }
        }
        // SAFETY: runs once, before any test of this process calls the loader, which is the only
        // reader of this variable.
        unsafe { env::set_var(LIBRARY_VARIABLE, &library) };
        Some(dir)
    });
    BUILT.is_some()
}

/// One launch with arguments generated from `seed`, checked against the fold of the passed values.
fn launch(seed: u32) {
    let of = |place: u32| seed.wrapping_mul(0x9e37_79b9).wrapping_add(place);
    let pointer = |place: u32| (u64::from(of(place)) << 17) | u64::from(place);
    let integers: Vec<u32> = (1..8).map(of).collect();
    let [gx, gy, gz, bx, by, bz, shared] = integers[..] else {
        unreachable!("seven integers were made")
    };
    // SAFETY: the fake driver only reads the numbers and does not dereference these pointers.
    let got = unsafe {
        libcuda::cuLaunchKernel(
            ptr::without_provenance_mut(pointer(0) as usize),
            gx,
            gy,
            gz,
            bx,
            by,
            bz,
            shared,
            ptr::without_provenance_mut(pointer(8) as usize),
            ptr::without_provenance_mut(pointer(9) as usize),
            ptr::without_provenance_mut(pointer(10) as usize),
        )
    };
    let mut passed = vec![pointer(0)];
    passed.extend(integers.iter().copied().map(u64::from));
    passed.extend([8, 9, 10].map(pointer));
    assert_eq!(got, CUresult(fold(&passed) as u32), "seed {seed}");
}

#[test]
fn eleven_arguments_arrive_from_eight_threads_on_first_and_later_calls() {
    if !with_the_fake_driver() {
        return;
    }
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for thread in 0..8 {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                (0..1000).for_each(|round| launch(1000 * thread + round));
            });
        }
    });
}

#[test]
fn vector_and_stack_arguments_survive_resolution() {
    if !with_the_fake_driver() {
        return;
    }
    type Wide = unsafe extern "C" fn(
        u64,
        u64,
        u64,
        u64,
        u64,
        u64,
        f64,
        f64,
        f64,
        f64,
        f64,
        f64,
        f64,
        f64,
        u64,
        u64,
        u64,
        f64,
    ) -> u64;
    let trampoline = libcuda::cuLinkDestroy as *const ();
    // SAFETY: the fake driver exports this name with the signature of `Wide`, and a trampoline is
    // the same code for every signature.
    let wide = unsafe { std::mem::transmute::<*const (), Wide>(trampoline) };
    for round in 0..3u64 {
        let i = |place: u64| (round << 40) + place * 0x0101_0101;
        let f = |place: u64| round as f64 + place as f64 / 3.0;
        // SAFETY: the fake driver exports this name with the signature of `Wide`, and only reads
        // its arguments.
        let got = unsafe {
            wide(
                i(0),
                i(1),
                i(2),
                i(3),
                i(4),
                i(5),
                f(0),
                f(1),
                f(2),
                f(3),
                f(4),
                f(5),
                f(6),
                f(7),
                i(6),
                i(7),
                i(8),
                f(8),
            )
        };
        let mut passed: Vec<u64> = (0..9).map(i).collect();
        passed.extend((0..9).map(|place| f(place).to_bits()));
        assert_eq!(got, fold(&passed), "round {round}");
    }
}

#[test]
fn each_symbol_calls_its_own_function_and_an_unknown_one_is_not_found() {
    if !with_the_fake_driver() {
        return;
    }
    assert_eq!(libcuda::available(), Ok(()));
    assert!(libcuda::provides(c"cuLaunchKernel"));
    assert!(!libcuda::provides(c"cuLaunchKernelEx"));
    let mut calls = -1;
    // SAFETY: `calls` is a writable i32. No real function gets the null handles.
    unsafe {
        assert_eq!(libcuda::cuInit(0), CUDA_SUCCESS);
        assert_eq!(libcuda::cuInit(0), CUDA_SUCCESS);
        assert_eq!(libcuda::cuDriverGetVersion(&raw mut calls), CUDA_SUCCESS);
        for _ in 0..2 {
            assert_eq!(
                libcuda::cuGraphLaunch(ptr::null_mut(), ptr::null_mut()),
                CUDA_ERROR_NOT_FOUND
            );
        }
    }
    assert_eq!(calls, 2);
}
