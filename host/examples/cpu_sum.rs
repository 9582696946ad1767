//! Compares the speed of `reduce_on_cpu` with other ways to sum the same array on the same cores.
//!
//! `tree` is `reduce_on_cpu`, which sums in the order of a GPU's tree with identical bits. `iter`
//! is `iter().sum()` on one core. `ndarray` is `ArrayView1::sum()` (for i32 in i64 its `fold`,
//! because it has no sum for that). `rayon` is `par_iter().sum()`. `chunks` is rayon over chunks,
//! each with 64 independent sums: the compiler can vectorise this loop, because no order of
//! additions is required.
//!
//! Each round runs all of them. The table shows the shortest time of each, as GB/s of input.
//!
//! `cargo run --release -p gridsync --example cpu_sum`

use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync_kernels::op::{Number, Sum, Widen};
use ndarray::ArrayView1;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How often each variant is timed.
const ROUNDS: usize = 9;

/// The number of sums per chunk. They are independent, so the compiler can vectorise them.
const SIDE_BY_SIDE: usize = 64;

fn main() {
    println!("{} threads, GB/s", rayon::current_num_threads());
    println!(
        "{:>6} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "type", "n", "tree", "iter", "ndarray", "rayon", "chunks"
    );
    for exponent in [24, 28] {
        table::<f32, f32>("f32", exponent, |input| ArrayView1::from(input).sum());
        table::<f64, f64>("f64", exponent, |input| ArrayView1::from(input).sum());
        table::<i32, i64>("i32", exponent, |input| {
            ArrayView1::from(input).fold(0, |sum, &x| sum + i64::from(x))
        });
    }
}

/// Prints the line for `2^exponent` elements of `T`, summed in `A`.
fn table<T, A>(dtype: &str, exponent: u32, ndarray: fn(&[T]) -> A)
where
    T: Widen<A> + From<i16>,
    A: Number + std::iter::Sum,
{
    let input: Vec<T> = (0..1usize << exponent).map(|i| T::from((i % 1000) as i16 - 500)).collect();
    let ways: [fn(&[T]) -> A; 5] = [
        |input| reduce_on_cpu(Sum::<T, A>::new(), input),
        |input| input.iter().map(|x| x.widen()).sum(),
        ndarray,
        |input| input.par_iter().map(|x| x.widen()).sum(),
        |input| input.par_chunks(1 << 16).map(side_by_side).sum(),
    ];
    let mut least = [Duration::MAX; 5];
    for _ in 0..ROUNDS {
        for (way, least) in ways.iter().zip(&mut least) {
            let start = Instant::now();
            black_box(way(black_box(&input)));
            *least = start.elapsed().min(*least);
        }
    }
    print!("{dtype:>6} {:>5}", format!("2^{exponent}"));
    for time in least {
        let rate = size_of_val(input.as_slice()) as f64 / time.as_secs_f64() / 1e9;
        print!(" {rate:>8.2}");
    }
    println!();
}

/// The sum of `chunk` as [`SIDE_BY_SIDE`] partial sums, which are then added.
fn side_by_side<T: Widen<A>, A: Number + std::iter::Sum>(chunk: &[T]) -> A {
    let mut sums = [A::ZERO; SIDE_BY_SIDE];
    for row in chunk.chunks(SIDE_BY_SIDE) {
        for (sum, x) in sums.iter_mut().zip(row) {
            *sum = sum.add(x.widen());
        }
    }
    sums.into_iter().sum()
}
