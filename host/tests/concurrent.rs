//! Launches that run at the same time: streams, events, graphs, overlapping kernels, and faults.

use cuda_std::dependent::{let_next_start, wait_for_previous};
use cuda_std::prelude::{Global, kernel, thread};
use gridsync::check::{Check, Failure, Passed, Wrong};
use gridsync::device::{
    Buffer, Device, DeviceError, Emulator, EmulatorConfig, Geometry, Launch, Ordered, Way,
};
use gridsync::primitives::{Reducer, sort};
use gridsync::reference::Order;
use gridsync_kernels::op::Sum;
use simt::{Fault, MissingOrder};

const THREADS: usize = 2;

/// Writes the squares of the numbers of its threads, and one more.
#[kernel]
unsafe fn squares(part: Global<u32>) {
    let_next_start();
    let at = thread::index();
    part.write(at, (at * at) as u32);
    if at == 0 {
        part.write(THREADS, (THREADS * THREADS) as u32);
    }
}

/// Computes the differences of neighbours. Waits before it reads them, or after.
#[kernel]
unsafe fn differences(part: Global<u32>, out: Global<u32>, waits_first: u32) {
    let at = thread::index();
    if waits_first == 1 {
        wait_for_previous();
    }
    let difference = part.read(at + 1).wrapping_sub(part.read(at));
    if waits_first == 0 {
        wait_for_previous();
    }
    out.write(at, difference);
}

/// Runs both kernels, the second of which overlaps the first.
fn overlapped(device: &Device, waits_first: bool) -> Result<(), Wrong> {
    let (part, out) = (device.zeroed::<u32>(THREADS + 1)?, device.zeroed::<u32>(THREADS)?);
    let geometry = Geometry::new(1, THREADS as u32);
    let second = geometry.overlapping();
    // SAFETY: a word for each thread, and one more of `part`. They live until the download.
    unsafe {
        device.launch::<squares>(&geometry, (part.view(),))?;
        device.launch::<differences>(&second, (part.view(), out.view(), u32::from(waits_first)))?;
    }
    match out.download()?[..] {
        [1, 3] => Ok(()),
        ref other => Err(format!("differences {other:?}").into()),
    }
}

/// The kernels of the race that a check found, and what is missing.
fn race(checked: Result<Passed, Box<Failure>>) -> ([String; 2], MissingOrder) {
    let failure = checked.expect_err("nothing orders the kernels");
    let race = match &failure.what {
        Wrong::Device(DeviceError::Fault(fault)) => match &**fault {
            Fault::Race(race) => race.clone(),
            fault => panic!("{fault}"),
        },
        _ => failure.cause.as_ref().expect("a race").race.clone(),
    };
    let mut kernels = [&race.earlier, &race.later].map(|it| it.site.kernel.to_string());
    kernels.sort();
    (kernels, race.missing.clone())
}

#[test]
fn a_check_finds_a_kernel_that_waits_for_the_previous_one_too_late() {
    let few = || Check::default().schedules(20);
    few().run(|device| overlapped(device, true)).expect("it waits first");
    let (kernels, missing) = race(few().run(|device| overlapped(device, false)));
    assert_eq!(kernels, ["differences", "squares"]);
    assert_eq!(missing, MissingOrder::Grids { overlaps: true });
    let failure = few().run(|device| overlapped(device, false)).expect_err("it waits too late");
    let story = failure.story.expect("it fails again").to_string();
    assert!(
        story.contains("kernel squares, ") && story.contains("kernel differences, "),
        "{story}"
    );
}

#[test]
fn a_check_reports_that_the_wait_for_the_previous_kernel_is_needed() {
    let weakened = Check::default().schedules(20).weaken(|device| overlapped(device, true));
    let weakened = weakened.expect("it is right as it is written");
    let waits = weakened.iter().filter(|it| it.weaken.site.does == simt::Orders::DependencyWait);
    let caught: Vec<bool> = waits.map(|it| it.caught.is_some()).collect();
    assert_eq!(caught, [true]);
}

/// Adds its argument to a word.
#[kernel]
unsafe fn add(word: Global<u32>, what: u32) {
    word.write(0, word.read(0) + what);
}

const ONE: fn() -> Geometry = || Geometry::new(1, 1);

fn sums(word: &Buffer<u32>) -> Result<(), Wrong> {
    match word.download()?[0] {
        3 => Ok(()),
        other => Err(format!("the sum is {other}").into()),
    }
}

/// Adds twice in two streams, perhaps with an event between them.
fn in_two_streams(device: &Device, has_event: bool) -> Result<(), Wrong> {
    let (word, other) = (device.zeroed::<u32>(1)?, device.new_stream()?);
    // SAFETY: one word, which lives until the download.
    unsafe { device.launch::<add>(&ONE(), (word.view(), 1))? };
    if has_event {
        other.wait_for(&device.record_event()?)?;
    }
    // SAFETY: one word, which lives until the download.
    unsafe { other.launch::<add>(&ONE(), (word.view(), 2))? };
    other.synchronize()?;
    sums(&word)
}

#[test]
fn two_streams_race_unless_an_event_is_between_them() {
    let few = || Check::default().schedules(20);
    few().run(|device| in_two_streams(device, true)).expect("an event orders the kernels");
    let (kernels, missing) = race(few().run(|device| in_two_streams(device, false)));
    assert_eq!(kernels, ["add (grid 0)", "add (grid 1)"]);
    assert_eq!(missing, MissingOrder::Grids { overlaps: false });
}

#[test]
fn the_nodes_of_a_graph_race_unless_an_edge_orders_them() {
    let run = |device: &Device, after: &[usize]| {
        let word = device.zeroed::<u32>(1)?;
        let launches = [1, 2].map(|what| Launch::new::<add>(ONE(), (word.view(), what)));
        let [first, second] = &launches;
        let nodes = [
            Ordered { launch: first, after: Vec::new() },
            Ordered { launch: second, after: after.to_vec() },
        ];
        let graph = device.assemble(&nodes, Way::Built)?;
        // SAFETY: one word, which lives until the download.
        unsafe { graph.launch()? };
        sums(&word)
    };
    let few = || Check::default().schedules(20);
    few().run(|device| run(device, &[0])).expect("an edge orders the kernels");
    let (_, missing) = race(few().run(|device| run(device, &[])));
    assert_eq!(missing, MissingOrder::Grids { overlaps: false });
}

#[test]
fn launches_of_one_stream_and_of_a_recording_run_in_order() {
    let checked = Check::default().schedules(10).run(|device| {
        let word = device.zeroed::<u32>(1)?;
        // SAFETY: one word, which lives until the download.
        let launch = |what: u32| unsafe { device.launch::<add>(&ONE(), (word.view(), what)) };
        launch(1)?;
        let graph = device.record(|| launch(2))?;
        // SAFETY: one word, which lives until the download.
        unsafe { graph.launch()? };
        sums(&word)?;
        let done = device.record_event()?;
        match done.is_done()? {
            true => Ok(()),
            false => Err("nothing is left to do".into()),
        }
    });
    checked.expect("a stream is in order");
}

/// Reads a word that was never written.
#[kernel]
unsafe fn read_unwritten(word: Global<u32>) {
    word.write(0, word.read(0));
}

#[test]
fn a_fault_is_the_error_of_the_next_call_and_a_refusal_that_of_the_launch() {
    let config = EmulatorConfig { concurrent: true, ..EmulatorConfig::default() };
    let device = Device::new(Emulator::new(config));
    let word = device.alloc::<u32>(1).expect("a word");
    // SAFETY: one word, which lives until it is dropped after the launch.
    unsafe { device.launch::<read_unwritten>(&ONE(), (word.view(),)) }.expect("it has not run");
    let large = Geometry::new(1, 2048);
    // SAFETY: it does not run.
    let refused = unsafe { device.launch::<read_unwritten>(&large, (word.view(),)) };
    assert!(matches!(refused, Err(DeviceError::Fault(_))), "{refused:?}");
    drop(word);
    let fault = device.synchronize();
    assert!(matches!(fault, Err(DeviceError::Fault(_))), "{fault:?}");
    let stopped = device.synchronize();
    assert!(matches!(stopped, Err(DeviceError::Stopped { .. })), "{stopped:?}");
}

#[test]
fn a_launch_that_nothing_waits_for_is_part_of_a_check() {
    let checked = Check::default().schedules(4).run(|device| {
        let word = device.alloc::<u32>(1)?;
        // SAFETY: one word; dropping it waits for the launch.
        Ok(unsafe { device.launch::<read_unwritten>(&ONE(), (&word,)) }?)
    });
    let failure = checked.expect_err("it reads what nobody wrote");
    assert!(matches!(failure.what, Wrong::Device(DeviceError::Fault(_))), "{failure}");
}

#[test]
fn the_overlapping_kernels_of_primitives_wait_for_each_other() {
    let run = |device: &Device, count: u32| {
        let mixed = |at: u32| at.wrapping_mul(2_654_435_761) >> 7;
        let values: Vec<u32> = (0..count).map(mixed).collect();
        let input = device.upload(&values)?;
        let mut expected = values.clone();
        expected.sort_unstable();
        if sort(Order::ASCENDING, &input)?.download()? != expected {
            return Err("not sorted".into());
        }
        let wide: Vec<u64> = values.iter().map(|&value| value.into()).collect();
        let input = device.upload(&wide)?;
        let mut sum = Reducer::new(Sum::<u64>::new(), device)?;
        sum.launch(&input)?;
        sum.launch(&input)?;
        let expected: u64 = wide.iter().sum();
        if sum.result()? != expected {
            return Err("wrong sum".into());
        }
        Ok(())
    };
    for count in [100, 40_000] {
        let checked = Check::default().schedules(2).run(|device| run(device, count));
        checked.unwrap_or_else(|failure| panic!("{count}: {failure}"));
    }
}
