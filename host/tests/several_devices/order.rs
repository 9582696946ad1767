//! The order in which kernels that wait for each other reach the GPUs.

use crate::fake_driver::controls::Launches;
use crate::fake_driver::{log, log_of};
use crate::{Machine, both, halfway, launch, of_gpu, one, recorded, waiting, whole};
use gridsync::device::{DeviceError, Devices, Launch};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, process::Command, thread};

/// Number of launches of a kernel so far.
fn launches_of(kernel: &str) -> usize {
    log_of(kernel).iter().filter(|line| line.starts_with("plain")).count()
}

/// Launches `halfway` on all devices, on another thread. Returns between the launches on GPU 0 and
/// on GPU 1.
fn launch_halfway(machine: &Machine, devices: &Devices) -> thread::JoinHandle<()> {
    machine.controls.launches(1, Launches::Late);
    let (devices, before) = (devices.clone(), launches_of("halfway"));
    let launching = thread::spawn(move || launch::<halfway>(&devices).expect("it is launched"));
    while launches_of("halfway") == before {
        thread::sleep(Duration::from_millis(1));
    }
    launching
}

#[test]
fn launches_of_two_threads_are_in_the_same_order_on_every_gpu() {
    let machine = Machine::of(2);
    for others in [both(), both()].iter().map(Some).chain([None]) {
        let devices = both();
        let since = log().len();
        let launching = launch_halfway(&machine, &devices);
        launch::<whole>(others.unwrap_or(&devices)).expect("it is launched");
        launching.join().expect("it is launched");
        let log = log().split_off(since);
        let launched = log.iter().filter_map(|line| line.strip_prefix("plain "));
        let launched: Vec<_> = launched.filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(launched, ["halfway", "halfway", "whole", "whole"]);
    }
    assert_eq!(machine.controls.live(), "");
}

/// A GPU that waited for an event after the first half of a launch would never reach the second
/// half.
#[test]
fn an_event_is_before_or_after_a_launch_on_all_and_not_in_between() {
    type Record = fn(&Devices) -> Result<(), DeviceError>;
    let machine = Machine::of(2);
    let records: [Record; 2] = [|devices| devices[0].record_event().map(drop), Devices::meet];
    for record in records {
        let devices = both();
        let before = launches_of("halfway");
        let launching = launch_halfway(&machine, &devices);
        record(&devices).expect("nothing has failed");
        assert_eq!(launches_of("halfway"), before + 2);
        launching.join().expect("it is launched");
    }
    assert_eq!(machine.controls.live(), "");
}

/// Otherwise, one launch could hold GPU 0 and another one GPU 1, and each would wait for room on
/// the other GPU.
#[test]
fn a_launch_waits_for_those_of_other_devices_on_the_same_gpus() {
    let machine = Machine::of(4);
    let (devices, on_the_same) = (both(), both());
    let apart = Devices::cuda(&[2, 3], crate::IMAGES).expect("there are four");
    let idle = |devices: &Devices| devices.each(|_, device| device.backend().is_idle());
    for (earlier, later) in [(&devices, &on_the_same), (&on_the_same, &devices)] {
        machine.controls.launches(0, Launches::Endless);
        launch::<waiting>(earlier).expect("it is launched");
        machine.controls.launches(0, Launches::Run);
        launch::<waiting>(later).expect("it is launched");
        launch::<waiting>(&apart).expect("it is launched");
        let (of_later, of_apart) = (idle(later), idle(&apart));
        machine.controls.end();
        assert_eq!(of_later, Ok(vec![false, true]), "GPU 0 has an earlier launch");
        assert_eq!(of_apart, Ok(vec![true, true]), "they are other GPUs");
        assert_eq!((earlier.synchronize(), later.synchronize()), (Ok(()), Ok(())));
    }
    drop((devices, on_the_same, apart));
    assert_eq!(machine.controls.live(), "");
}

#[test]
fn a_launch_that_a_recording_of_another_thread_refuses_starts_on_no_gpu() {
    let machine = Machine::of(2);
    let devices = both();
    launch::<recorded>(&devices).expect("both kernels are loaded");
    let (begun, is_recording) = mpsc::channel();
    let (end, may_end) = mpsc::channel();
    let before = launches_of("recorded");
    thread::scope(|scope| {
        let devices = &devices;
        scope.spawn(move || {
            let graph = devices[1].record(|| {
                begun.send(()).expect("it is awaited");
                may_end.recv().expect("it is sent");
                Ok(())
            });
            graph.expect("nothing is recorded");
        });
        is_recording.recv().expect("the recording begins");
        let (gpu, error) = of_gpu(launch::<recorded>(devices));
        end.send(()).expect("it is awaited");
        assert!(gpu == 1 && matches!(error, DeviceError::RecordingElsewhere { .. }), "{error}");
    });
    assert_eq!(launches_of("recorded"), before);
    assert_eq!((launch::<recorded>(&devices), devices.synchronize()), (Ok(()), Ok(())));
    drop(devices);
    assert_eq!(machine.controls.live(), "");
}

#[test]
fn a_launch_on_several_gpus_is_refused_where_launches_block() {
    const VARIABLE: &str = "CUDA_LAUNCH_BLOCKING";
    if env::var(VARIABLE).as_deref() != Ok("1") {
        // The driver reads the variable once, so the test runs in a new process.
        let test = "order::a_launch_on_several_gpus_is_refused_where_launches_block";
        let this = env::current_exe().expect("a test knows where it is");
        let run = Command::new(this).args(["--exact", test]).env(VARIABLE, "1").output();
        let run = run.expect("it runs");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
        return;
    }
    let _machine = Machine::of(2);
    let devices = both();
    let refused = launch::<waiting>(&devices).expect_err("it would never end");
    assert_eq!(refused, DeviceError::LaunchBlocking { value: "1".into(), gpus: 2 });
    assert!(refused.to_string().contains("CUDA_LAUNCH_BLOCKING=1"), "{refused}");
    assert_eq!(launches_of("waiting"), 0);
    let alone = Devices::from(&devices[0]);
    // SAFETY: the kernel accesses no memory.
    let launched = unsafe { alone.launch(&[Launch::new::<waiting>(one(), ())]) };
    assert_eq!((launched, devices.synchronize()), (Ok(()), Ok(())));
}
