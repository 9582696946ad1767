//! Ranks as threads of one process, over the loopback interface.

mod loss;
mod meeting;
mod misbehaving;

use super::greeting::Greeting;
use super::reduce::reduce_leaves;
use super::*;
use gridsync::primitives::PartReducer;
use gridsync::primitives::parts::{Cut, Leaves};
use gridsync::reference;
use gridsync_kernels::op::{ArgMax, Mean, Sum};
use std::net::TcpListener;
use std::ops::Range;
use std::thread::{self, JoinHandle};

const TIMEOUT: Duration = Duration::from_secs(20);

fn environment(rank: u32, size: u32) -> Environment {
    let address = "127.0.0.1".into();
    Environment { rank, size, local_rank: 0, address, port: 1, job: Some("one".into()) }
}

fn party(rank: u32, size: u32) -> Party {
    let task = Task { call: "sum".into(), input: Some("7 elements".into()) };
    Party::new(&environment(rank, size), task, TIMEOUT).expect("there may be such a rank")
}

/// A rank that differs from the others.
fn odd(rank: u32, size: u32, change: impl FnOnce(&mut Greeting)) -> Party {
    let mut party = party(rank, size);
    change(&mut party.greeting);
    party
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

/// Runs `work` as each of these parties, the first of which leads. Returns their results.
fn meet<R: Send + 'static>(
    parties: Vec<Party>,
    work: impl Fn(Ranks) -> Result<R, RanksError> + Clone + Send + 'static,
) -> Vec<Result<R, RanksError>> {
    let (listener, port) = listener();
    // Only the leader keeps the port open.
    let mut listener = Some(listener);
    let threads: Vec<JoinHandle<_>> = parties
        .into_iter()
        .map(|party| {
            let (listener, work) = (listener.take(), work.clone());
            thread::spawn(move || match listener {
                Some(listener) => lead(&listener, &party).and_then(work),
                None => follow(port, &party).and_then(work),
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
fn bytes_of_any_length_arrive_in_rank_order() {
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
        let from = ranks.exchange((0..4).map(|to| part(rank, to)).collect(), 2 * 6)?;
        ranks.leave();
        Ok(from)
    });
    for (rank, from) in (0..).zip(all) {
        let expected: Vec<_> = (0..4).map(|other| part(other, rank)).collect();
        assert_eq!(from.expect("all are there"), expected);
    }
}

#[test]
fn a_reduction_by_ranks_is_bit_identical_to_a_single_one() {
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
                        leaves.next(&input[run.clone()]).expect("the CPU does not fail");
                        reduce(&mut ranks, leaves)?
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
fn a_mean_by_ranks_is_finite_if_its_sum_overflows() {
    let op = Mean::new(Sum::<f32>::new());
    for len in [2usize, 5000, (1 << 20) + 77] {
        // The sum overflows in the first half only, and in its leaves.
        let value = |i: usize| if i < len.div_ceil(2) { 3e38 } else { 1.5 };
        for last in [1.5, f32::INFINITY, f32::NAN] {
            let mut input: Vec<f32> = (0..len).map(value).collect();
            input[len - 1] = last;
            let mut alone = PartReducer::on_cpu(op, len, len);
            alone.next(&input).expect("the CPU does not fail");
            let alone = alone.finish().expect("there are elements");
            assert_eq!(alone.is_finite(), last.is_finite(), "{alone} of {len} with {last}");
            for size in [1, 3] {
                let input = input.clone();
                let found = ranks(size, move |mut ranks| {
                    let run = Cut::of::<Mean<Sum<f32>>>(len)
                        .run(ranks.rank() as usize, ranks.size() as usize);
                    let mut leaves = Leaves::on_cpu(op, len, run.clone(), len);
                    leaves.next(&input[run]).expect("the CPU does not fail");
                    let mean = reduce(&mut ranks, leaves)?;
                    ranks.leave();
                    Ok(mean.expect("there are elements"))
                });
                for mean in found {
                    let mean = mean.expect("all are there");
                    let same = mean.to_bits() == alone.to_bits() || mean.is_nan() && alone.is_nan();
                    assert!(same, "{mean} and {alone} of {len} with {last} by {size}");
                }
            }
        }
    }
}

#[test]
fn long_messages_are_exchanged_in_rounds() {
    let part = |from: u32, to: u32| vec![from as u8; [5, MOST_BYTES + 3][to as usize % 2]];
    let all = ranks(3, move |mut ranks| {
        let rank = ranks.rank();
        // Rank 2 sends nothing.
        let to = (0..3).map(|to| if rank == 2 { Vec::new() } else { part(rank, to) }).collect();
        let from = ranks.exchange(to, 2 * (MOST_BYTES + 3))?;
        ranks.leave();
        Ok(from)
    });
    for (rank, from) in (0..).zip(all) {
        let expected = [part(0, rank), part(1, rank), Vec::new()];
        assert!(from.expect("all are there") == expected, "rank {rank}");
    }
}

#[test]
fn more_bytes_than_allowed_are_an_error() {
    let all = ranks(2, |mut ranks| ranks.exchange(vec![vec![7; 6], vec![7; 6]], 11));
    for result in &all {
        let expected = "rank 1 sends 12 bytes, and at most 11 are expected";
        assert!(said(result).contains(expected), "{result:?}");
    }
    let all = ranks(1, |mut ranks| ranks.tell_all(&vec![0; MOST_BYTES + 1]));
    assert!(said(&all[0]).contains("1048577 bytes, and at most 1048576"), "{all:?}");
}

/// The sum of `len` elements where two ranks send the leaves of these runs.
fn sum<T>(len: usize, runs: [Range<usize>; 2], leaves: [&[T::Accumulator]; 2]) -> String
where
    T: gridsync::primitives::PartReducible<Output: Send> + Default,
    T::Accumulator: Send + Sync,
{
    let leaves = leaves.map(<[_]>::to_vec);
    let results = ranks(2, move |mut ranks| {
        let rank = ranks.rank() as usize;
        reduce_leaves(&mut ranks, T::default(), len, runs[rank].clone(), &leaves[rank])
    });
    let [one, other] = [0, 1].map(|rank| said(&results[rank]));
    assert_eq!(one, other, "both ranks notice it");
    one
}

#[test]
fn leaves_that_do_not_cover_the_array_are_an_error() {
    let (len, cut) = (1 << 21, Cut::of::<Sum<f32>>(1 << 21));
    let (one, other) = (cut.run(0, 2), cut.run(1, 2));
    let count = one.len() / cut.unit();
    let (right, short) = (vec![1.0f32; count], vec![1.0f32; count - 1]);
    let of = |runs, leaves| sum::<Sum<f32>>(len, runs, leaves);
    let due = format!("{count} were expected");
    assert_eq!(of([one.clone(), other.clone()], [&right, &right]), "nothing");
    let said = of([one.clone(), other.clone()], [&right, &short]);
    assert!(said.contains("rank 1") && said.contains(&due), "{said}");
    let said = of([one.clone(), one.clone()], [&right, &right]);
    assert!(said.contains(&format!("those from {} were expected", one.end)), "{said}");
    let said = of([0..one.end + 1, one.end + 1..len], [&[&right[..], &[1.0]].concat(), &right]);
    assert!(said.contains("a run begins at a multiple of"), "{said}");
}

#[test]
fn values_of_an_exact_operation_that_do_not_cover_the_array_are_an_error() {
    let of = |runs, leaves| sum::<Sum<i32, i64>>(10, runs, leaves);
    assert_eq!(of([0..4, 4..10], [&[1], &[2]]), "nothing");
    assert!(of([0..4, 4..10], [&[1], &[]]).contains("to 0 values, but 1 were expected"));
    assert!(of([0..4, 4..10], [&[1, 5], &[2]]).contains("to 2 values, but 1 were expected"));
    assert!(of([0..4, 4..9], [&[1], &[2]]).contains("those up to 10 were expected"));
    assert!(of([0..6, 4..10], [&[1], &[2]]).contains("those from 6 were expected"));
}

#[test]
fn arrays_of_different_lengths_are_an_error() {
    let all = ranks(2, |mut ranks| {
        let len = 10 + ranks.rank() as usize;
        let run = if ranks.rank() == 0 { 0..5 } else { 5..len };
        reduce_leaves(&mut ranks, Sum::<i32, i64>::new(), len, run, &[1])
    });
    assert!(
        said(&all[0]).contains("of 11") && said(&all[0]).contains("has 10 elements"),
        "{all:?}"
    );
}

#[test]
fn invalid_ranks_are_refused_before_any_allocation() {
    for (rank, size) in [(0, u32::MAX), (0, 0), (3, 3), (u32::MAX, 2)] {
        let error = Ranks::join(&environment(rank, size), "sum", TIMEOUT).expect_err("none");
        assert!(matches!(error, RanksError::BadPlace { .. }), "{error}");
        assert!(error.to_string().contains("1 to 65536"), "{error}");
    }
}

#[test]
fn a_task_that_is_too_long_to_send_is_refused() {
    let call = "x".repeat(1 << 17);
    let error = Ranks::join(&environment(0, 2), &call[..], TIMEOUT).expect_err("too long");
    assert!(error.to_string().contains("65536"), "{error}");
}
