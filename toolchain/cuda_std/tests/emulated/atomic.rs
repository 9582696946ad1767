//! Read-modify-write operations: their results and the values that they store.

use crate::support::{config, leaves};
use cuda_std::memory::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use cuda_std::memory::Scope::{self, Block, Device, System};
use cuda_std::memory::{Atomic, AtomicInt, Global};
use cuda_std::thread;

/// The result of `operation`, and the value that it stores in place of `before`.
#[track_caller]
fn of<T: Atomic + PartialEq + core::fmt::Debug>(
    before: T,
    operation: impl Fn(Global<T>) -> T,
) -> (T, T) {
    let after = leaves(&config(1, 1), &[before, T::default()], |at| {
        at.write(1, operation(at.part(0, 1)));
    });
    (after[1], after[0])
}

/// Every operation that the integer types share, on a small value and at the ends of the range.
#[track_caller]
fn integers<T: AtomicInt + PartialEq + core::fmt::Debug>(
    [one, three, twelve, ten]: [T; 4],
    (least, greatest): (T, T),
) {
    let with = (Relaxed, Device);
    let fetch = |before, value, f: fn(Global<T>, usize, T, Ordering, Scope) -> T| {
        of(before, |at| f(at, 0, value, with.0, with.1))
    };
    // 12 is 0b1100, 10 is 0b1010.
    for (value, f, left) in [
        (three, Global::fetch_and as fn(Global<T>, usize, T, Ordering, Scope) -> T, T::default()),
        (three, Global::fetch_min, three),
        (three, Global::fetch_max, twelve),
        (three, Global::exchange, three),
    ] {
        assert_eq!(fetch(twelve, value, f), (twelve, left));
    }
    let (_, six) = fetch(three, three, Global::fetch_add);
    let (_, two) = fetch(three, one, Global::fetch_sub);
    assert_eq!(fetch(twelve, ten, Global::fetch_xor), (twelve, six));
    assert_eq!(fetch(ten, two, Global::fetch_add), (ten, twelve));
    assert_eq!(fetch(twelve, two, Global::fetch_sub), (twelve, ten));
    assert_eq!(fetch(ten, six, Global::fetch_and), (ten, two));
    let (_, fourteen) = fetch(twelve, two, Global::fetch_add);
    assert_eq!(fetch(twelve, ten, Global::fetch_or), (twelve, fourteen));

    assert_eq!(fetch(greatest, one, Global::fetch_add), (greatest, least));
    assert_eq!(fetch(least, one, Global::fetch_sub), (least, greatest));
    assert_eq!(fetch(least, greatest, Global::fetch_max), (least, greatest));
    assert_eq!(fetch(greatest, least, Global::fetch_min), (greatest, least));
}

#[test]
fn integers_return_the_old_value_and_wrap_around() {
    integers([1u32, 3, 12, 10], (0, u32::MAX));
    integers([1u64, 3, 12, 10], (0, u64::MAX));
    integers([1i32, 3, 12, 10], (i32::MIN, i32::MAX));
    integers([1i64, 3, 12, 10], (i64::MIN, i64::MAX));
}

#[test]
fn negative_numbers_are_less_than_positive_ones_only_if_signed() {
    assert_eq!(of(5i32, |at| at.fetch_min(0, -1, Relaxed, Device)).1, -1);
    assert_eq!(of(5u32, |at| at.fetch_min(0, u32::MAX, Relaxed, Device)).1, 5);
    assert_eq!(of(5i64, |at| at.fetch_max(0, -1, Relaxed, Device)).1, 5);
    assert_eq!(of(5u64, |at| at.fetch_max(0, u64::MAX, Relaxed, Device)).1, u64::MAX);
}

#[test]
fn float_additions_round_to_their_type() {
    assert_eq!(of(1.0f32, |at| at.fetch_add(0, f32::EPSILON / 2.0, Relaxed, Device)), (1.0, 1.0));
    assert_eq!(of(0.1f64, |at| at.fetch_add(0, 0.2, Relaxed, Device)), (0.1, 0.1 + 0.2));
    assert_eq!(of(0.1f64, |at| at.exchange(0, -0.5, Relaxed, Device)), (0.1, -0.5));
}

#[test]
fn add_stores_the_same_value_as_fetch_add() {
    let without = |order| {
        of(u32::MAX, move |at| {
            at.add(0, 3, order, Device);
            0
        })
    };
    assert_eq!(without(Relaxed), (0, 2));
    assert_eq!(without(Release), (0, 2));
    let float = of(0.5f64, |at| {
        at.add(0, 0.25, Release, System);
        0.0
    });
    assert_eq!(float, (0.0, 0.75));
}

#[test]
fn fetch_inc_wraps_to_zero_at_or_above_its_limit() {
    let inc = |before| of(before, |at: Global<u32>| at.fetch_inc(0, 3, Relaxed, Device));
    assert_eq!([0, 2, 3, 4, u32::MAX].map(inc), [(0, 1), (2, 3), (3, 0), (4, 0), (u32::MAX, 0)]);
    let never = of(7u32, |at| at.fetch_inc(0, 0, Relaxed, Device));
    assert_eq!(never, (7, 0), "a limit of 0 keeps the word at 0");
}

#[test]
fn compare_exchange_swaps_only_equal_bits() {
    let swap = |before, current| {
        of(before, |at: Global<u64>| at.compare_exchange(0, current, 9, AcqRel, Device))
    };
    assert_eq!(swap(5, 5), (5, 9));
    assert_eq!(swap(5, 5 + (1 << 32)), (5, 5));
}

#[test]
fn compare_exchange_of_floats_distinguishes_zeros_and_matches_equal_nans() {
    let swap = |before, current| {
        let bits = |x: f32| x.to_bits();
        let (old, left) = of(bits(before), |at: Global<u32>| {
            bits(at.cast::<f32>().compare_exchange(0, current, 9.0, Relaxed, Device))
        });
        assert_eq!(old, bits(before));
        f32::from_bits(left)
    };
    assert_eq!(swap(0.0, -0.0).to_bits(), 0.0f32.to_bits());
    assert_eq!(swap(-0.0, -0.0), 9.0);
    assert_eq!(swap(f32::NAN, f32::NAN), 9.0);
    assert!(swap(f32::NAN, f32::from_bits(f32::NAN.to_bits() ^ 1)).is_nan());
}

#[test]
fn every_ordering_and_scope_gives_the_same_sum() {
    for order in [Relaxed, Acquire, Release, AcqRel, SeqCst] {
        for scope in [Block, Device, System] {
            assert_eq!(of(1u32, |at| at.fetch_add(0, 2, order, scope)), (1, 3));
        }
    }
}

#[test]
fn contended_words_lose_no_update_under_any_schedule() {
    let left = leaves(&config(3, 50), &[0u64; 3], |at| {
        let i = thread::index() as u64;
        at.fetch_add(0, i, Relaxed, Device);
        at.fetch_max(1, i, Relaxed, Device);
        // Addition with compare-and-swap, as floats needed before sm_60.
        let mut seen = at.load(2, Relaxed, Device);
        loop {
            let found = at.compare_exchange(2, seen, seen + 1, AcqRel, Device);
            if found == seen {
                break;
            }
            seen = found;
        }
    });
    assert_eq!(left, [149 * 150 / 2, 149, 150]);
}

#[test]
fn each_ticket_is_drawn_once() {
    let drawn = leaves(&config(2, 40), &[0u32; 81], |at| {
        let ticket = at.fetch_inc(80, 79, AcqRel, Device);
        at.fetch_add(ticket as usize, 1, Relaxed, Device);
    });
    assert_eq!(drawn[..80], [1; 80]);
    assert_eq!(drawn[80], 0, "the last one to draw sets the word back");
}
