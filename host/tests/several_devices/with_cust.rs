//! cust memory on one of several GPUs.

use crate::fake_driver::controls::Launches;
use crate::memory::waits_for_gpu_1;
use crate::{Machine, both, launch, waiting};
use cust::memory::DeviceBuffer;
use gridsync::device::Buffer;
use std::{mem, sync::Arc};

#[test]
fn cust_gets_memory_after_the_work_of_all_gpus() {
    let machine = Machine::of(2);
    let devices = both();
    let memory = devices[0].zeroed::<u32>(64).expect("there is room");
    machine.controls.launches(1, Launches::Endless);
    launch::<waiting>(&devices).expect("it is launched");
    waits_for_gpu_1(&machine, move || {
        // Dropping it would free it at once, in whatever context is current.
        mem::forget(memory.into_cust().expect("nothing has failed"));
    });
    machine.controls.launches(1, Launches::Run);
    drop(devices);
    assert_eq!(machine.controls.live(), "1 allocation");
}

#[test]
fn memory_is_not_lent_to_one_of_several_gpus() {
    let machine = Machine::of(2);
    let devices = both();
    let lent = DeviceBuffer::from_slice(&[1.0f32; 64]).expect("a context is current");
    for device in &devices {
        let refused = device.lend(&lent, |_| Ok(())).expect_err("the work may never end");
        assert!(refused.to_string().contains("Buffer::from_shared"), "{refused}");
    }
    let last = devices.len() - 1;
    let shared = Buffer::from_shared(&devices[last], Arc::new(lent)).expect("it is its memory");
    assert_eq!(shared.download(), Ok(vec![1.0; 64]));
    drop((shared, devices));
    assert_eq!(machine.controls.live(), "");
}
