//! Ranks that are lost, that fail, or that others wait for.

use super::*;
use std::sync::mpsc;
use std::time::Instant;

#[test]
fn a_rank_that_dies_ends_the_others() {
    for dead in [0, 1, 3] {
        let start = Instant::now();
        let all = ranks(4, move |mut ranks| {
            if ranks.rank() == dead {
                // The operating system closes the connections of a killed process like this.
                ranks.link.cut();
                return Ok(());
            }
            ranks.all_gather(b"bytes").map(|_| ())
        });
        for (rank, result) in (0..).zip(&all) {
            if rank == dead {
                continue;
            }
            let said = said(result);
            assert!(said.contains(&format!("rank {dead} of 4 is lost")), "{rank}: {said}");
            assert!(said.contains("closed"), "{said}");
        }
        assert!(start.elapsed() < TIMEOUT, "no rank waits for a timeout");
    }
}

#[test]
fn a_rank_that_gives_up_is_named() {
    for gone in [0, 1, 3] {
        let all = ranks(4, move |mut ranks| {
            if ranks.rank() == gone {
                return Ok(());
            }
            ranks.all_gather(b"bytes").map(|_| ())
        });
        for (rank, result) in (0..).zip(&all).filter(|(rank, _)| *rank != gone) {
            let said = said(result);
            assert!(said.contains(&format!("rank {gone} of 4 is lost")), "{rank}: {said}");
        }
    }
}

#[test]
fn a_rank_that_fails_reports_why_to_all() {
    for bad in [0, 2] {
        let all = ranks(3, move |mut ranks| {
            if ranks.rank() == bad {
                ranks.fail("x.npy: no such file");
                return Ok(());
            }
            ranks.all_gather(b"bytes").map(|_| ())
        });
        for (rank, result) in (0..).zip(&all).filter(|(rank, _)| *rank != bad) {
            let expected = format!("rank {bad} of 3 failed: x.npy: no such file");
            assert_eq!(said(result), expected, "rank {rank}");
        }
    }
}

#[test]
fn a_loss_is_detected_during_work() {
    let all = ranks(3, |mut ranks| {
        if ranks.rank() == 1 {
            ranks.fail("out of memory");
            return Ok(());
        }
        let start = Instant::now();
        while start.elapsed() < TIMEOUT {
            ranks.check()?;
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    });
    for rank in [0, 2] {
        assert_eq!(said(&all[rank]), "rank 1 of 3 failed: out of memory");
    }
}

#[test]
fn a_loss_calls_back_a_rank_that_does_not_poll() {
    let all = ranks(3, |ranks| {
        if ranks.rank() == 2 {
            ranks.fail("out of memory");
            return Ok(String::new());
        }
        let (told, hears) = mpsc::channel();
        if ranks.rank() == 1 {
            // Also if it registers after the loss.
            thread::sleep(Duration::from_millis(50));
        }
        ranks.when_lost(move |error| told.send(error.to_string()).expect("it hears"));
        Ok(hears.recv_timeout(TIMEOUT).expect("it is told"))
    });
    for rank in [0, 1] {
        let told = all[rank].as_ref().expect("it does nothing that fails");
        assert_eq!(told, "rank 2 of 3 failed: out of memory", "rank {rank}");
    }
}

#[test]
fn a_silent_rank_is_lost_after_the_timeout_and_a_slow_one_is_not() {
    let short = Duration::from_millis(500);
    let parties = (0..3).map(|rank| Party { timeout: short, ..party(rank, 3) }).collect();
    let all = meet(parties, move |mut ranks| {
        // Computing for longer than the timeout does not count as silence.
        thread::sleep(short * 3 / 2);
        ranks.all_gather(b"slow")?;
        if ranks.rank() == 2 {
            ranks.link.fall_silent();
            thread::sleep(2 * short);
            return Ok(());
        }
        ranks.all_gather(b"late").map(|_| ())
    });
    for rank in [0, 1] {
        let said = said(&all[rank]);
        assert!(said.contains("rank 2 of 3 is lost") && said.contains("0.5 s"), "{rank}: {said}");
    }
}

#[test]
fn a_rank_that_leaves_early_is_named() {
    let all = ranks(2, |mut ranks| match ranks.rank() {
        0 => ranks.all_gather(b"bytes").map(|_| ()),
        _ => {
            ranks.leave();
            Ok(())
        }
    });
    assert!(said(&all[0]).contains("rank 1 of 2 is lost: it ended before"), "{:?}", all[0]);
}

#[test]
fn a_rank_that_only_sends_heartbeats_is_reported_repeatedly() {
    let short = Duration::from_millis(100);
    let parties = (0..3).map(|rank| Party { timeout: short, ..party(rank, 3) }).collect();
    let all = meet(parties, move |mut ranks| {
        let (reported, reports) = mpsc::channel();
        ranks.report_waiting(move |waiting| reported.send(waiting.clone()).expect("it is kept"));
        if ranks.rank() == 2 {
            thread::sleep(short * 5 / 2);
        }
        ranks.tell_all(b"bytes")?;
        ranks.leave();
        Ok(reports.try_iter().collect::<Vec<_>>())
    });
    let reports = all[0].as_ref().expect("rank 2 comes at last");
    assert!(reports.len() >= 2, "{reports:?}");
    assert!(reports.iter().all(|waiting| waiting.ranks == [2]), "{reports:?}");
    assert!(reports[0].elapsed >= short, "{reports:?}");
    assert!(reports[0].to_string().contains("for rank 2 of 3, which is alive"), "{reports:?}");
}

#[test]
fn the_longest_duration_is_a_valid_timeout() {
    let longest = |rank| {
        let task = Task::from("sum");
        Party::new(&environment(rank, 2), task, Duration::MAX).expect("there may be such a rank")
    };
    for result in meet(vec![longest(0), longest(1)], |mut ranks| {
        let all = ranks.tell_all(b"bytes")?;
        ranks.leave();
        Ok(all)
    }) {
        assert_eq!(result.expect("both are there").len(), 2);
    }
}
