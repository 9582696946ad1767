//! Kernels that hold so many values that they reach the limits of a device.
//!
//! Each thread loads the values, and replaces all of them in each round. A new value depends on two
//! old ones, so all have to be kept at once, in registers.

use cuda_std::memory::Pack;
use cuda_std::prelude::*;

macro_rules! kernels {
    ($($name:ident: $packs:literal of $ty:ident;)*) => {$(
        #[doc = concat!("Holds 8 · ", stringify!($packs), " values of ", stringify!($ty), " in each thread.")]
        ///
        /// # Safety
        ///
        /// `words` has as many elements as a thread keeps values. Only as many threads as `results`
        /// has elements store a result.
        #[kernel]
        pub unsafe fn $name(words: Global<$ty>, results: Global<$ty>, rounds: u32) {
            let me = thread::index();
            // The values of threads differ. Otherwise the compiler would keep them once per warp.
            let mut held: [[$ty; 8]; $packs] = Pack::from_fn(|pack| {
                Pack::from_fn(|i| words.read(8 * pack + i) ^ me as $ty)
            });
            for _ in 0..rounds {
                let before = held;
                held = Pack::from_fn(|pack| {
                    Pack::from_fn(|i| {
                        let next = (8 * pack + i + 1) % (8 * $packs);
                        before[pack][i].rotate_left(5) ^ before[next / 8][next % 8]
                    })
                });
            }
            let all = held.in_order(0, |all, pack: [$ty; 8]| {
                pack.in_order(all, |all: $ty, value: $ty| all.rotate_left(1) ^ value)
            });
            if me < results.len() {
                results.write(me, all);
            }
        }
    )*};
}
kernels! {
    limits_hold_8_u32: 1 of u32;
    limits_hold_32_u32: 4 of u32;
    limits_hold_64_u32: 8 of u32;
    limits_hold_64_u64: 8 of u64;
}
