//! Ranks as threads of one process, over the loopback interface.

use super::*;
use crate::primitives::parts::{Cut, Leaves};
use crate::reference;
use gridsync_kernels::op::{ArgMax, Mean, Sum};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

const TIMEOUT: Duration = Duration::from_secs(20);

fn party(rank: u32, size: u32) -> Party {
    Party { rank, size, job: "sum".into(), timeout: TIMEOUT }
}

/// A listener on a free port, and the port.
fn listener() -> (TcpListener, u16) {
    let listener = rendezvous::listen("127.0.0.1", 0).expect("there are free ports");
    let port = listener.local_addr().expect("it listens").port();
    (listener, port)
}

fn lead(listener: &TcpListener, party: &Party) -> Result<Ranks, RanksError> {
    Ranks::of(party, rendezvous::lead(listener, party)?)
}

fn follow(port: u16, party: &Party) -> Result<Ranks, RanksError> {
    Ranks::of(party, vec![Some(rendezvous::follow("127.0.0.1", port, party)?)])
}

/// Runs `work` as each of these parties, the first of which leads. Returns what each comes to.
fn meet<R: Send + 'static>(
    parties: Vec<Party>,
    work: impl Fn(Ranks) -> Result<R, RanksError> + Clone + Send + 'static,
) -> Vec<Result<R, RanksError>> {
    let (listener, port) = listener();
    let threads: Vec<JoinHandle<_>> = parties
        .into_iter()
        .enumerate()
        .map(|(number, party)| {
            let (listener, work) = (listener.try_clone().expect("it is open"), work.clone());
            thread::spawn(move || match number {
                0 => lead(&listener, &party).and_then(work),
                _ => follow(port, &party).and_then(work),
            })
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().expect("no rank panics")).collect()
}

/// Runs `work` as each of `size` ranks.
fn ranks<R: Send + 'static>(
    size: u32,
    work: impl Fn(Ranks) -> Result<R, RanksError> + Clone + Send + 'static,
) -> Vec<Result<R, RanksError>> {
    meet((0..size).map(|rank| party(rank, size)).collect(), work)
}

fn said<R>(result: &Result<R, RanksError>) -> String {
    match result {
        Ok(_) => "nothing".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn bytes_of_any_length_come_in_the_order_of_the_ranks() {
    for size in [1, 2, 3, 7] {
        let bytes = |rank: u32| vec![rank as u8; [0, 1, 70_000, 13][rank as usize % 4]];
        let expected: Vec<_> = (0..size).map(bytes).collect();
        for gathered in ranks(size, move |mut ranks| {
            let own = bytes(ranks.rank());
            let (one, other) = (ranks.all_gather(&own)?, ranks.tell_all(&own)?);
            ranks.leave();
            Ok((one, other))
        }) {
            let (one, other) = gathered.expect("all are there");
            assert_eq!(one, expected);
            assert_eq!(other, expected);
        }
    }
}

#[test]
fn each_rank_gets_what_was_sent_to_it() {
    let part = |from: u32, to: u32| [from as u8, to as u8].repeat(from as usize);
    let all = ranks(4, move |mut ranks| {
        let rank = ranks.rank();
        let from = ranks.exchange((0..4).map(|to| part(rank, to)).collect())?;
        ranks.leave();
        Ok(from)
    });
    for (rank, from) in (0..).zip(all) {
        let expected: Vec<_> = (0..4).map(|other| part(other, rank)).collect();
        assert_eq!(from.expect("all are there"), expected);
    }
}

#[test]
fn a_reduction_by_ranks_has_the_bits_of_one_reduction() {
    for len in [0, 7, 5000, (1 << 20) + 77] {
        let value = |i: usize| [1e30, -1e30, 1.0 + i as f32, 1e-30][(i * 7 + i / 5) % 4];
        let input: Vec<f32> = (0..len).map(value).collect();
        let sum = reference::reduce(Sum::<f32>::new(), &input);
        let mean = reference::reduce(Mean::new(Sum::<f32>::new()), &input);
        let most = reference::reduce(ArgMax::<f32>::new(), &input);
        for size in [1, 2, 3, 5] {
            let input = input.clone();
            let found = ranks(size, move |mut ranks| {
                let (rank, size) = (ranks.rank() as usize, ranks.size() as usize);
                macro_rules! reduced {
                    ($op:expr, $of:ty) => {{
                        let run = Cut::of::<$of>(len).run(rank, size);
                        let mut leaves = Leaves::on_cpu($op, len, run.clone(), len);
                        leaves.next(&input[run]).expect("the CPU does not fail");
                        reduce(&mut ranks, $op, len, &leaves.finish())?
                    }};
                }
                let sum = reduced!(Sum::<f32>::new(), Sum<f32>);
                let mean = reduced!(Mean::new(Sum::<f32>::new()), Mean<Sum<f32>>);
                let most = reduced!(ArgMax::<f32>::new(), ArgMax<f32>);
                ranks.leave();
                Ok((sum, mean, most))
            });
            for result in found {
                let (sum_found, mean_found, most_found) = result.expect("all are there");
                assert_eq!(sum_found.to_bits(), sum.to_bits(), "{len} by {size}");
                assert_eq!(mean_found.map(f64::to_bits), mean.map(f64::to_bits));
                assert_eq!(most_found, most, "{len} by {size}");
            }
        }
    }
}

#[test]
fn a_rank_that_dies_ends_the_others() {
    for dead in [0, 1, 3] {
        let start = Instant::now();
        let all = ranks(4, move |mut ranks| {
            if ranks.rank() == dead {
                // As the operating system closes the connections of a process that is killed.
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
        assert!(start.elapsed() < TIMEOUT, "nobody waits for a timeout");
    }
}

#[test]
fn a_rank_that_gives_up_is_the_one_that_is_named() {
    for gone in [0, 1, 3] {
        let all = ranks(4, move |mut ranks| match ranks.rank() == gone {
            true => Ok(()),
            false => ranks.all_gather(b"bytes").map(|_| ()),
        });
        for (rank, result) in (0..).zip(&all).filter(|(rank, _)| *rank != gone) {
            let said = said(result);
            assert!(said.contains(&format!("rank {gone} of 4 is lost")), "{rank}: {said}");
        }
    }
}

#[test]
fn a_rank_that_fails_says_why_to_all() {
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
fn a_loss_is_seen_in_the_middle_of_work() {
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
fn a_rank_that_cannot_look_is_told_of_a_loss() {
    let all = ranks(3, |ranks| {
        if ranks.rank() == 2 {
            ranks.fail("out of memory");
            return Ok(String::new());
        }
        let (told, hears) = mpsc::channel();
        if ranks.rank() == 1 {
            // Also when it asks too late.
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
    let short = Duration::from_millis(800);
    let parties = (0..3).map(|rank| Party { timeout: short, ..party(rank, 3) }).collect();
    let all = meet(parties, move |mut ranks| {
        // Computing for longer than the timeout is no silence.
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
        assert!(said.contains("rank 2 of 3 is lost") && said.contains("0.8 s"), "{rank}: {said}");
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
    assert!(said(&all[0]).contains("rank 1 of 2 is lost: it has ended before"), "{:?}", all[0]);
}

#[test]
fn ranks_of_another_job_are_refused_on_all_sides() {
    let other_job = Party { job: "max".into(), ..party(1, 3) };
    let other_size = Party { size: 4, ..party(1, 3) };
    let cases = [(other_job, "\"max\""), (other_size, "a job of 4 ranks")];
    for (odd, part) in cases {
        for result in meet(vec![party(0, 3), odd.clone(), party(2, 3)], |_| Ok(())) {
            let said = said(&result);
            // Rank 2 may come when rank 0 has given up.
            let is_too_late = said.contains("closed") || said.contains("found nobody");
            assert!(said.contains(part) && said.contains("rank 1") || is_too_late, "{said}");
        }
    }
}

#[test]
fn two_ranks_of_one_number_are_refused_on_all_sides() {
    let results = meet(vec![party(0, 4), party(1, 4), party(1, 4)], |_| Ok(()));
    for result in &results {
        assert!(said(result).contains("two processes say that they are rank 1 of 4"), "{result:?}");
    }
    for result in meet(vec![party(0, 2), party(0, 2)], |_| Ok(())) {
        assert!(said(&result).contains("two processes say that they are rank 0 of 2"));
    }
}

#[test]
fn the_ranks_that_did_not_come_are_named() {
    let soon = |rank| Party { timeout: Duration::from_millis(300), ..party(rank, 5) };
    for result in meet(vec![soon(0), soon(3)], |_| Ok(())) {
        let said = said(&result);
        assert!(said.contains("ranks 1, 2, 4 of 5 did not come within 0.3 s"), "{said}");
    }
}

#[test]
fn where_nobody_listens_the_address_is_named() {
    let port = listener().1;
    let soon = Party { timeout: Duration::from_millis(200), ..party(1, 2) };
    let said = said(&follow(port, &soon));
    assert!(said.contains(&format!("nobody at 127.0.0.1:{port} within 0.2 s")), "{said}");
}

#[test]
fn a_name_that_is_not_known_is_named() {
    let soon = Party { timeout: Duration::from_millis(10), ..party(1, 2) };
    let found = rendezvous::follow("no such host", 1, &soon);
    assert!(matches!(found, Err(RanksError::Unresolved { .. })), "{found:?}");
}

#[test]
fn a_port_in_use_names_the_variable_to_change() {
    let (_taken, port) = listener();
    let error = rendezvous::listen("127.0.0.1", port).expect_err("it is in use").to_string();
    assert!(error.contains(&port.to_string()) && error.contains(PORT_VARIABLE), "{error}");
}

#[test]
fn another_program_at_the_address_is_told_as_such() {
    let (listener, port) = listener();
    let other = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("it calls");
        stream.write_all(b"SSH-2.0-OpenSSH\r\n").expect("it hears");
        let _heard = stream.read(&mut [0; 64]);
    });
    let found = rendezvous::follow("127.0.0.1", port, &party(1, 2));
    assert!(matches!(found, Err(RanksError::WrongPeer { .. })), "{found:?}");
    other.join().expect("it does not panic");
}

#[test]
fn callers_that_are_no_ranks_change_nothing() {
    let (listener, port) = listener();
    let at = ("127.0.0.1", port);
    let mut scanner = TcpStream::connect(at).expect("it listens");
    scanner.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it is taken");
    let _silent = TcpStream::connect(at).expect("it listens");
    drop(TcpStream::connect(at).expect("it listens"));
    let other = thread::spawn(move || follow(port, &party(1, 2)).map(|mut ranks| ranks.leave()));
    lead(&listener, &party(0, 2)).expect("rank 1 comes").leave();
    other.join().expect("it does not panic").expect("rank 0 is there");
}

#[test]
fn another_version_of_the_protocol_is_refused() {
    let (listener, port) = listener();
    let other = thread::spawn(move || {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.write_all(b"gridsync\x63\0\0\0").expect("it is taken");
        let _version = frame::read_preamble(&mut stream).expect("it answers");
        Frame::read(&mut stream, frame::SHORT).expect("it answers")
    });
    let error = lead(&listener, &party(0, 2)).map(|_| ()).expect_err("it is another version");
    assert!(error.to_string().contains("version 99"), "{error}");
    let heard = other.join().expect("it does not panic");
    assert_eq!(heard, Frame::Refused(error.to_string()));
}
