//! Cases of selections.

use super::reduce::short_name;
use super::select_bench::{SelectBench, same};
use super::{CaseError, Kind, Sample, sample};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::select::{Comparable, FirstOfRun, Selector, To, Within};
use gridsync_entries::select::Selectable;
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::grid::select::shape;
use std::fmt::Debug;

/// Predicates for [`select_case`] that keep none, one in a hundred, half, all but one in a hundred
/// and all of the elements, as nearly as the values allow, and one that keeps the nonzero elements.
#[must_use]
pub fn shares<T: Comparable>(input: &[T]) -> Vec<Within<T>> {
    let mut sorted = input.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    let above = |percent: usize| {
        let bound = sorted.get(sorted.len() * percent / 100);
        Within::greater_than(bound.copied().unwrap_or(T::ZERO))
    };
    vec![
        Within::less_than(T::LEAST),
        above(99),
        above(50),
        above(1),
        Within::not_nan(),
        Within::nonzero(),
    ]
}

/// `len` sampled elements in runs of equal elements: of one element, a few, or a few hundred.
#[must_use]
pub fn runs<T: Sample>(len: usize, seed: u64) -> Vec<T> {
    let values = sample::<T>(Kind::Values, len, seed);
    let bits = sample::<u64>(Kind::Values, len, !seed);
    let mut at = 0;
    (0..len)
        .map(|index| {
            // The probability that a run ends changes every 700 elements.
            let one_in = [1, 4, 200][index / 700 % 3];
            if bits[index].is_multiple_of(one_in) {
                at = index;
            }
            values[at]
        })
        .collect()
}

/// Selects from `input` by each of `all`, with all outputs, consecutively in one workspace, and
/// compares with a loop.
///
/// # Errors
/// [`CaseError::Wrong`] if a bit differs, or if the memory after the results was changed; or if the
/// device fails.
pub fn select_case<S>(all: &[S], device: &Device, input: &[S::Element]) -> Result<(), CaseError>
where
    S: Selectable<Element: Pod + Debug> + Debug,
{
    let len = input.len();
    let on_device = device.upload(input)?;
    // The old contents of the outputs, which must not be mistaken for a result.
    let old: Vec<S::Element> = input.iter().rev().copied().collect();
    let old_positions = vec![u64::MAX; len];
    let Some(&first) = all.first() else { return Ok(()) };
    let mut selector = Selector::new(first, device, len)?;
    for &by in all {
        selector.set_predicate(by);
        let (mut kept, mut rest, mut positions) = (old.clone(), old.clone(), old_positions.clone());
        let (mut count, mut others) = (0, 0);
        for (index, &element) in input.iter().enumerate() {
            if by.is_kept(input, index) {
                (kept[count], positions[count]) = (element, index as u64);
                count += 1;
            } else {
                rest[others] = element;
                others += 1;
            }
        }
        let mut got_kept = device.upload(&old)?;
        let mut got_rest = device.upload(&old)?;
        let mut got_positions = device.upload(&old_positions)?;
        let mut got_count = device.upload(&[u64::MAX])?;
        let to = To {
            rest: Some(&mut got_rest),
            positions: Some(&mut got_positions),
            ..To::new(&mut got_kept, &mut got_count)
        };
        selector.launch_part(&on_device, 0..len, to)?;
        let case = format!("{by:?} of {len} elements");
        same(&case, "count", &got_count.download()?, &[count as u64])?;
        same(&case, "kept", &got_kept.download()?, &kept)?;
        same(&case, "rest", &got_rest.download()?, &rest)?;
        same(&case, "positions", &got_positions.download()?, &positions)?;
    }
    Ok(())
}

/// A length of two groups of four tiles, one tile and one element, in blocks of two warps of `rows`
/// rows.
fn in_groups<T: Scalar>(rows: u32) -> (Shape, usize) {
    let tile = Shape::with::<T>(0, 2, rows, 4).tile::<T>();
    let len = 9 * tile + 1;
    (Shape::with::<T>(len, 2, rows, 4), len)
}

/// Selects from three groups by each of `all`, in blocks of two warps of `rows` rows.
///
/// # Errors
/// As for [`select_case`].
fn select_in_groups_case<S>(
    all: impl Fn(&[S::Element]) -> Vec<S>,
    device: &Device,
    rows: u32,
    input: impl Fn(usize) -> Vec<S::Element>,
) -> Result<(), CaseError>
where
    S: Selectable<Element: Pod + Debug> + Debug,
{
    let (shape, len) = in_groups::<S::Element>(rows);
    let host = input(len);
    for by in all(&host) {
        SelectBench::new(by, device, shape, host.clone(), 0)?.run()?;
    }
    Ok(())
}

/// A kernel that selects, for running cases over all of them.
#[derive(Clone, Copy)]
pub struct SelectKind {
    /// The condition: `where` a comparison holds, or `unique`.
    pub op: &'static str,
    /// The element type of the array.
    pub element: &'static str,
    /// The entry point in the PTX.
    pub kernel: &'static str,
    /// Elements per pack of 16 bytes.
    pub pack: usize,
    /// Rows of a warp in a large array.
    pub most_rows: u32,
    /// [`select_case`] for this kernel: elements, seed.
    pub case: fn(&Device, usize, u64) -> Result<(), CaseError>,
    /// The same in three groups of tiles: rows of a warp.
    pub in_groups: fn(&Device, u32) -> Result<(), CaseError>,
}

impl SelectKind {
    fn of<S: Selectable>(
        op: &'static str,
        case: fn(&Device, usize, u64) -> Result<(), CaseError>,
        in_groups: fn(&Device, u32) -> Result<(), CaseError>,
    ) -> Self {
        Self {
            op,
            element: short_name::<S::Element>(),
            kernel: S::Kernel::NAME,
            pack: S::Element::PACK,
            most_rows: shape::<S::Element>(1 << 32).rows,
            case,
            in_groups,
        }
    }
}

/// Every kernel that selects.
#[must_use]
pub fn select_kinds() -> Vec<SelectKind> {
    let mut kinds = Vec::new();
    macro_rules! kind {
        ($ty:ident $($rest:tt)*) => {
            kinds.push(SelectKind::of::<Within<$ty>>(
                "where",
                |device, len, seed| {
                    let input = sample::<$ty>(Kind::Values, len, seed);
                    select_case(&shares(&input), device, &input)
                },
                |device, rows| {
                    let input = |len| sample::<$ty>(Kind::Values, len, 9);
                    select_in_groups_case(shares::<$ty>, device, rows, input)
                },
            ));
            kinds.push(SelectKind::of::<FirstOfRun<$ty>>(
                "unique",
                |device, len, seed| {
                    let input = runs::<$ty>(len, seed);
                    select_case(&[FirstOfRun::<$ty>::new(); 2], device, &input)
                },
                |device, rows| {
                    let first = |_: &[$ty]| vec![FirstOfRun::<$ty>::new()];
                    select_in_groups_case(first, device, rows, |len| runs(len, 9))
                },
            ));
        };
    }
    gridsync_entries::selected_elements!(kind);
    kinds
}
