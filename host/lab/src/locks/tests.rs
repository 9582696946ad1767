use super::lock::{Grid, LOCKS};
use super::measured::{Lock, Measured, Point};
use super::{Args, Found, Lockstep, Report as Locks};
use crate::bench::Spread;
use crate::experiment::committed;
use crate::{Chart, Experiment, Report};

/// A result on a GPU, in which a thread gave up waiting for the textbook lock.
fn measured() -> Locks {
    let locks = LOCKS.map(|tried| {
        let last = (tried.name != "textbook").then_some(0.25);
        let points = [1, 32].into_iter().flat_map(|threads| {
            [(1, Some(1234.567)), (132, Some(1234.567)), (528, last)].map(|(blocks, us)| {
                let us = us.and_then(|us| Spread::of(vec![us]));
                let taken = (0..blocks).map(|block| block + 10).collect();
                let point = Point::new(Grid { blocks, threads }).with(us, taken);
                Point { gave_up: u32::from(us.is_none()), ..point }
            })
        });
        Lock { lock: tried.name.to_owned(), points: points.collect() }
    });
    Locks {
        device: "a GPU".into(),
        sections: 8192,
        found: Found::Measured(Measured { multiprocessors: 132, locks: locks.to_vec() }),
        lockstep: Some("deadlock".into()),
        lanes: Lockstep { fault: None, counter: 32 },
    }
}

#[test]
fn a_page_fits_in_a_terminal_and_reports_who_gave_up() {
    let page = measured().page();
    let text = page.text(false);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for part in ["16896", "4.000", "GAVE UP", "1 of 16896 threads", "141", "blocks of 32 threads"] {
        assert!(text.contains(part), "{part:?}: {text}");
    }
    assert_eq!(page.into_files_and_wrong().1, None);
}

#[test]
fn without_a_deadlock_something_is_wrong() {
    let wrong = Locks { lockstep: None, ..measured() }.page().into_files_and_wrong().1;
    assert_eq!(wrong.as_deref(), Some("lanes in lockstep did not deadlock in the emulator"));
}

#[test]
fn a_committed_result_keeps_its_json_and_is_drawn_with_ranges() {
    let report: Locks = committed("2026-11-23-nvidia-h200/lab-locks.json");
    let charts = report.charts().expect("the charts are complete");
    assert!(charts.iter().map(Chart::file).eq(Args::FILES.iter().copied()));
    let line = charts[0].csv.lines().find(|line| line.starts_with("queue,1,")).expect("a point");
    assert!(line.split(',').all(|cell| !cell.is_empty()), "{line}");
}

#[test]
fn charts_of_untimed_locks_are_left_out() {
    let mut report = measured();
    let Found::Measured(measured) = &mut report.found else { panic!("{report:?}") };
    for point in measured.locks.iter_mut().flat_map(|lock| &mut lock.points) {
        point.us = None;
    }
    assert_eq!(report.charts().map(|charts| charts.len()), Ok(0));
}
