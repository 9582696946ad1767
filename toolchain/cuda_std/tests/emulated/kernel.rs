//! `#[kernel]` on the host.

use crate::support::{config, download, leaves, upload};
use cuda_std::launch::{Kernel, KernelArgs};
use cuda_std::prelude::*;
use simt::Memory;

#[kernel]
unsafe fn scale(data: Global<f32>, by: f32, mut from: u32, to: u64) {
    from += thread::index() as u32;
    if u64::from(from) < to {
        data.write(from as usize, data.read(from as usize) * by);
    }
}

#[kernel(cooperative)]
unsafe fn nothing() {}

#[test]
fn a_kernel_is_a_type_with_its_name_and_its_options() {
    assert_eq!((scale::NAME, scale::COOPERATIVE), ("scale", false));
    assert_eq!((nothing::NAME, nothing::COOPERATIVE), ("nothing", true));
    assert_eq!(<scale as Kernel>::Args::COUNT, 4);
    assert_eq!(<nothing as Kernel>::Args::COUNT, 0);
}

#[test]
fn a_kernel_runs_on_arguments_passed_by_address() {
    let mut memory = Memory::new(1 << 10);
    let data = upload(&mut memory, &[1.0f32, 2.0, 3.0, 4.0, 5.0]);
    let args: <scale as Kernel>::Args = (data, 10.0, 1, 4);
    let stats = args.with_pointers(|pointers| {
        assert_eq!(pointers.len(), 4);
        simt::launch(&mut memory, &config(1, 8), &|| {
            // SAFETY: the pointers are to the kernel's own arguments, which live until the launch
            // ends. The view is of memory allocated above, and each element is accessed by only one
            // thread.
            unsafe { scale::run(<scale as Kernel>::Args::from_pointers(pointers)) }
        })
    });
    assert_eq!(stats.expect("all accesses are in bounds").threads, 8);
    assert_eq!(download(&memory, data), [1.0, 20.0, 30.0, 40.0, 5.0]);
}

#[kernel]
unsafe fn shift(data: Global<f32>, scale: f32) {
    let i = thread::index();
    let nothing = data.read(i);
    data.write(i, nothing + scale);
}

#[kernel]
unsafe fn add_many(
    sums: Global<u32>,
    a: u8,
    b: u16,
    c: u32,
    d: u8,
    e: u32,
    f: u32,
    g: u32,
    h: u32,
    i: u32,
    j: u32,
    k: u32,
    l: u32,
    m: u32,
    n: u32,
    o: u32,
) {
    let all = [a.into(), b.into(), c, d.into(), e, f, g, h, i, j, k, l, m, n, o];
    sums.write(thread::index(), all.iter().enumerate().map(|(at, x)| (at as u32 + 1) * x).sum());
}

#[test]
fn a_kernel_takes_sixteen_arguments() {
    let mut memory = Memory::new(1 << 10);
    let sums = upload(&mut memory, &[0u32]);
    let args: <add_many as Kernel>::Args =
        (sums, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let stats = args.with_pointers(|pointers| {
        assert_eq!(pointers.len(), 16);
        simt::launch(&mut memory, &config(1, 1), &|| {
            // SAFETY: the pointers are to the kernel's own arguments, which live until the launch
            // ends. The only thread accesses memory allocated above.
            unsafe { add_many::run(<add_many as Kernel>::Args::from_pointers(pointers)) }
        })
    });
    assert_eq!(stats.expect("all accesses are in bounds").threads, 1);
    assert_eq!(download(&memory, sums), [(1..=15).map(|x| x * x).sum()]);
}

#[kernel]
unsafe fn concatenate(parts: [Global<u32>; 3], factors: [u16; 3], out: Global<u32>) {
    let mut i = 0;
    for (part, factor) in parts.into_iter().zip(factors) {
        for at in 0..part.len() {
            out.write(i, part.read(at) * u32::from(factor));
            i += 1;
        }
    }
}

#[test]
fn a_kernel_takes_arrays_of_views_and_of_numbers() {
    type Args = <concatenate as Kernel>::Args;
    assert_eq!((Args::SIZES, Args::OFFSETS), (&[48, 6, 16][..], &[0, 48, 56][..]));
    let mut memory = Memory::new(1 << 10);
    let parts = [&[1u32, 2][..], &[], &[3]].map(|part| upload(&mut memory, part));
    let out = upload(&mut memory, &[0u32; 3]);
    simt::launch(&mut memory, &config(1, 1), &|| {
        // SAFETY: the only thread accesses memory allocated above.
        unsafe { concatenate::run((parts, [10, 20, 30], out)) }
    })
    .expect("all accesses are in bounds");
    assert_eq!(download(&memory, out), [10, 20, 90]);
}

#[test]
fn a_parameter_and_a_variable_may_have_the_name_of_a_kernel() {
    let after = leaves(&config(1, 2), &[1.0f32, 2.0], |data| {
        // SAFETY: each element is accessed by only one thread.
        unsafe { shift::run((data, 0.5)) }
    });
    assert_eq!(after, [1.5, 2.5]);
}

#[test]
fn arguments_of_every_type_round_trip() {
    let args = (u8::MAX, i16::MIN, 3u32, -4i64, 0.5f32, 0.25f64, usize::MAX, isize::MIN);
    let back = args.with_pointers(|pointers| {
        // SAFETY: the pointers are to this tuple, which is still alive.
        unsafe { <(u8, i16, u32, i64, f32, f64, usize, isize)>::from_pointers(pointers) }
    });
    assert_eq!(back, args);
    let sizes = <(u8, i16, u32, i64, f32, f64, usize, isize)>::SIZES;
    assert_eq!(sizes, [1, 2, 4, 8, 4, 8, 8, 8]);
}

#[test]
fn each_argument_is_at_the_next_multiple_of_its_alignment() {
    type Args = (u8, u64, u16, u32, u8, f64, i16, i8);
    assert_eq!(Args::OFFSETS, [0, 8, 16, 20, 24, 32, 40, 42]);
    assert_eq!(<() as KernelArgs>::OFFSETS, [0; 0]);
    assert_eq!(<(u32, Global<u16>, u8)>::OFFSETS, [0, 8, 24]);
    let args: Args = (1, 2, 3, 4, 5, 6.5, -7, -8);
    let mut buffer = [u64::MAX; 6];
    // SAFETY: 48 bytes, aligned to 8, for arguments that end at 43.
    unsafe { args.write_to(buffer.as_mut_ptr().cast()) };
    let rest = u64::MAX << 24 | u64::from((-8i8) as u8) << 16 | u64::from((-7i16) as u16);
    let second = 0xffff_ffff_ffff_ff00;
    assert_eq!(buffer[1], 2);
    assert_eq!((buffer[0], buffer[3]), (second | 1, second | 5));
    assert_eq!(buffer[2], 4 << 32 | 0xffff << 16 | 3);
    assert_eq!((buffer[4], buffer[5]), (6.5f64.to_bits(), rest));
}

#[test]
fn a_view_is_passed_as_an_address_and_a_length() {
    let mut memory = Memory::new(1 << 10);
    let view = upload(&mut memory, &[1u32, 2, 3]);
    assert_eq!((size_of_val(&view), align_of_val(&view)), (16, 8));
    let words = (view,).with_pointers(|pointers| {
        // SAFETY: a view is `repr(C)` with two 64-bit words, and alive here.
        unsafe { pointers[0].cast::<[u64; 2]>().read() }
    });
    assert_eq!(words, [view.address(), 3]);
}
