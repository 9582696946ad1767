//! Cases of selections.

use super::{CaseError, Kind, Sample, sample};
use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::primitives::select::{Comparable, FirstOfRun, Selector, To, Within};
use gridsync_entries::select::Selectable;
use std::fmt::Debug;

/// Elements of which none, one in a hundred, half, all but one in a hundred and all are kept, or as
/// near to it as they let one come: predicates for [`select_case`].
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

/// `len` sampled elements in runs of equal ones: of one element, of a few, and of some hundreds.
#[must_use]
pub fn runs<T: Sample>(len: usize, seed: u64) -> Vec<T> {
    let values = sample::<T>(Kind::Values, len, seed);
    let bits = sample::<u64>(Kind::Values, len, !seed);
    let mut at = 0;
    (0..len)
        .map(|index| {
            // How likely a run ends changes every 700 elements.
            let one_in = [1, 4, 200][index / 700 % 3];
            if bits[index].is_multiple_of(one_in) {
                at = index;
            }
            values[at]
        })
        .collect()
}

/// Selects from `input` by each of `all`, with everything that can be asked for, in one workspace one
/// after the other, and compares with a loop.
///
/// # Errors
/// [`CaseError::Wrong`] if a bit differs, or if what lies behind the results was changed; and those of
/// the device.
pub fn select_case<S>(all: &[S], device: &Device, input: &[S::Element]) -> Result<(), CaseError>
where
    S: Selectable<Element: Pod + Debug> + Debug,
{
    let len = input.len();
    let mut selector = Selector::new(device, len)?;
    let on_device = device.upload(input)?;
    // What is in the outputs before: none of it may be taken for a result.
    let old: Vec<S::Element> = input.iter().rev().copied().collect();
    let old_positions = vec![u64::MAX; len];
    for &by in all {
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
        selector.launch_part(by, &on_device, 0..len, to)?;
        let case = format!("{by:?} of {len} elements");
        same(&case, "count", &got_count.download()?, &[count as u64])?;
        same(&case, "kept", &got_kept.download()?, &kept)?;
        same(&case, "rest", &got_rest.download()?, &rest)?;
        same(&case, "positions", &got_positions.download()?, &positions)?;
    }
    Ok(())
}

/// Nothing if both have the same bits.
fn same<A: Pod + Debug>(
    case: &str,
    what: &str,
    got: &[A],
    expected: &[A],
) -> Result<(), CaseError> {
    let differ = |(a, b): (&A, &A)| bytemuck::bytes_of(a) != bytemuck::bytes_of(b);
    match got.iter().zip(expected).position(differ) {
        None => Ok(()),
        Some(at) => Err(CaseError::Wrong(format!(
            "{case}: {what} has {:?} at {at}, not the bits of {:?}",
            got[at], expected[at]
        ))),
    }
}

/// One kernel that selects, for running cases over all of them.
#[derive(Clone, Copy)]
pub struct SelectKind {
    /// What it selects by: `where` a comparison holds, or `unique`.
    pub op: &'static str,
    /// What the array holds.
    pub element: &'static str,
    /// [`select_case`] for this kernel, on so many elements of that seed.
    pub case: fn(&Device, usize, u64) -> Result<(), CaseError>,
}

macro_rules! kinds {
    ($($element:ident)*) => {
        /// Every kernel there is that selects.
        #[must_use]
        pub fn select_kinds() -> Vec<SelectKind> {
            vec![$(
                SelectKind {
                    op: "where",
                    element: stringify!($element),
                    case: |device, len, seed| {
                        let input = sample::<$element>(Kind::Values, len, seed);
                        select_case(&shares(&input), device, &input)
                    },
                },
                SelectKind {
                    op: "unique",
                    element: stringify!($element),
                    case: |device, len, seed| {
                        let input = runs::<$element>(len, seed);
                        select_case(&[FirstOfRun::<$element>::new(); 2], device, &input)
                    },
                },
            )*]
        }
    };
}
kinds! { f32 f64 i32 u32 i64 u64 }
