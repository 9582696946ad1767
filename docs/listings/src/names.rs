//! The names in the tables of the chapter on porting.

use cuda_std::prelude::*;
use gridsync::check::Check;
use gridsync::device::Geometry;

shared_array! {
    /// A word for each thread of the block.
    fn of_block() -> [u32; 32];
}

/// Calls the functions of the tables, on two blocks of 32 threads. `of_lanes` has a word for each thread, and `counts` has
/// the additions, the swaps and the votes.
///
/// # Safety
///
/// `of_lanes` has an element for each thread. `counts` has three, which are 0.
#[kernel]
unsafe fn named(of_lanes: Global<u32>, counts: Global<u32>) {
    let shared = of_block();
    let (x, block) = (thread::thread_idx_x(), thread::block_idx_x());
    let i = thread::index();
    assert_eq!(i as u32, block * thread::block_dim_x() + x);

    shared.write(x as usize, x);
    thread::sync_threads();
    let other = shared.read(31 - x as usize);
    let (swapped, is_there) = warp::warp_shuffle_xor(u32::MAX, other, 31, 32);
    of_lanes.write(i, if is_there { swapped } else { u32::MAX });

    thread::block_fence();
    thread::device_fence();
    thread::system_fence();
    warp::sync_warp(u32::MAX);

    counts.fetch_add(0, 1, Ordering::Relaxed, Scope::Device);
    counts.compare_exchange(1, 0, 1, Ordering::Relaxed, Scope::Device);
    let ballot = warp::warp_vote_ballot(u32::MAX, x < 5);
    if thread::is_first_in_block() {
        counts.fetch_add(2, ballot, Ordering::Relaxed, Scope::Device);
        spin::until(|| {
            counts.load(2, Ordering::Acquire, Scope::Device) == 31 * thread::grid_dim_x()
        });
    }
}

#[test]
fn the_names_in_the_table_do_the_same_as_in_cuda() {
    let checked = Check::default().schedules(20).run(|device| {
        let (of_lanes, counts) = (device.zeroed::<u32>(64)?, device.zeroed::<u32>(3)?);
        let args = (&of_lanes, &counts);
        // SAFETY: an element for each thread, and three words of 0.
        unsafe { device.launch::<named>(&Geometry::new(2, 32), args)? };
        let (of_lanes, counts) = (of_lanes.download()?, counts.download()?);
        let expected: Vec<u32> = (0..64).map(|i| i % 32).collect();
        match (of_lanes == expected, counts.as_slice()) {
            (true, [64, 1, 62]) => Ok(()),
            _ => Err(format!("{of_lanes:?}, {counts:?}").into()),
        }
    });
    checked.unwrap_or_else(|failure| panic!("{failure}"));
}
