//! Input and outputs that start at any element: the same results, and nothing outside changes.

use super::{first, same_bits};
use bytemuck::Pod;
use gridsync::device::Device;
use gridsync::primitives::Selector;
use gridsync::primitives::select::{Comparable, FirstOfRun, To, Within};
use gridsync::primitives::select::{partition_on_cpu, positions_on_cpu};
use gridsync_entries::select::Selectable;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Sample, runs, sample};
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    trials! {
        on_each_backend:
            f32_where_from_any_start,
            u64_where_from_any_start,
            i32_runs_from_any_start,
            f64_runs_from_any_start;
    }
}

/// Every start of the input and of the outputs past an aligned address.
fn every_start<S>(device: &Device, by: S, sampled: fn(usize, u64) -> Vec<S::Element>)
where
    S: Selectable<Element: Pod + Sample + Debug> + Debug,
{
    let mut selector = Selector::new(by, device, 3000).expect("a selector should fit");
    for len in [0, 1, 7, 33, 2999] {
        let starts = (0..=5).map(|start| (start, 0));
        for (from, into) in starts.chain((0..=5).map(|start| (0, start))).chain([(3, 1), (1, 3)]) {
            // Elements around the input would change the result; elements around the outputs must
            // not change.
            let host = sampled(from + len + 9, len as u64);
            let old = sample::<S::Element>(Input::Values, into + len, 1);
            let old_positions = vec![u64::MAX; into + len];
            let input = device.upload(&host).expect("the input should fit");
            let upload = || device.upload(&old).expect("the outputs should fit");
            let (mut kept, mut rest) = (upload(), upload());
            let mut positions = device.upload(&old_positions).expect("the outputs should fit");
            let mut count = device.zeroed(1).expect("the outputs should fit");
            let to = To {
                kept: &mut kept,
                rest: Some(&mut rest),
                positions: Some(&mut positions),
                count: &mut count,
                from: into,
            };
            let part = from..from + len;
            selector.launch_part(&input, part.clone(), to).expect("it should launch");

            let what = format!("{by:?}, {len} from {from} into {into}");
            let over = |mut old: Vec<S::Element>, new: &[S::Element]| {
                old[into..into + new.len()].copy_from_slice(new);
                old
            };
            let [inside, outside] = partition_on_cpu(by, &host[part.clone()]);
            same_bits(&what, &first(&kept, into + len), &over(old.clone(), &inside));
            same_bits(&what, &first(&rest, into + len), &over(old.clone(), &outside));
            let mut expected = old_positions;
            let indices = positions_on_cpu(by, &host[part]);
            expected[into..into + indices.len()].copy_from_slice(&indices);
            same_bits(&what, &first(&positions, into + len), &expected);
            same_bits(&what, &first(&count, 1), &[inside.len() as u64]);
        }
    }
}

fn comparisons<T: Comparable + Pod + Sample + Debug>(device: &Device)
where
    Within<T>: Selectable<Element = T>,
{
    let values = |len, seed| sample::<T>(Input::Values, len, seed);
    every_start(device, Within::greater_than(T::ZERO), values);
    every_start(device, Within::<T>::not_nan(), values);
}

fn f32_where_from_any_start(device: &Device) {
    comparisons::<f32>(device)
}

fn u64_where_from_any_start(device: &Device) {
    comparisons::<u64>(device)
}

fn i32_runs_from_any_start(device: &Device) {
    every_start(device, FirstOfRun::<i32>::new(), runs)
}

fn f64_runs_from_any_start(device: &Device) {
    every_start(device, FirstOfRun::<f64>::new(), runs)
}
