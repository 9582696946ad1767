//! Loops over the keys of a thread.

/// Repeats a block for each of `each` keys of a thread. Unrolled, so that keys and ranks stay in
/// registers.
#[cfg(target_arch = "nvptx64")]
macro_rules! each_key {
    ($each:ident $i:ident $body:block) => {
        each_key!(@ $each $i $body
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
            20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39)
    };
    (@ $each:ident $i:ident $body:block $($n:literal)*) => {
        $({ const $i: usize = $n; if $i < $each $body })*
    };
}

/// The same as a loop, which takes less time to compile.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! each_key {
    ($each:ident $i:ident $body:block) => {
        #[allow(non_snake_case, clippy::needless_range_loop)]
        for $i in 0..$each $body
    };
}

pub(super) use each_key;
