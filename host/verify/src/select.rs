//! Cases of selections.

use super::kind::{Cases, Kind, Primitive, Size};
use super::{CaseError, Input, Sample, SelectBench, same_bits, sample};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use gridsync::device::Device;
use gridsync::primitives::select::{Comparable, FirstOfRun, Selector, To, Within};
use gridsync_entries::select::Selectable;
use gridsync_kernels::grid::scan::Shape;
use gridsync_kernels::grid::select::shape;
use std::fmt::Debug;

/// Predicates for [`select_case`] that keep none, one in a hundred, half, all but one in a hundred
/// and all of the elements, as nearly as the values allow, and one that keeps the nonzero elements.
fn shares<T: Comparable>(input: &[T]) -> Vec<Within<T>> {
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
    let values = sample::<T>(Input::Values, len, seed);
    let bits = sample::<u64>(Input::Values, len, !seed);
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
        same_bits(&case, "count has", &got_count.download()?, &[count as u64])?;
        same_bits(&case, "kept has", &got_kept.download()?, &kept)?;
        same_bits(&case, "rest has", &got_rest.download()?, &rest)?;
        same_bits(&case, "positions has", &got_positions.download()?, &positions)?;
    }
    Ok(())
}

/// A way to select.
struct Select<S: Selectable> {
    /// The input of a length and seed.
    input: fn(usize, u64) -> Vec<S::Element>,
    /// The predicates for an input.
    all: fn(&[S::Element]) -> Vec<S>,
    /// How often each predicate selects from an array in one workspace.
    times: usize,
}

impl<S> Cases for Select<S>
where
    S: Selectable<Element: Pod + Debug> + Debug,
{
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        match size {
            Size::Array(len) => {
                let host = (self.input)(len, seed);
                select_case(&(self.all)(&host).repeat(self.times), device, &host)
            }
            Size::Groups(rows) => {
                let tile = Shape::with::<S::Element>(0, 2, rows, 4).tile::<S::Element>();
                let host = (self.input)(9 * tile + 1, seed);
                let shape = Shape::with::<S::Element>(host.len(), 2, rows, 4);
                for by in (self.all)(&host) {
                    SelectBench::new(by, device, shape, host.clone(), 0)?.run()?;
                }
                Ok(())
            }
            other => Err(other.mismatch()),
        }
    }
}

/// The kind of the selection by predicates of `S`.
fn kind<S>(names: (&'static str, &'static str), cases: Select<S>) -> Kind
where
    S: Selectable<Element: Pod + Debug> + Debug,
{
    let tile = shape::<S::Element>(1).tile::<S::Element>();
    let kernels = &[S::Kernel::NAME];
    Kind {
        most_rows: shape::<S::Element>(1 << 32).rows,
        ..Kind::of::<S::Element, S::Element>(Primitive::Select, names, kernels, tile, cases)
    }
}

/// The kind of the selection of the elements that a comparison keeps.
pub(super) fn within<T>(name: &'static str) -> Kind
where
    T: Comparable + Sample + Pod + Debug,
    Within<T>: Selectable<Element = T> + Debug,
{
    let input = |len, seed| sample(Input::Values, len, seed);
    kind::<Within<T>>((name, "where"), Select { input, all: shares, times: 1 })
}

/// The kind of the selection of the first of each run of equal elements.
pub(super) fn unique<T>(name: &'static str) -> Kind
where
    T: Sample + Pod + Debug,
    FirstOfRun<T>: Selectable<Element = T> + Debug,
{
    let all = |_: &[T]| vec![FirstOfRun::new()];
    kind::<FirstOfRun<T>>((name, "unique"), Select { input: runs, all, times: 2 })
}
