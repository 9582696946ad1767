//! Loads and stores (PTX ISA, "ld", "st").

use super::fence::fence_if_seq_cst;
use crate::memory::{CacheHint, Global, Ordering, Scalar, Scope, Space, SpaceKind};
use core::arch::asm;
use core::mem::transmute_copy;

/// Loads a `$T` with `$instruction`, whose width follows the size of `$T`.
macro_rules! ld {
    ($T:ty, $class:ident $address:expr, $instruction:literal $(, $option:ident)*) => {{
        let address = $address;
        match size_of::<$T>() {
            // There are no registers of 8 bits.
            1 => {
                let bits: u16;
                asm!(concat!($instruction, ".b8 {}, [{}];"), out(reg16) bits, in($class) address,
                     options(nostack, preserves_flags $(, $option)*));
                transmute_copy::<u8, $T>(&(bits as u8))
            }
            2 => {
                let bits: u16;
                asm!(concat!($instruction, ".b16 {}, [{}];"), out(reg16) bits, in($class) address,
                     options(nostack, preserves_flags $(, $option)*));
                transmute_copy::<u16, $T>(&bits)
            }
            4 => {
                let bits: u32;
                asm!(concat!($instruction, ".b32 {}, [{}];"), out(reg32) bits, in($class) address,
                     options(nostack, preserves_flags $(, $option)*));
                transmute_copy::<u32, $T>(&bits)
            }
            _ => {
                let bits: u64;
                asm!(concat!($instruction, ".b64 {}, [{}];"), out(reg64) bits, in($class) address,
                     options(nostack, preserves_flags $(, $option)*));
                transmute_copy::<u64, $T>(&bits)
            }
        }
    }};
}

/// Stores a `$T` with `$instruction`, whose width follows the size of `$T`.
macro_rules! st {
    ($T:ty, $class:ident $address:expr, $value:expr, $instruction:literal) => {{
        let (address, value) = ($address, $value);
        match size_of::<$T>() {
            1 => {
                let bits = u16::from(transmute_copy::<$T, u8>(&value));
                asm!(concat!($instruction, ".b8 [{}], {};"), in($class) address, in(reg16) bits,
                     options(nostack, preserves_flags));
            }
            2 => {
                let bits: u16 = transmute_copy::<$T, u16>(&value);
                asm!(concat!($instruction, ".b16 [{}], {};"), in($class) address, in(reg16) bits,
                     options(nostack, preserves_flags));
            }
            4 => {
                let bits: u32 = transmute_copy::<$T, u32>(&value);
                asm!(concat!($instruction, ".b32 [{}], {};"), in($class) address, in(reg32) bits,
                     options(nostack, preserves_flags));
            }
            _ => {
                let bits: u64 = transmute_copy::<$T, u64>(&value);
                asm!(concat!($instruction, ".b64 [{}], {};"), in($class) address, in(reg64) bits,
                     options(nostack, preserves_flags));
            }
        }
    }};
}

/// Loads with the instruction for the space: `$global`, `$shared` or `$cluster`.
macro_rules! load_from {
    ($T:ty, $S:ty, $address:expr, $global:literal, $shared:literal, $cluster:literal
     $(, $option:ident)*) => {{
        let bits = <$S>::to_bits($address);
        match <$S>::KIND {
            SpaceKind::Global => ld!($T, reg64 bits, $global $(, $option)*),
            SpaceKind::Shared => ld!($T, reg32 bits as u32, $shared $(, $option)*),
            SpaceKind::Cluster => ld!($T, reg32 bits as u32, $cluster $(, $option)*),
        }
    }};
}

/// Stores with the instruction for the space: `$global`, `$shared` or `$cluster`.
macro_rules! store_to {
    ($T:ty, $S:ty, $address:expr, $value:expr, $global:literal, $shared:literal,
     $cluster:literal) => {{
        let bits = <$S>::to_bits($address);
        match <$S>::KIND {
            SpaceKind::Global => st!($T, reg64 bits, $value, $global),
            SpaceKind::Shared => st!($T, reg32 bits as u32, $value, $shared),
            SpaceKind::Cluster => st!($T, reg32 bits as u32, $value, $cluster),
        }
    }};
}

/// Prefetches the line of a global address into the L2 (PTX ISA, "prefetch").
#[inline(always)]
pub(crate) fn prefetch(at: u64) {
    // SAFETY: a hint. It has no visible effect and ignores invalid addresses.
    unsafe { asm!("prefetch.global.L2 [{}];", in(reg64) at, options(nostack, preserves_flags)) }
}

// Each of these functions has the contract of a view: the address is aligned and inside live memory
// of the space, and conflicting accesses are ordered.

// `pure, readonly`: the compiler may reuse a plain load and move it between stores.
#[inline(always)]
pub(crate) unsafe fn read<T: Scalar, S: Space>(at: S::Address) -> T {
    // SAFETY: the contract of a view.
    unsafe { load_from!(T, S, at, "ld.global", "ld.shared", "ld.shared::cluster", pure, readonly) }
}

#[inline(always)]
pub(crate) unsafe fn write<T: Scalar, S: Space>(at: S::Address, value: T) {
    // SAFETY: the contract of a view.
    unsafe { store_to!(T, S, at, value, "st.global", "st.shared", "st.shared::cluster") }
}

#[inline(always)]
pub(crate) unsafe fn read_volatile<T: Scalar, S: Space>(at: S::Address) -> T {
    // SAFETY: the contract of a view.
    unsafe {
        load_from!(
            T,
            S,
            at,
            "ld.volatile.global",
            "ld.volatile.shared",
            "ld.volatile.shared::cluster"
        )
    }
}

#[inline(always)]
pub(crate) unsafe fn write_volatile<T: Scalar, S: Space>(at: S::Address, value: T) {
    // SAFETY: the contract of a view.
    unsafe {
        store_to!(
            T,
            S,
            at,
            value,
            "st.volatile.global",
            "st.volatile.shared",
            "st.volatile.shared::cluster"
        )
    }
}

#[inline(always)]
pub(crate) unsafe fn load<T: Scalar, S: Space>(at: S::Address, order: Ordering, scope: Scope) -> T {
    fence_if_seq_cst::<S>(order, scope);
    // SAFETY: the contract of a view.
    unsafe {
        match (order == Ordering::Relaxed, scope) {
            (true, Scope::Block) => {
                load_from!(
                    T,
                    S,
                    at,
                    "ld.relaxed.cta.global",
                    "ld.relaxed.cta.shared",
                    "ld.relaxed.cluster.shared::cluster"
                )
            }
            (true, Scope::Device) => {
                load_from!(
                    T,
                    S,
                    at,
                    "ld.relaxed.gpu.global",
                    "ld.relaxed.cta.shared",
                    "ld.relaxed.cluster.shared::cluster"
                )
            }
            (true, Scope::System) => {
                load_from!(
                    T,
                    S,
                    at,
                    "ld.relaxed.sys.global",
                    "ld.relaxed.cta.shared",
                    "ld.relaxed.cluster.shared::cluster"
                )
            }
            (false, Scope::Block) => {
                load_from!(
                    T,
                    S,
                    at,
                    "ld.acquire.cta.global",
                    "ld.acquire.cta.shared",
                    "ld.acquire.cluster.shared::cluster"
                )
            }
            (false, Scope::Device) => {
                load_from!(
                    T,
                    S,
                    at,
                    "ld.acquire.gpu.global",
                    "ld.acquire.cta.shared",
                    "ld.acquire.cluster.shared::cluster"
                )
            }
            (false, Scope::System) => {
                load_from!(
                    T,
                    S,
                    at,
                    "ld.acquire.sys.global",
                    "ld.acquire.cta.shared",
                    "ld.acquire.cluster.shared::cluster"
                )
            }
        }
    }
}

#[inline(always)]
pub(crate) unsafe fn load_pair(at: u64, scope: Scope) -> [u64; 2] {
    macro_rules! load {
        ($instruction:literal) => {{
            let (first, second);
            // SAFETY: the contract of a view.
            unsafe {
                asm!(
                    concat!($instruction, " {{{}, {}}}, [{}];"),
                    out(reg64) first, out(reg64) second, in(reg64) at,
                    options(nostack, preserves_flags)
                );
            }
            [first, second]
        }};
    }
    match scope {
        Scope::Block => load!("ld.relaxed.cta.global.v2.b64"),
        Scope::Device => load!("ld.relaxed.gpu.global.v2.b64"),
        Scope::System => load!("ld.relaxed.sys.global.v2.b64"),
    }
}

// One block of PTX in braces, so that register, predicate and label stay local when it is inlined
// several times. PTX has no numeric labels, which rustc's lint asks for.
#[allow(named_asm_labels)]
#[inline(always)]
pub(crate) unsafe fn wait_while_nonzero(at: u64) {
    // SAFETY: the contract of a view. Not `pure`: it ends when another thread stores 0.
    unsafe {
        asm!(
            "{{",
            ".reg .b32 word;",
            ".reg .pred again;",
            "look:",
            "ld.relaxed.gpu.global.b32 word, [{at}];",
            "setp.ne.b32 again, word, 0;",
            "@again bra look;",
            "}}",
            at = in(reg64) at,
            options(nostack, preserves_flags)
        );
    }
}

#[inline(always)]
pub(crate) unsafe fn store<T: Scalar, S: Space>(
    at: S::Address,
    value: T,
    order: Ordering,
    scope: Scope,
) {
    fence_if_seq_cst::<S>(order, scope);
    // SAFETY: the contract of a view.
    unsafe {
        match (order == Ordering::Release, scope) {
            (false, Scope::Block) => {
                store_to!(
                    T,
                    S,
                    at,
                    value,
                    "st.relaxed.cta.global",
                    "st.relaxed.cta.shared",
                    "st.relaxed.cluster.shared::cluster"
                )
            }
            (false, Scope::Device) => {
                store_to!(
                    T,
                    S,
                    at,
                    value,
                    "st.relaxed.gpu.global",
                    "st.relaxed.cta.shared",
                    "st.relaxed.cluster.shared::cluster"
                )
            }
            (false, Scope::System) => {
                store_to!(
                    T,
                    S,
                    at,
                    value,
                    "st.relaxed.sys.global",
                    "st.relaxed.cta.shared",
                    "st.relaxed.cluster.shared::cluster"
                )
            }
            (true, Scope::Block) => {
                store_to!(
                    T,
                    S,
                    at,
                    value,
                    "st.release.cta.global",
                    "st.release.cta.shared",
                    "st.release.cluster.shared::cluster"
                )
            }
            (true, Scope::Device) => {
                store_to!(
                    T,
                    S,
                    at,
                    value,
                    "st.release.gpu.global",
                    "st.release.cta.shared",
                    "st.release.cluster.shared::cluster"
                )
            }
            (true, Scope::System) => {
                store_to!(
                    T,
                    S,
                    at,
                    value,
                    "st.release.sys.global",
                    "st.release.cta.shared",
                    "st.release.cluster.shared::cluster"
                )
            }
        }
    }
}

macro_rules! ld_16 {
    ($class:ident $address:expr, $instruction:literal $(, $option:ident)*) => {{
        let (a, b, c, d): (u32, u32, u32, u32);
        asm!(concat!($instruction, ".v4.b32 {{{}, {}, {}, {}}}, [{}];"),
             out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d, in($class) $address,
             options(nostack, preserves_flags $(, $option)*));
        [a, b, c, d]
    }};
}

macro_rules! st_16 {
    ($class:ident $address:expr, $words:expr, $instruction:literal) => {{
        let [a, b, c, d]: [u32; 4] = $words;
        asm!(concat!($instruction, ".v4.b32 [{}], {{{}, {}, {}, {}}};"),
             in($class) $address, in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d,
             options(nostack, preserves_flags));
    }};
}

#[inline(always)]
pub(crate) unsafe fn read_16<P: Copy, S: Space>(at: S::Address, hint: CacheHint) -> P {
    let bits = S::to_bits(at);
    // SAFETY: the contract of a view; `P` is 16 bytes of plain numbers.
    unsafe {
        let words = match (S::KIND, hint) {
            (SpaceKind::Shared, _) => ld_16!(reg32 bits as u32, "ld.shared", pure, readonly),
            (SpaceKind::Cluster, _) => {
                ld_16!(reg32 bits as u32, "ld.shared::cluster", pure, readonly)
            }
            (_, CacheHint::Default) => ld_16!(reg64 bits, "ld.global", pure, readonly),
            (_, CacheHint::L2Only) => ld_16!(reg64 bits, "ld.global.cg", pure, readonly),
            (_, CacheHint::Streaming) => {
                ld_16!(reg64 bits, "ld.global.L1::no_allocate", pure, readonly)
            }
            (_, CacheHint::ReadOnly) => {
                ld_16!(reg64 bits, "ld.global.nc.L1::no_allocate", pure, readonly)
            }
        };
        transmute_copy(&words)
    }
}

#[inline(always)]
pub(crate) unsafe fn write_16<P: Copy, S: Space>(at: S::Address, pack: P, hint: CacheHint) {
    let bits = S::to_bits(at);
    // SAFETY: the contract of a view; `P` is 16 bytes of plain numbers.
    unsafe {
        let words: [u32; 4] = transmute_copy(&pack);
        match (S::KIND, hint) {
            (SpaceKind::Shared, _) => st_16!(reg32 bits as u32, words, "st.shared"),
            (SpaceKind::Cluster, _) => st_16!(reg32 bits as u32, words, "st.shared::cluster"),
            (_, CacheHint::Default) => st_16!(reg64 bits, words, "st.global"),
            (_, CacheHint::L2Only) => st_16!(reg64 bits, words, "st.global.cg"),
            (_, CacheHint::Streaming | CacheHint::ReadOnly) => {
                st_16!(reg64 bits, words, "st.global.L1::no_allocate")
            }
        }
    }
}

#[inline(always)]
// PTX has no numeric labels. The braces scope this one, so the function may be inlined twice.
#[allow(named_asm_labels)]
pub(crate) fn spin_until_reached(word: Global<u32>, goal: u32) {
    // SAFETY: the contract of a view. The label and the registers are local to the braces.
    unsafe {
        asm!("{{",
             ".reg .pred behind;",
             ".reg .s32 distance;",
             "LOOK:",
             "ld.volatile.global.u32 distance, [{word}];",
             "sub.s32 distance, distance, {goal};",
             "setp.lt.s32 behind, distance, 0;",
             "@behind bra LOOK;",
             "}}",
             word = in(reg64) word.address(), goal = in(reg32) goal,
             options(nostack, preserves_flags));
    }
}
