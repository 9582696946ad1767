// The examples in the documentation of the exchange include this file and run in its grid.

use cuda_std::prelude::*;
use gridsync_kernels::grid::barrier::{Exchange, Members};
use gridsync_kernels::op::{Compose, Max, Operation, Sum};

/// Runs `kernel` in each thread of an emulated grid of 3 blocks of 64 threads, with an exchange and
/// the words of another one.
fn in_a_grid(kernel: impl Fn(&mut Exchange, Global<u64>)) {
    let words = Exchange::words(3);
    let mut memory = simt::Memory::new(1 << 17);
    let [address, other] = [(); 2].map(|()| {
        let address = memory.alloc(8 * words, 256).expect("all of it is free");
        memory.zero(address, 8 * words).expect("it is allocated");
        address
    });
    // SAFETY: these are the words of an exchange, which nothing else uses.
    let view = |address| unsafe { Global::from_address(address, words) };
    let config = simt::LaunchConfig { races: true, ..simt::LaunchConfig::new("example", 3, 64) };
    let launched = simt::launch(&mut memory, &config, &|| {
        kernel(&mut Exchange::attach(view(address)), view(other));
    });
    if let Err(fault) = launched {
        panic!("{fault}");
    }
}
