//! The reduction.

use gridsync_kernels::op::Operation;
use rayon::prelude::*;

/// Elements that one task folds. Fixed, so that the order of a floating-point sum, and so its bits,
/// do not depend on the number of threads.
pub(crate) const CHUNK: usize = 1 << 16;

/// Independent accumulators of a task: as many chains as keep a core's adders busy, and a shape
/// that the compiler turns into vector instructions.
pub(crate) const LANES: usize = 16;

/// Reduces `input`. An empty one gives the identity.
///
/// Chunks of 65 536 elements are folded in parallel, each in 16 interleaved chains that are then
/// combined in order, and the results of the chunks in order: two runs give the same bits on any
/// number of cores.
pub fn reduce<O: Operation>(input: &[O::Element]) -> O::Accumulator {
    let chunks: Vec<_> = input.par_chunks(CHUNK).map(fold::<O>).collect();
    chunks.into_iter().fold(O::identity(), O::combine)
}

/// How many roundings any one element goes through, at most, in a floating-point sum of `len`
/// elements by [`reduce`].
#[must_use]
pub fn reduce_depth(len: usize) -> u64 {
    (len.min(CHUNK).div_ceil(LANES) + LANES + len.div_ceil(CHUNK)) as u64
}

fn fold<O: Operation>(chunk: &[O::Element]) -> O::Accumulator {
    const {
        assert!(
            O::COMMUTATIVE,
            "interleaved chains swap operands: the operation must commute"
        )
    };
    let mut lanes = [O::identity(); LANES];
    let rows = chunk.chunks_exact(LANES);
    for (lane, &element) in lanes.iter_mut().zip(rows.remainder()) {
        *lane = O::combine(*lane, O::lift(element));
    }
    for row in rows {
        for (lane, &element) in lanes.iter_mut().zip(row) {
            *lane = O::combine(*lane, O::lift(element));
        }
    }
    lanes.into_iter().fold(O::identity(), O::combine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_kernels::op::{Count, Max, Min, Product, Sum, Xor};

    #[test]
    fn agrees_with_the_iterators_of_the_standard_library() {
        for len in [0, 1, 15, 16, 17, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5] {
            let input: Vec<i32> = (0..len as i32)
                .map(|i| i.wrapping_mul(0x9E37_79B1u32 as i32))
                .collect();
            let wide = input.iter().map(|&x| i64::from(x));
            assert_eq!(reduce::<Sum<i32, i64>>(&input), wide.clone().sum::<i64>());
            assert_eq!(
                reduce::<Product<i32, i64>>(&input),
                wide.fold(1, |a: i64, b| a.wrapping_mul(b))
            );
            assert_eq!(
                reduce::<Xor<i32>>(&input),
                input.iter().fold(0, |a, b| a ^ b)
            );
            assert_eq!(
                reduce::<Min<i32>>(&input),
                input.iter().copied().min().unwrap_or(i32::MAX)
            );
            assert_eq!(
                reduce::<Max<i32>>(&input),
                input.iter().copied().max().unwrap_or(i32::MIN)
            );
            let nonzero = input.iter().filter(|&&x| x != 0).count() as u64;
            assert_eq!(reduce::<Count<i32>>(&input), nonzero);
        }
    }

    #[test]
    fn one_nan_makes_a_minimum_nan_wherever_it_stands() {
        for at in [0, 7, 16, 999] {
            let mut input = vec![1.0f32; 1000];
            input[at] = f32::NAN;
            assert!(reduce::<Min<f32>>(&input).is_nan());
            assert!(reduce::<Max<f32>>(&input).is_nan());
        }
    }

    #[test]
    fn negative_zero_is_less_than_positive_zero() {
        let zeros = [0.0f64, -0.0, 0.0];
        assert_eq!(reduce::<Min<f64>>(&zeros).to_bits(), (-0.0f64).to_bits());
        assert_eq!(reduce::<Max<f64>>(&zeros).to_bits(), 0.0f64.to_bits());
        assert_eq!(reduce::<Sum<f64>>(&[-0.0]).to_bits(), (-0.0f64).to_bits());
    }
}
