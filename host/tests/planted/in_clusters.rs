//! Blocks of a cluster.

use crate::{Planted, RIGHT, expect_named};
use cuda_std::cluster;
use cuda_std::prelude::*;
use gridsync::device::Geometry;

shared_array! {
    fn word() -> [u32; 1];
}

/// Each block reads the word that the other block of its cluster wrote.
#[kernel]
unsafe fn exchanged(words: Global<u32>, out: Global<u32>, bug: u32) {
    let word = word();
    word.write(0, RIGHT);
    match bug {
        1 => {}
        3 => {
            cluster::arrive_relaxed();
            cluster::wait();
        }
        4 => {
            cluster::arrive();
            cluster::arrive();
            cluster::wait();
        }
        5 => cluster::wait(),
        _ => cluster::sync(),
    }
    let other = cluster::shared_of(word, 1 - cluster::rank());
    out.write(thread::index(), other.read(0));
    if bug != 2 {
        cluster::sync();
    }
    let _ = words;
}

#[test]
fn the_cause_of_each_bug_in_a_cluster_is_named() {
    expect_named(&[Planted::new::<exchanged>(
        Geometry::new(4, 1).clusters_of(2),
        &[
            ("no barrier before", &["not started yet|data race|never written"]),
            ("no barrier after", &["which has ended"]),
            ("relaxed arrival", &["data race", "nothing orders them"]),
            ("two arrivals", &["arrives again without having waited"]),
            ("no arrival", &["waits without having arrived"]),
        ],
    )]);
}
