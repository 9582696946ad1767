//! Barriers in shared memory and bulk copies. Since sm_90.

use crate::does;
use cuda_std::memory::Global;
use cuda_std::{bulk, mbarrier, shared_array};

shared_array! {
    /// Four barriers.
    fn barriers() -> [u64; 4];
    /// 1024 bytes.
    fn tile() -> [f32; 256];
}

does! {
    mbarrier_init(arrivals: u32) {
        mbarrier::init(barriers(), 1, arrivals);
        mbarrier::fence_init();
    }
    mbarrier_arrive(to: Global<u32>) {
        to.write(0, 1);
        mbarrier::arrive(barriers(), 2);
        to.write(0, 2);
    }
    mbarrier_arrive_expect(bytes: u32) {
        mbarrier::arrive_expect(barriers(), 0, bytes);
    }
    mbarrier_wait(parity: u32, at: Global<u32>, to: Global<u32>) {
        let before = at.read(0);
        mbarrier::wait(barriers(), 0, parity);
        to.write(0, before + at.read(0));
    }
    mbarrier_wait_twice(parity: u32) {
        mbarrier::wait(barriers(), 0, parity);
        mbarrier::wait(barriers(), 3, 1 - parity);
    }
    bulk_load(from: Global<f32>) {
        bulk::load(tile().part(0, 64), from.part(8, 64), barriers(), 1);
    }
    bulk_store(to: Global<f32>, value: f32) {
        tile().write(4, value);
        bulk::fence_shared();
        bulk::store(to.part(0, 128), tile().part(4, 128));
        bulk::wait_read::<2>();
        tile().write(4, value);
        bulk::wait_read::<0>();
        bulk::wait_stored();
    }
}
