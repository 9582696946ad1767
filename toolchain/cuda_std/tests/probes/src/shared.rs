//! Static and dynamic shared memory.

use crate::{does, gives};
use cuda_std::memory::{Global, dynamic_shared};
use cuda_std::shared_array;

shared_array! {
    /// 40 bytes.
    fn tens() -> [f32; 10];
    /// 512 bytes.
    fn longs() -> [u64; 64];
}

does! {
    static_shared(to: Global<f32>, value: f32) {
        tens().write(0, value);
        to.write(0, tens().read(3));
    }
    two_static_arrays(to: Global<u64>, value: f32) {
        tens().write(0, value);
        to.write(0, longs().read(0));
    }
}

gives! {
    static_shared_len() -> u64 { longs().len() as u64 }
    dynamic_shared_bytes() -> u64 { dynamic_shared::<u16>().len() as u64 * 2 }
}
