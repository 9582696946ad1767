//! A data race, found without a GPU.

use cuda_std::prelude::*;
use gridsync::check::{Check, Wrong};
use gridsync::device::{Device, Geometry};

/// Each thread writes a number, then reads the number of a thread in the next block.
///
/// # Safety
///
/// Both have an element for each thread.
#[kernel]
unsafe fn neighbours(mine: Global<u32>, theirs: Global<u32>) {
    let (me, all) = (thread::index(), thread::thread_count());
    mine.write(me, me as u32);
    thread::sync_threads(); // the bug: this waits for the threads of one block only
    theirs.write(me, mine.read((me + 32) % all));
}

fn check(device: &Device) -> Result<(), Wrong> {
    let (mine, theirs) = (device.zeroed::<u32>(64)?, device.zeroed::<u32>(64)?);
    let two_blocks = Geometry::new(2, 32);
    // SAFETY: an element for each of 64 threads. Both live until the kernel has ended.
    unsafe { device.launch::<neighbours>(&two_blocks, (mine.view(), theirs.view()))? };
    device.synchronize()?;
    Ok(()) // a race is an error, whatever the result is
}

fn main() {
    match Check::default().run(check) {
        Ok(_) => println!("right under 200 schedules"),
        Err(failure) => println!("{failure}"),
    }
}

#[test]
fn the_check_finds_the_missing_grid_barrier() {
    let failure = Check::default().run(check).expect_err("a barrier of the block is not enough");
    crate::output::is("first_race.txt", &failure.to_string());
    main();
}
