//! Kernels for other kernels to launch.

use cuda_std::prelude::*;
use cuda_std::time;

/// Spins for at least `cycles` cycles.
#[device]
fn pass(cycles: u32) {
    let start = time::clock();
    while time::clock() - start < cycles.into() {}
}

/// Calls `f` with each number below `len`, each in one thread of the grid.
#[device]
fn each(len: usize, f: impl Fn(usize)) {
    let mut i = thread::index();
    while i < len {
        f(i);
        i += thread::thread_count();
    }
}

/// Spins for `cycles`, and fills `out` with `value`.
///
/// # Safety
///
/// Nothing else uses `out` during the launch.
#[kernel(launchable, prefix = "device_launch_")]
pub unsafe fn fill(out: Global<u32>, value: u32, cycles: u32) {
    pass(cycles);
    each(out.len(), |i| out.write(i, value));
}

/// Spins for `cycles`, and writes the products of the elements of `a` and `b` to `c`.
///
/// # Safety
///
/// `a`, `b` and `c` have the same length, and nothing else uses them during the launch.
#[kernel(launchable, prefix = "device_launch_")]
pub unsafe fn multiply(a: Global<u32>, b: Global<u32>, c: Global<u32>, cycles: u32) {
    pass(cycles);
    each(c.len(), |i| c.write(i, a.read(i) * b.read(i)));
}

/// Appends `number` to `log`: element 0 is the number of entries, and the entries follow in order.
///
/// # Safety
///
/// One thread. `log` has room for all entries.
#[kernel(launchable, prefix = "device_launch_")]
pub unsafe fn note(log: Global<u32>, number: u32, cycles: u32) {
    pass(cycles);
    let at = log.fetch_add(0, 1, Ordering::Relaxed, Scope::Device);
    log.write(1 + at as usize, number);
}

/// Copies `from` to `to`.
///
/// # Safety
///
/// `to` is at least as long as `from`, and nothing else uses them during the launch.
#[kernel(launchable, prefix = "device_launch_")]
pub unsafe fn copy(from: Global<u32>, to: Global<u32>) {
    each(from.len(), |i| to.write(i, from.read(i)));
}

/// Writes each of its arguments, of different sizes, to `out`, as bits.
///
/// # Safety
///
/// One thread; `out` has seven elements that nothing else uses during the launch.
#[kernel(launchable, prefix = "device_launch_")]
#[allow(clippy::too_many_arguments)]
pub unsafe fn mixed(a: u8, b: u64, c: u16, out: Global<u64>, d: f32, e: i8, f: f64, g: i32) {
    out.write(0, a.into());
    out.write(1, b);
    out.write(2, c.into());
    out.write(3, d.to_bits().into());
    out.write(4, e as u64);
    out.write(5, f.to_bits());
    out.write(6, g as u64);
}
