//! The reduction.

use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::Operation;
use rayon::prelude::*;

use cuda_std::memory::Scalar;
use cuda_std::warp::WARP_SIZE;

/// Lanes of a warp.
const LANES: usize = WARP_SIZE as usize;

/// Reduces `input`. An empty one gives the identity.
///
/// The tiles are reduced in parallel; what is combined with what follows from the length alone, as
/// [`Shape`] says: the same bits on any number of cores, and those of a GPU.
pub fn reduce<O: Operation>(input: &[O::Element]) -> O::Accumulator {
    const {
        assert!(
            O::COMMUTATIVE,
            "the strips of a tile swap operands: the operation must commute"
        )
    };
    let shape = Shape::of::<O::Element>(input.len());
    let places = shape.threads() as usize * O::Element::PACK;
    let tiles: Vec<Vec<_>> = input
        .par_chunks(shape.tile::<O::Element>())
        .map_init(
            || vec![O::identity(); places],
            |places, tile| {
                let mut strips = strips::<O>(tile, places);
                match shape.leaves_are_strips() {
                    true => strips,
                    false => vec![by_halves::<O>(&mut strips)],
                }
            },
        )
        .collect();
    let leaves = tiles.concat();
    let mut chains = vec![O::identity(); shape.threads() as usize];
    for round in leaves.chunks(chains.len()) {
        take::<O, _>(&mut chains, round, |leaf| leaf);
    }
    let mut warps: Vec<_> = chains.chunks_mut(LANES).map(by_halves::<O>).collect();
    O::finish(by_halves::<O>(&mut warps))
}

/// Reduces the strips of a tile in `places`: an accumulator for each place of a pack, lane and strip.
fn strips<O: Operation>(tile: &[O::Element], places: &mut [O::Accumulator]) -> Vec<O::Accumulator> {
    places.fill(O::identity());
    let row = LANES * O::Element::PACK;
    let warps = places.len() / row;
    for (number, run) in tile.chunks(Shape::run::<O::Element>()).enumerate() {
        take_run::<O>(&mut places[number % warps * row..][..row], run);
    }
    places
        .chunks_exact_mut(row)
        .map(lanes_by_halves::<O>)
        .collect()
}

/// Takes the rows of `run` into `strip`, from the first to the last.
fn take_run<O: Operation>(strip: &mut [O::Accumulator], run: &[O::Element]) {
    let row = LANES * O::Element::PACK;
    if run.len() < Shape::run::<O::Element>() {
        for row in run.chunks(row) {
            take::<O, _>(strip, row, O::lift);
        }
        return;
    }
    // All rows of a place at once: its accumulator is loaded and stored once.
    for (place, accumulator) in strip[..row].iter_mut().enumerate() {
        let mut all = *accumulator;
        for from in (0..Shape::run::<O::Element>()).step_by(row) {
            all = O::combine(all, O::lift(run[from + place]));
        }
        *accumulator = all;
    }
}

/// Combines the places of each pack of `strip`, and then the lanes.
fn lanes_by_halves<O: Operation>(strip: &mut [O::Accumulator]) -> O::Accumulator {
    for lane in 0..LANES {
        strip[lane] = by_halves::<O>(&mut strip[lane * O::Element::PACK..][..O::Element::PACK]);
    }
    by_halves::<O>(&mut strip[..LANES])
}

/// Takes each value, lifted, into the accumulator at the same place.
fn take<O: Operation, T: Copy>(
    accumulators: &mut [O::Accumulator],
    values: &[T],
    lift: impl Fn(T) -> O::Accumulator,
) {
    for (accumulator, &value) in accumulators.iter_mut().zip(values) {
        *accumulator = O::combine(*accumulator, lift(value));
    }
}

/// Combines the first half with the second, value by value, until one is left.
// Inlined where the length is known: the loops fall out.
#[inline(always)]
fn by_halves<O: Operation>(values: &mut [O::Accumulator]) -> O::Accumulator {
    let mut half = values.len() / 2;
    while half > 0 {
        let (first, second) = values.split_at_mut(half);
        take::<O, _>(first, &second[..half], |value| value);
        half /= 2;
    }
    values[0]
}

/// How many times any one element is combined, at most, in a reduction of `len` elements: so many
/// roundings a floating-point sum goes through.
#[must_use]
pub fn reduce_depth<O: Operation>(len: usize) -> u64 {
    Shape::of::<O::Element>(len).depth::<O::Element>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync_kernels::op::{Count, Max, Min, Product, Sum, Xor};

    #[test]
    fn agrees_with_the_iterators_of_the_standard_library() {
        let tile = Shape::of::<i32>(1).tile::<i32>();
        for len in [0, 1, 127, 128, 129, tile - 1, tile, tile + 1, 3 * tile + 5] {
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
