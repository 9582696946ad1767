//! `gridsync lab locks`.

use crate::call::{WRONG_USAGE, gridsync, without_cuda};
use crate::folder::Folder;
use gridsync_tests::devices::with_cuda;
use serde_json::Value;

const LOCKS: [&str; 5] = ["textbook", "backoff", "ticket", "queue", "by warp"];

fn names(shown: &Value) -> Vec<&str> {
    let locks = shown["locks"].as_array().expect("there should be locks");
    locks.iter().filter_map(|lock| lock["lock"].as_str()).collect()
}

#[test]
fn every_lock_is_right_in_the_emulator_and_its_accesses_are_counted() {
    let args = ["lab", "locks", "--device", "emulator", "--json", "--sections", "40"];
    let shown = without_cuda(&args, b"").json();
    assert_eq!((&shown["device"], &shown["sections"]), (&"emulator".into(), &40.into()));
    assert_eq!(names(&shown), LOCKS);
    let accesses = |at: usize| {
        let lock = &shown["locks"][at];
        assert!(lock["wrong"].is_null() && lock["launches"].as_u64() >= Some(16), "{lock}");
        lock["accesses"].as_f64().expect("they are counted")
    };
    // A load and a store of the counter, and at least two accesses to the lock.
    assert!((0..4).all(|lock| accesses(lock) > 4.0), "{shown}");
    assert!(accesses(4) < accesses(1), "one lane looks for its warp: {shown}");
}

#[test]
fn invalid_arguments_of_locks_are_refused() {
    for args in [["--blocks", "0"], ["--threads", "1025"], ["--sections", "3"]] {
        let args = [&["lab", "locks"][..], &args].concat();
        without_cuda(&args, b"").fails(WRONG_USAGE, &[args[2]]);
    }
}

#[test]
fn locks_are_measured_and_drawn_and_the_fair_ones_are_fair_on_cuda() {
    with_cuda(|_cuda| {
        let folder = Folder::new();
        let args = ["lab", "locks", "--json", "-o", ".", "--blocks", "32"];
        let shown = folder.gridsync(&args, b"").json();
        assert_eq!(names(&shown), LOCKS);
        for lock in shown["locks"].as_array().expect("there should be locks") {
            for point in lock["points"].as_array().expect("there should be points") {
                assert!(point["wrong"].is_null(), "{point}");
                if lock["lock"] == "textbook" && point["gave_up"].as_u64() > Some(0) {
                    continue;
                }
                assert!(point["million_per_s"].as_f64() > Some(0.0), "{lock}");
                let fair = lock["lock"] == "ticket" || lock["lock"] == "queue";
                assert!(!fair || point["jain"].as_f64() > Some(0.9), "{point}");
            }
        }
        for name in ["locks.svg", "locks-warps.svg", "locks-fairness.svg"] {
            assert!(folder.path(name).is_file(), "{name}");
        }
    });
}

#[test]
fn the_page_shows_throughput_and_fairness_on_cuda() {
    with_cuda(|_cuda| {
        let args = ["lab", "locks", "--blocks", "4", "--sections", "400"];
        let shown = gridsync(&args, b"").succeeds();
        for part in ["Million sections per second", "Jain's index", "kernel locks_lockstep"] {
            assert!(shown.stdout.contains(part), "{part:?}: {}", shown.stdout);
        }
    });
}
