//! The sums of an array, and their errors.

use super::Input;
use bytemuck::Pod;
use gridsync::device::{Device, DeviceError};
use gridsync::primitives::Reducer;
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::reference::{Exact, Unrounded, compensated_sum_bound, reduce_depth, sum_bound};
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::op::{CompensatedSum, Operation, Sum};
use serde::{Deserialize, Serialize};

/// An element type.
pub trait Real: Copy + Into<f64> + std::ops::Add<Output = Self> {
    /// Its name.
    const NAME: &'static str;

    /// Half the machine epsilon: the largest relative error of one rounding.
    const UNIT: f64;

    /// The number nearest to `value`.
    fn nearest(value: f64) -> Self;
}

macro_rules! reals {
    ($($ty:ident),*) => {$(
        impl Real for $ty {
            const NAME: &'static str = stringify!($ty);
            const UNIT: f64 = $ty::EPSILON as f64 / 2.0;

            fn nearest(value: f64) -> Self {
                value as Self
            }
        }
    )*};
}
reals!(f32, f64);

/// The error of one sum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Summed {
    /// Distance from the exact sum.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub error: f64,
    /// Distance of the CPU's sum from the exact sum.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub cpu_error: f64,
    /// Bound on the error.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub bound: f64,
    /// Whether it is bit-identical to the CPU's sum.
    pub same_bits: bool,
}

impl Summed {
    /// Whether it is within its bound and bit-identical to the CPU's sum.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.error <= self.bound && self.same_bits
    }
}

/// The sums of one array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Sums {
    /// The type of the elements, and of the sums.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["f32", "f64"])))]
    pub dtype: String,
    /// Distribution of the elements.
    pub input: Input,
    /// Number of elements.
    pub n: usize,
    /// The exact sum, rounded to f64.
    pub exact: f64,
    /// The sum of the absolute values, rounded to f64.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub magnitude: f64,
    /// The most additions that an element goes through in the tree.
    pub depth: u64,
    /// The library's tree sum.
    pub tree: Summed,
    /// The compensated sum along the same tree.
    pub compensated: Summed,
    /// Error of the sequential sum.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub one_by_one_error: f64,
}

impl Sums {
    /// Ratio of the relative error to the error relative to Σ|x|: 1 if all elements have the same
    /// sign, infinite if the sum is 0.
    #[must_use]
    pub fn condition(&self) -> f64 {
        self.magnitude / self.exact.abs()
    }

    /// `error` relative to Σ|x|.
    #[must_use]
    pub fn relative(&self, error: f64) -> f64 {
        if error == 0.0 { 0.0 } else { error / self.magnitude }
    }
}

/// Sums `n` elements of this kind on `device`, or on the CPU without a device.
///
/// # Errors
/// If the device fails.
pub fn measure<T>(device: Option<&Device>, input: Input, n: usize) -> Result<Sums, DeviceError>
where
    T: Real + Pod,
    Sum<T>: Reducible<Element = T, Output = T> + Default,
    CompensatedSum<T>: Reducible<Element = T, Output = T> + Default,
{
    let values = input.values::<T>(n);
    let truth: Unrounded = values.iter().map(|&x| x.into()).collect();
    let magnitude = values.iter().map(|&x| x.into().abs()).collect::<Unrounded>().rounded();
    let exact = Exact { value: truth.rounded(), magnitude };
    let (depth, unit) = (reduce_depth::<Sum<T>>(n), T::UNIT);
    let tree = summed::<Sum<T>>(device, &values, &truth, sum_bound(magnitude, depth, unit))?;
    let bound = compensated_sum_bound(&exact, depth, unit);
    let compensated = summed::<CompensatedSum<T>>(device, &values, &truth, bound)?;
    let one_by_one = values.iter().fold(T::nearest(0.0), |sum, &x| sum + x);
    Ok(Sums {
        dtype: T::NAME.into(),
        input,
        n,
        exact: exact.value,
        magnitude,
        depth,
        tree,
        compensated,
        one_by_one_error: truth.distance(one_by_one.into()),
    })
}

/// The sum of `values` by one operation, with error bound `bound`.
fn summed<O>(
    device: Option<&Device>,
    values: &[O::Element],
    truth: &Unrounded,
    bound: f64,
) -> Result<Summed, DeviceError>
where
    O: Reducible + Operation<Output = <O as Operation>::Element> + Default,
    O::Element: Real + Pod,
{
    let on_cpu = reduce_on_cpu(O::default(), values);
    let found = match device {
        Some(device) => Reducer::new(O::default(), device)?.reduce(&device.upload(values)?)?,
        None => on_cpu,
    };
    Ok(Summed {
        error: truth.distance(found.into()),
        cpu_error: truth.distance(on_cpu.into()),
        bound,
        same_bits: bytemuck::bytes_of(&found) == bytemuck::bytes_of(&on_cpu),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::{Emulator, EmulatorConfig};

    #[test]
    fn every_sum_is_within_its_bound_on_the_cpu_and_in_the_emulator() {
        let emulator = Device::new(Emulator::new(EmulatorConfig::default()));
        for input in Input::ALL {
            // One element, around a pack, around a tile of the tree, and more than one tile.
            for n in [1, 2, 3, 4, 5, 1023, 8191, 8192, 8193, 40_001] {
                for device in [None, Some(&emulator)] {
                    let found = [
                        measure::<f32>(device, input, n).expect("it runs"),
                        measure::<f64>(device, input, n).expect("it runs"),
                    ];
                    for sums in found {
                        assert!(sums.tree.is_right(), "{sums:?}");
                        assert!(sums.compensated.is_right(), "{sums:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_sequential_sum_is_worse_than_the_tree_and_the_compensated_sum_is_best() {
        let sums = measure::<f32>(None, Input::Uniform, 1 << 20).expect("it runs");
        assert!(sums.one_by_one_error > 10.0 * sums.tree.error, "{sums:?}");
        assert!(sums.compensated.error <= sums.tree.error, "{sums:?}");
        assert!(sums.condition() == 1.0, "{sums:?}");
    }

    #[test]
    fn an_error_above_the_bound_or_different_bits_fail() {
        let good = Summed { error: 1.0, cpu_error: 1.0, bound: 1.0, same_bits: true };
        assert!(good.is_right());
        assert!(!Summed { error: 1.0 + f64::EPSILON, ..good }.is_right());
        assert!(!Summed { same_bits: false, ..good }.is_right());
        assert!(!Summed { error: f64::NAN, ..good }.is_right());
    }
}
