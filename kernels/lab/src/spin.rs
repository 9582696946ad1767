//! Waiting for a word to become 0, in four forms. The PTX shows how the compiler translates each.
//!
//! Each block except the first decrements the word. Then every block waits until it is 0, and sets
//! its element of `done`. A grid of one block finds a 0 and does not wait.

use cuda_std::prelude::*;

macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident: |$count:ident| $wait:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// `count` has one element, the number of blocks minus one; `done` has one element per
        /// block. Blocks have one thread; all of them are co-resident.
        #[kernel(cooperative)]
        pub unsafe fn $name($count: Global<u32>, done: Global<u32>) {
            let block = thread::block_idx_x();
            if block > 0 {
                $count.add(0, u32::MAX, Ordering::Release, Scope::Device);
            }
            $wait;
            done.write(block as usize, 1);
        }
    )*};
}
kernels! {
    /// Waits with a plain load: **wrong**, on purpose. The compiler may assume that no other thread
    /// writes the word, and load it only once, before the loop. If the word is not 0 then, the
    /// kernel waits forever. So on a GPU, launch this only with one block and a 0.
    ///
    /// The emulator executes each load as written. It can only report a data race.
    spin_naive: |count| spin::until(|| count.read(0) == 0);
    /// Waits with a volatile load, which the compiler neither removes nor moves. Orders nothing
    /// else.
    spin_volatile: |count| spin::until(|| count.read_volatile(0) == 0);
    /// Waits in a loop written in inline PTX. Orders nothing else.
    spin_asm: |count| spin::while_nonzero(count, 0);
    /// Waits with an acquire load. After it, the block sees what the other blocks wrote before they
    /// decremented.
    spin_acquire: |count| spin::until(|| count.load(0, Ordering::Acquire, Scope::Device) == 0);
}
