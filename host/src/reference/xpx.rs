//! X→P→X.

/// The contents of X after `rounds` of X→P→X, in which each element of P becomes the mean of all of
/// X and each of X the mean of all of P. Bit-identical to a kernel that waits at a grid barrier,
/// because every mean adds its elements in order.
#[must_use]
pub fn xpx(x: &[f32], rounds: u32) -> Vec<f32> {
    let mean = |from: &[f32]| from.iter().fold(0.0, |sum: f32, &v| sum + v) / from.len() as f32;
    let each_mean = |from: Vec<f32>| vec![mean(&from); from.len()];
    (0..2 * rounds).fold(x.to_vec(), |from, _stage| each_mean(from))
}
