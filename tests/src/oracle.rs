//! The right results, computed with plain loops over plain numbers, without rayon or gridsync's
//! operations.

use bytemuck::Pod;
use gridsync_verify::Widen;
use half::{bf16, f16};

pub use gridsync_verify::Number;

/// A type for elements or accumulators. `--dtype` and the JSON use its name [`Widen::NAME`].
pub trait Plain: Pod + Widen {
    /// The type's name in a `.npy` header; bf16 and i128 have none.
    const NPY: Option<&'static str>;
    /// The smallest value: the maximum of an empty array.
    const LEAST: Number;
    /// The largest value: the minimum of an empty array.
    const GREATEST: Number;
    /// The largest relative error of one rounding to this type; 0 for integers.
    const UNIT: f64;
}

/// The properties of a result type that the oracle needs.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    name: &'static str,
    least: Number,
    greatest: Number,
    unit: f64,
}

impl Type {
    /// Describes `A`.
    #[must_use]
    pub const fn of<A: Plain>() -> Self {
        Self { name: A::NAME, least: A::LEAST, greatest: A::GREATEST, unit: A::UNIT }
    }

    /// The type with this name. For `index` and `map` it is the widest integer.
    ///
    /// # Panics
    ///
    /// If this type does not exist.
    #[must_use]
    pub fn named(name: &str) -> Self {
        const ALL: [Type; 9] = [
            Type::of::<i32>(),
            Type::of::<u32>(),
            Type::of::<i64>(),
            Type::of::<u64>(),
            Type::of::<i128>(),
            Type::of::<f16>(),
            Type::of::<bf16>(),
            Type::of::<f32>(),
            Type::of::<f64>(),
        ];
        let name = if matches!(name, "index" | "map") { "i128" } else { name };
        let found = ALL.into_iter().find(|ty| ty.name == name);
        found.unwrap_or_else(|| panic!("there is no type {name}"))
    }
}

macro_rules! integers {
    ($($ty:ident $npy:expr;)*) => {$(
        impl Plain for $ty {
            const NPY: Option<&'static str> = $npy;
            const LEAST: Number = Number::Int($ty::MIN as i128);
            const GREATEST: Number = Number::Int($ty::MAX as i128);
            const UNIT: f64 = 0.0;
        }
    )*};
}
integers! { i32 Some("<i4"); u32 Some("<u4"); i64 Some("<i8"); u64 Some("<u8"); i128 None; }

macro_rules! floats {
    ($($ty:ident $npy:expr, $digits:literal;)*) => {$(
        impl Plain for $ty {
            const NPY: Option<&'static str> = $npy;
            const LEAST: Number = Number::Float(f64::NEG_INFINITY);
            const GREATEST: Number = Number::Float(f64::INFINITY);
            const UNIT: f64 = 1.0 / (1u64 << $digits) as f64;
        }
    )*};
}
// The digits of each significand, including the leading one (IEEE 754-2019, table 3.5).
floats! { f16 Some("<f2"), 11; bf16 None, 8; f32 Some("<f4"), 24; f64 Some("<f8"), 53; }

/// The modulus of `prod-mod`: the largest prime below 2^32.
pub const MODULUS: u64 = 4_294_967_291;

/// A result, and the tolerance for other results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The right result.
    pub value: Number,
    /// The largest allowed absolute difference; 0 means identical bits.
    pub allowed: f64,
}

impl Expected {
    /// Whether `got` is right.
    #[must_use]
    pub fn admits(self, got: Number) -> bool {
        match (self.value, got) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Float(a), Number::Float(b)) if a.is_nan() => b.is_nan(),
            (Number::Float(a), Number::Float(b)) => {
                a.to_bits() == b.to_bits() || (a - b).abs() <= self.allowed && self.allowed > 0.0
            }
            _ => false,
        }
    }
}

/// [`reduce_numbers`] of an array of `T`, with an accumulator `A`.
///
/// # Panics
///
/// If [`reduce_numbers`] panics.
pub fn reduce<T: Plain, A: Plain>(op: &str, input: &[T], depth: u64) -> Expected {
    let input: Vec<_> = input.iter().map(|&x| x.number()).collect();
    reduce_numbers(op, &input, Type::of::<A>(), depth)
}

/// Reduces `input` by `op`, an operation of the program, with an accumulator of type `output`. Each
/// element is rounded at most `depth` times. argmin and argmax return the index, or −1 for an empty
/// input. ptp of an empty input is −1 or NaN, and var is NaN. describe is the standard deviation.
/// prod-mod is modulo [`MODULUS`]. compose composes maps x → a·x + b, with a in the low half of an
/// element, and returns such a map.
///
/// The tolerance of a sum is (depth·u + n·2^-53)·Σ|x|, where the second part is for the loop here.
/// The tolerance of a logsumexp is that of exponentials of f32.
///
/// The tolerance of a product is (n·u + n·2^-53)·|Π|.
///
/// # Panics
///
/// If the operation does not exist or does not accept such elements.
#[must_use]
pub fn reduce_numbers(op: &str, input: &[Number], output: Type, depth: u64) -> Expected {
    let numbers = input.iter().copied();
    let exact = |value| Expected { value, allowed: 0.0 };
    match (op, output.least) {
        ("count", _) => exact(Number::Int(numbers.filter(|x| !is_zero(*x)).count() as i128)),
        ("min", _) => exact(numbers.fold(output.greatest, |a, b| extreme(a, b, false))),
        ("max", _) => exact(numbers.fold(output.least, |a, b| extreme(a, b, true))),
        ("ptp", _) => range(numbers, output),
        ("l1", Number::Int(_)) => exact(Number::Int(numbers.map(magnitude).sum())),
        ("sum-squares" | "l1", _) => rounded_in_f64(op, numbers, depth as f64),
        ("logsumexp", _) => log_sum_exp(&numbers.map(nearest).collect::<Vec<_>>(), depth as f64),
        ("describe", _) => deviation(&numbers.map(nearest).collect::<Vec<_>>(), depth as f64),
        ("var", _) => variance(&numbers.map(nearest).collect::<Vec<_>>(), depth as f64),
        ("argmin" | "argmax", _) => exact(Number::Int(argument(numbers, op == "argmax"))),
        ("sum" | "prod", Number::Float(_)) => rounded(op, numbers, depth as f64, output.unit),
        (_, Number::Int(least)) => {
            let all = integers(op, numbers, output);
            exact(Number::Int(wrapped(least, output.greatest, all)))
        }
        _ => panic!("{op} in {} is not defined", output.name),
    }
}

fn is_zero(x: Number) -> bool {
    matches!(x, Number::Int(0)) || matches!(x, Number::Float(x) if x == 0.0)
}

/// The larger or the smaller of the two. NaN wins, and −0 is less than +0.
fn extreme(a: Number, b: Number, greater: bool) -> Number {
    let b_wins = match (a, b) {
        (Number::Int(a), Number::Int(b)) => (b > a) == greater,
        (Number::Float(a), _) if a.is_nan() => false,
        (_, Number::Float(b)) if b.is_nan() => true,
        (Number::Float(a), Number::Float(b)) => b.total_cmp(&a).is_gt() == greater,
        _ => unreachable!("elements and accumulators are of one kind"),
    };
    if b_wins { b } else { a }
}

/// The index of the first extreme, or of the first NaN; −0 equals +0.
fn argument(numbers: impl Iterator<Item = Number>, greater: bool) -> i128 {
    let is_better = |a: Number, b: Number| match (a, b) {
        (Number::Int(a), Number::Int(b)) => a != b && (a > b) == greater,
        (Number::Float(a), Number::Float(b)) if a.is_nan() || b.is_nan() => !b.is_nan(),
        (Number::Float(a), Number::Float(b)) => a != b && (a > b) == greater,
        _ => unreachable!("all elements are of one kind"),
    };
    let mut best: Option<(i128, Number)> = None;
    for (index, x) in (0..).zip(numbers) {
        if best.is_none_or(|(_, best)| is_better(x, best)) {
            best = Some((index, x));
        }
    }
    best.map_or(-1, |(index, _)| index)
}

fn rounded(op: &str, numbers: impl Iterator<Item = Number>, depth: f64, unit: f64) -> Expected {
    let floats = numbers.map(|x| match x {
        Number::Float(x) => x,
        Number::Int(_) => unreachable!("floating-point accumulators take floating-point elements"),
    });
    let (mut n, mut magnitude, mut sum, mut product) = (0.0, 0.0, -0.0, 1.0);
    for x in floats {
        n += 1.0;
        magnitude += x.abs();
        sum += x;
        product *= x;
    }
    let own = n * f64::EPSILON / 2.0;
    let (value, allowed) = if op == "sum" {
        (sum, (depth * unit + own) * magnitude)
    } else {
        (product, n * unit * product.abs() + own * product.abs())
    };
    Expected { value: Number::Float(value), allowed }
}

/// The magnitude of an integer.
fn magnitude(x: Number) -> i128 {
    match x {
        Number::Int(x) => x.abs(),
        Number::Float(_) => unreachable!("integer accumulators take integers"),
    }
}

/// The nearest f64.
fn nearest(x: Number) -> f64 {
    match x {
        Number::Int(x) => x as f64,
        Number::Float(x) => x,
    }
}

/// The maximum minus the minimum.
fn range(numbers: impl Iterator<Item = Number> + Clone, output: Type) -> Expected {
    let missing = match output.least {
        Number::Int(_) => Number::Int(-1),
        Number::Float(_) => Number::Float(f64::NAN),
    };
    let least = numbers.clone().reduce(|a, b| extreme(a, b, false));
    let greatest = numbers.reduce(|a, b| extreme(a, b, true));
    match (least, greatest) {
        (Some(Number::Int(least)), Some(Number::Int(greatest))) => {
            Expected { value: Number::Int(greatest - least), allowed: 0.0 }
        }
        (Some(Number::Float(least)), Some(Number::Float(greatest))) => {
            let apart = greatest - least;
            Expected { value: Number::Float(apart), allowed: 2.0 * output.unit * apart.abs() }
        }
        _ => Expected { value: missing, allowed: 0.0 },
    }
}

/// The sum of the squares or of the magnitudes.
fn rounded_in_f64(op: &str, numbers: impl Iterator<Item = Number>, depth: f64) -> Expected {
    let terms = numbers.map(nearest).map(|x| if op == "l1" { x.abs() } else { x * x });
    let (mut n, mut sum) = (0.0, 0.0);
    for term in terms {
        n += 1.0;
        sum += term;
    }
    Expected { value: Number::Float(sum), allowed: (n + depth + 6.0) * f64::EPSILON / 2.0 * sum }
}

/// The logarithm of the sum of the exponentials, in two passes.
fn log_sum_exp(numbers: &[f64], depth: f64) -> Expected {
    let greatest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let apart = |&x: &f64| if x == greatest { 0.0 } else { x - greatest };
    let sum: f64 = numbers.iter().map(|x| apart(x).exp()).sum();
    let value = greatest + sum.ln();
    let range = numbers.iter().map(apart).fold(0.0, f64::min).abs().min(105.0);
    let allowed = f64::from(f32::EPSILON) * (range + 4.0 * (depth + 2.0));
    Expected { value: Number::Float(value), allowed }
}

/// The variance, in two passes.
fn variance(numbers: &[f64], depth: f64) -> Expected {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let apart = || numbers.iter().map(|x| x - mean);
    let squares = apart().map(|x| x * x).sum::<f64>();
    let sum = apart().sum::<f64>();
    let value = (squares - sum * sum / n) / n;
    // Any element may be a center.
    let farthest = apart().fold(0.0, |a: f64, x| a.max(x * x));
    let allowed = 16.0 * (n + depth + 8.0) * f64::EPSILON / 2.0 * (value + farthest);
    Expected { value: Number::Float(value), allowed }
}

/// The root of the variance.
fn deviation(numbers: &[f64], depth: f64) -> Expected {
    let Expected { value, allowed } = variance(numbers, depth);
    let Number::Float(variance) = value else { unreachable!("a variance is an f64") };
    let root = variance.sqrt();
    // |√a − √v| is |a − v| / (√a + √v), and at most √|a − v|.
    let apart = (allowed / root).min(allowed.sqrt());
    Expected { value: Number::Float(root), allowed: apart + f64::EPSILON * root }
}

/// `x` wrapped into the range from `least` to `greatest`.
fn wrapped(least: i128, greatest: Number, x: i128) -> i128 {
    match greatest {
        Number::Int(i128::MAX) => x,
        Number::Int(greatest) => (x - least).rem_euclid(greatest - least + 1) + least,
        Number::Float(_) => unreachable!("least and greatest are of one kind"),
    }
}

fn integers(op: &str, numbers: impl Iterator<Item = Number>, output: Type) -> i128 {
    let integers = numbers.map(|x| match x {
        Number::Int(x) => x,
        Number::Float(_) => panic!("{op} does not take floating-point elements"),
    });
    match op {
        "sum" => integers.fold(0, i128::wrapping_add),
        "prod" => integers.fold(1u64, |a, b| a.wrapping_mul(b as u64)).into(),
        "prod-mod" => integers
            .fold(1, |a, b| a * (b % i128::from(MODULUS)) % i128::from(MODULUS))
            .rem_euclid(MODULUS.into()),
        "compose" => {
            let low = |x: i128| x as u32;
            integers.fold(1, |map, next| {
                let (a, b) = (low(next), low(next >> 32));
                let factor = low(map).wrapping_mul(a);
                let summand = low(map >> 32).wrapping_mul(a).wrapping_add(b);
                i128::from(summand) << 32 | i128::from(factor)
            })
        }
        "xor" => integers.fold(0, |a, b| a ^ b),
        "or" => integers.fold(0, |a, b| a | b),
        "and" => {
            let ones = match (output.least, output.greatest) {
                (Number::Int(0), Number::Int(ones)) => ones,
                _ => -1,
            };
            integers.fold(ones, |a, b| a & b)
        }
        _ => panic!("there is no operation {op}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oracle_knows_results_worked_out_by_hand() {
        let is = |expected: Expected, value| assert_eq!(expected.value, value);
        is(reduce::<i32, i64>("sum", &[i32::MAX, i32::MAX, -1], 0), Number::Int(4_294_967_293));
        is(reduce::<u64, u64>("prod", &[3, 5, 7], 0), Number::Int(105));
        is(reduce::<i32, i32>("and", &[-4, 6], 0), Number::Int(4));
        is(reduce::<u32, u32>("and", &[], 0), Number::Int(u32::MAX.into()));
        is(reduce::<f32, u64>("count", &[0.0, -0.0, f32::NAN, 1.0], 0), Number::Int(2));
        let zeros_and_nans = [1.0, 0.0, -0.0, f64::NAN, -1.0, f64::NAN];
        is(reduce::<f64, f64>("argmax", &zeros_and_nans[1..3], 0), Number::Int(0));
        is(reduce::<f64, f64>("argmin", &zeros_and_nans[..3], 0), Number::Int(1));
        is(reduce::<f64, f64>("argmin", &zeros_and_nans, 0), Number::Int(3));
        is(reduce::<i32, i32>("argmax", &[], 0), Number::Int(-1));
        is(reduce::<i32, u32>("prod-mod", &[-1, 2], 0), Number::Int(4_294_967_289));
        // x → 3x + 1, and then x → 5x + 2: 15x + 7.
        is(
            reduce::<u64, u64>("compose", &[1 << 32 | 3, 2 << 32 | 5], 0),
            Number::Int(7 << 32 | 15),
        );
        is(reduce::<i32, u32>("ptp", &[i32::MIN, 5, i32::MAX], 0), Number::Int(0xffff_ffff));
        is(reduce::<i64, i128>("l1", &[3, -4], 0), Number::Int(7));
        is(reduce::<f32, f64>("sum-squares", &[3.0, -4.0], 0), Number::Float(25.0));
        is(reduce::<f64, f64>("var", &[4.0, 7.0, 13.0, 16.0], 0), Number::Float(22.5));
        let least = reduce::<f64, f64>("min", &[0.0, -0.0, 3.0], 0);
        assert!(least.admits(Number::Float(-0.0)) && !least.admits(Number::Float(0.0)));
    }

    #[test]
    fn the_oracle_admits_what_rounding_explains_and_no_more() {
        let sum = reduce::<f32, f32>("sum", &[1.0; 1000], 10);
        assert!(sum.admits(Number::Float(1000.0)));
        assert!(sum.admits(Number::Float(1000.0 + 1000.0 * 9.0 * f64::from(f32::EPSILON) / 2.0)));
        assert!(!sum.admits(Number::Float(999.0)), "a lost element is seen");
        let nan = reduce::<f64, f64>("max", &[1.0, f64::NAN, 2.0], 0);
        assert!(nan.admits(Number::Float(f64::NAN)) && !nan.admits(Number::Float(2.0)));
    }
}
