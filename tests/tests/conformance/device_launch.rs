//! Kernels that launch kernels: results, orders, the arguments and memory that a child sees, and
//! refusals.

use cuda_std::device_runtime::Error;
use cuda_std::launch::{Kernel, KernelArgs};
use cuda_std::memory::Global;
use gridsync::device::cuda::Modules;
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_lab_kernels::device_launch::children::{copy, fill, mixed, multiply, note};
use gridsync_lab_kernels::device_launch::order::{
    block_streams, count_down, delegate, many, ordered, tail, unordered,
};
use gridsync_lab_kernels::device_launch::schedules::{serial, two_phases, two_streams};
use gridsync_lab_kernels::device_launch::values::{ask, hand_down, pass_mixed, refused};
use gridsync_tests::devices::{emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::{Policy, Schedule};
use std::collections::BTreeSet;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            in_the_emulator_every_schedule_computes_35_under_every_order,
            in_the_emulator_two_streams_run_in_either_order,
            in_the_emulator_an_event_and_a_tail_hold_under_every_order,
            in_the_emulator_too_many_pending_launches_are_refused,
            the_buffer_of_a_launch_has_the_layout_of_the_childs_parameters;
        thorough:
            every_schedule_computes_35_ten_thousand_times_on_cuda;
        on_each_backend:
            every_schedule_computes_35,
            two_streams_run_both_children,
            an_event_orders_two_streams,
            a_tail_launch_runs_after_all_other_children,
            the_default_stream_of_a_block_keeps_its_order,
            a_child_sees_what_its_parent_wrote,
            a_child_gets_arguments_of_every_size,
            a_kernel_launches_itself,
            a_block_that_is_too_large_is_an_error_and_nothing_runs,
            a_kernel_knows_its_device;
    }
}

/// The parents that compute `c = 5 · 7`.
const PARENTS: [(&str, Parent); 3] = [
    (serial::NAME, computes::<serial>),
    (two_streams::NAME, computes::<two_streams>),
    (two_phases::NAME, computes::<two_phases>),
];

type Parent = fn(&Device, usize, u32) -> Result<Vec<u32>, DeviceError>;

/// The values that a parent writes to `c`, of this length, when each child first spins for some
/// cycles. One refused wait for an event is tolerated: see
/// [`Stream::wait`](cuda_std::device_runtime::Stream::wait).
fn computes<K>(device: &Device, len: usize, cycles: u32) -> Result<Vec<u32>, DeviceError>
where
    K: Kernel<Args = (Global<u32>, Global<u32>, Global<u32>, u32, Global<u32>)>,
{
    let buffer = || device.upload(&vec![u32::MAX; len]);
    let (a, b, c, status) = (buffer()?, buffer()?, buffer()?, device.upload(&[u32::MAX])?);
    let args = (a.view(), b.view(), c.view(), cycles, status.view());
    // SAFETY: three buffers of one length and a word, which live until the downloads have waited.
    let launch = || unsafe { device.launch::<K>(&Geometry::new(1, 32), args) };
    launch()?;
    if K::NAME == two_streams::NAME && status.download()? == [Error::INVALID_VALUE.0] {
        launch()?;
    }
    let c = c.download()?;
    assert_eq!(status.download()?, [0], "{}", K::NAME);
    Ok(c)
}

fn all_35(device: &Device, len: usize, cycles: u32) {
    for (name, parent) in PARENTS {
        let c = parent(device, len, cycles).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(c, vec![35; len], "{name}, {len} elements, {cycles} cycles");
    }
}

pub(super) fn every_schedule_computes_35(device: &Device) {
    for (len, cycles) in [(1, 0), (127, 1000), (128, 0), (5000, 100)] {
        all_35(device, len, cycles);
    }
}

fn every_schedule_computes_35_ten_thousand_times_on_cuda() {
    with_cuda(|device| {
        for run in 0..10_000 {
            all_35(device, 256, 64 * (run % 8));
        }
    });
}

/// Schedules with many seeds, because a seed draws the order of children.
fn seeds() -> impl Iterator<Item = Schedule> {
    let drawn = (1..=16).map(|seed| Schedule::seeded(Policy::Random { quantum: 3 }, seed));
    schedules().into_iter().chain(drawn)
}

fn in_the_emulator_every_schedule_computes_35_under_every_order() {
    for schedule in seeds() {
        all_35(&emulator_under(schedule), 150, 3);
    }
}

/// The notes that the children of `K` write, in order, and the parent's status.
fn notes<K>(device: &Device, cycles: u32) -> (Vec<u32>, Error)
where
    K: Kernel<Args = (Global<u32>, u32, Global<u32>)>,
{
    let run = || {
        let (log, status) = (device.zeroed::<u32>(2100)?, device.upload(&[u32::MAX])?);
        let args = (log.view(), cycles, status.view());
        // SAFETY: room for more notes than any of the parents launches, and a word. Both live until
        // the downloads have waited.
        unsafe { device.launch::<K>(&Geometry::new(1, 1), args) }?;
        let log = log.download()?;
        Ok::<_, DeviceError>((log[1..=log[0] as usize].to_vec(), Error(status.download()?[0])))
    };
    run().unwrap_or_else(|error| panic!("{}: {error}", K::NAME))
}

/// Like [`notes`], for a parent whose launches all succeed.
pub(super) fn noted<K>(device: &Device, cycles: u32) -> Vec<u32>
where
    K: Kernel<Args = (Global<u32>, u32, Global<u32>)>,
{
    let (notes, status) = notes::<K>(device, cycles);
    assert_eq!(status, Error(0), "{}", K::NAME);
    notes
}

/// Duration of the first children in cycles, on any device.
const SLOW: u32 = 200_000;

fn cycles_on(device: &Device) -> u32 {
    if device.emulated().is_some() { 3 } else { SLOW }
}

pub(super) fn two_streams_run_both_children(device: &Device) {
    let mut found = noted::<unordered>(device, cycles_on(device));
    found.sort_unstable();
    assert_eq!(found, [1, 2]);
}

fn in_the_emulator_two_streams_run_in_either_order() {
    let orders: BTreeSet<_> =
        seeds().map(|schedule| noted::<unordered>(&emulator_under(schedule), 0)).collect();
    assert_eq!(orders, BTreeSet::from([vec![1, 2], vec![2, 1]]));
}

/// 2 waits for 1. Nothing orders 3, which is in the stream of 1, and 2.
fn keeps_the_event(notes: &[u32]) {
    assert!([[1, 2, 3], [1, 3, 2]].contains(&notes.try_into().expect("three notes")), "{notes:?}");
}

pub(super) fn an_event_orders_two_streams(device: &Device) {
    keeps_the_event(&noted::<ordered>(device, cycles_on(device)));
}

/// 3 and 4 are tail launches, and a child launches 2.
fn keeps_the_tail(notes: &[u32]) {
    assert!([[1, 2, 3, 4], [2, 1, 3, 4]].contains(&notes.try_into().expect("four")), "{notes:?}");
}

pub(super) fn a_tail_launch_runs_after_all_other_children(device: &Device) {
    keeps_the_tail(&noted::<tail>(device, cycles_on(device)));
}

fn in_the_emulator_an_event_and_a_tail_hold_under_every_order() {
    let mut orders = BTreeSet::new();
    for schedule in seeds() {
        let device = emulator_under(schedule);
        let (by_event, with_tail) = (noted::<ordered>(&device, 3), noted::<tail>(&device, 3));
        keeps_the_event(&by_event);
        keeps_the_tail(&with_tail);
        orders.extend([by_event, with_tail]);
    }
    assert_eq!(orders.len(), 4, "each allowed order should occur: {orders:?}");
}

fn in_the_emulator_too_many_pending_launches_are_refused() {
    let device = emulator_under(Schedule::new(Policy::Coarse));
    let (found, status) = notes::<many>(&device, 2048);
    assert_eq!((found.len(), status), (2048, Error(0)));
    let (found, status) = notes::<many>(&device, 2049);
    assert_eq!((found.len(), status), (2048, Error::LAUNCH_PENDING_COUNT_EXCEEDED));
}

pub(super) fn the_default_stream_of_a_block_keeps_its_order(device: &Device) {
    let blocks = 20;
    let run = || {
        let log = device.zeroed::<u32>(1 + 2 * blocks)?;
        let status = device.upload(&vec![u32::MAX; blocks])?;
        let args = (log.view(), cycles_on(device), status.view());
        // SAFETY: room for two notes of each block, and a word for each.
        unsafe { device.launch::<block_streams>(&Geometry::new(blocks as u32, 64), args) }?;
        Ok::<_, DeviceError>((log.download()?, status.download()?))
    };
    let (log, status) = run().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(status, vec![0; blocks]);
    let place = |number| log[1..].iter().position(|&noted| noted == number);
    for block in 0..blocks as u32 {
        let (first, second) = (place(2 * block), place(2 * block + 1));
        assert!(first.is_some() && first < second, "block {block}: {log:?}");
    }
}

pub(super) fn a_child_sees_what_its_parent_wrote(device: &Device) {
    let (blocks, threads) = (5, 96);
    let run = || {
        let len = (blocks * threads) as usize;
        let (values, copies) = (device.zeroed::<u32>(len)?, device.zeroed::<u32>(len)?);
        let status = device.upload(&vec![u32::MAX; blocks as usize])?;
        let args = (values.view(), copies.view(), status.view());
        // SAFETY: an element for each thread, and a word for each block.
        unsafe { device.launch::<hand_down>(&Geometry::new(blocks, threads), args) }?;
        Ok::<_, DeviceError>((copies.download()?, status.download()?))
    };
    let (copies, status) = run().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(status, vec![0; blocks as usize]);
    let expected = (0..blocks * threads).map(|i| if i % threads == 0 { 100 } else { i });
    assert_eq!(copies, expected.collect::<Vec<_>>());
}

pub(super) fn a_child_gets_arguments_of_every_size(device: &Device) {
    let run = || {
        let (out, status) = (device.zeroed::<u64>(7)?, device.upload(&[u32::MAX])?);
        // SAFETY: seven elements and a word.
        unsafe { device.launch::<pass_mixed>(&Geometry::new(1, 1), (out.view(), status.view())) }?;
        Ok::<_, DeviceError>((out.download()?, status.download()?))
    };
    let (out, status) = run().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(status, [0]);
    let [d, f] = [1.5f32.to_bits().into(), (-0.1f64).to_bits()];
    assert_eq!(out, [1, 1 << 40, 515, d, -2i64 as u64, f, -70_000i64 as u64]);
}

pub(super) fn a_kernel_launches_itself(device: &Device) {
    // Deeper than the limit of nesting: each tail launch replaces the one before it.
    let deep = 100;
    let found = noted::<count_down>(device, deep);
    assert_eq!(found, (0..=deep).rev().collect::<Vec<_>>());
}

/// The status of a launch of this shape, the status of the next launch, and the notes.
fn refusal(device: &Device, [blocks, threads, shared]: [u32; 3]) -> ([u32; 2], Vec<u32>) {
    let run = || {
        let (log, status) = (device.zeroed::<u32>(3)?, device.upload(&[u32::MAX; 2])?);
        let args = (log.view(), blocks, threads, shared, status.view());
        // SAFETY: room for two notes, and two words; the shape has one thread or is refused.
        unsafe { device.launch::<refused>(&Geometry::new(1, 1), args) }?;
        let log = log.download()?;
        let status = status.download()?;
        Ok::<_, DeviceError>(([status[0], status[1]], log[1..=log[0] as usize].to_vec()))
    };
    run().unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn a_block_that_is_too_large_is_an_error_and_nothing_runs(device: &Device) {
    assert_eq!(refusal(device, [1, 1, 1024]), ([0, u32::MAX], vec![1]), "one thread is fine");
    let wrong = Error::INVALID_CONFIGURATION.0;
    for shape in [[1, 2048, 0], [1, 0, 0], [0, 1, 0]] {
        assert_eq!(refusal(device, shape), ([wrong, 0], vec![7]), "{shape:?}");
    }
}

pub(super) fn a_kernel_knows_its_device(device: &Device) {
    let run = || {
        let (out, status) = (device.zeroed::<u32>(5)?, device.upload(&[u32::MAX])?);
        // SAFETY: five elements and a word.
        unsafe { device.launch::<ask>(&Geometry::new(1, 1), (out.view(), status.view())) }?;
        Ok::<_, DeviceError>((out.download()?, status.download()?))
    };
    let (out, status) = run().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(status, [0]);
    let of = device.properties();
    let expected =
        [0, of.max_threads_per_block, of.shared_per_block, of.warp_size, of.multiprocessors];
    assert_eq!(out, expected);
}

fn the_buffer_of_a_launch_has_the_layout_of_the_childs_parameters() {
    fn same<K: Kernel>(modules: &Modules<'_>) {
        let entry = modules.entry(K::NAME).expect("whole images").expect("the kernel is built");
        assert_eq!(offsets(&entry), K::Args::OFFSETS, "{}", K::NAME);
    }
    for compute in [75, 90] {
        let images = gridsync_lab::images::all();
        let modules = Modules::of(&images, compute).expect("whole images");
        same::<fill>(&modules);
        same::<multiply>(&modules);
        same::<note>(&modules);
        same::<copy>(&modules);
        same::<mixed>(&modules);
        same::<delegate>(&modules);
        same::<count_down>(&modules);
    }
}

/// Offsets of the parameters of an entry, from their declarations: `.param .u32 NAME`, or `.param
/// .align 8 .b8 NAME[16]` (PTX ISA, "Kernel Function Parameters").
fn offsets(entry: &str) -> Vec<usize> {
    let (head, _) = entry.split_once(')').expect("a list of parameters");
    let mut end = 0usize;
    let parameters = head.lines().filter(|line| line.contains(".param"));
    parameters
        .map(|line| {
            let words: Vec<&str> = line.trim().trim_end_matches(',').split_whitespace().collect();
            let number = |text: &str| text.parse::<usize>().expect("a number");
            let (align, size) = match words[..] {
                [_, ".align", align, ".b8", array] => {
                    let (_, size) = array.split_once('[').expect("an array");
                    (number(align), number(size.trim_end_matches(']')))
                }
                [_, scalar, _] => {
                    let bits = scalar.trim_start_matches(|c: char| !c.is_ascii_digit());
                    (number(bits) / 8, number(bits) / 8)
                }
                _ => panic!("no parameter: {line}"),
            };
            let offset = end.next_multiple_of(align);
            end = offset + size;
            offset
        })
        .collect()
}
