//! The CUDA backend on a driver that logs calls: which calls it makes, their order and arguments,
//! and how it handles errors. These tests do not check the results of kernels.

mod fake_driver;

use fake_driver::{DRIVER, GOOD, LAUNCHES, kernel, launch, log_of, open};
use gridsync::device::{
    Buffer, Device, DeviceError, Geometry, KernelAttributes, KernelInfo,
    cuda::{PtxImage, probe},
};
use std::{ffi::c_void, sync::LazyLock, thread};

#[test]
fn the_device_is_described_without_being_opened() {
    LazyLock::force(&DRIVER);
    let found = probe().expect("the fake driver has one device");
    assert_eq!(found.len(), 1);
    let properties = &found[0].properties;
    assert_eq!(properties.name, "Fake GPU");
    assert_eq!((properties.compute, properties.multiprocessors), (90, 4));
    assert_eq!(properties.driver_version, 13_000);
    assert_eq!(properties.peak_gb_per_s(), Some(1024.0));
    assert!(properties.cooperative && properties.cluster);
    assert_eq!(
        properties.shared_reserved_per_block, 0,
        "an attribute that the driver does not know is 0"
    );
    let error = Device::cuda(3, GOOD).expect_err("there is one device");
    assert_eq!(error, DeviceError::NoSuchDevice { ordinal: 3, count: 1 });
}

#[test]
fn arguments_and_results_pass_between_host_and_kernel_from_any_thread() {
    let device = open(GOOD);
    let mut buffer = device.zeroed::<u32>(2).expect("8 bytes fit");
    thread::scope(|scope| {
        let store = scope.spawn(|| {
            let (address, value) = (buffer.address() + 4, 0xfeed_u32);
            let args: [*const c_void; 2] = [(&raw const address).cast(), (&raw const value).cast()];
            let geometry = Geometry::new(1, 1);
            // SAFETY: `store` writes a u32 to an address, which is in `buffer`.
            unsafe { device.backend().launch(&kernel("a_store"), &geometry, &args) }
        });
        assert_eq!(store.join().expect("the thread does not panic"), Ok(()));
    });
    assert_eq!(buffer.download(), Ok(vec![0, 0xfeed]));
    buffer.copy_from(&[7, 8]).expect("the lengths match");
    assert_eq!(buffer.download(), Ok(vec![7, 8]));
    assert_eq!(
        log_of("a_store"),
        ["load a_store sm_90", "find a_store", "plain a_store 1,1,1 1,1,1 0"]
    );
}

#[test]
fn a_kernel_that_launches_another_is_linked_with_it_and_with_the_device_runtime() {
    let device = open(&[LAUNCHES]);
    let buffer = device.zeroed::<u32>(1).expect("4 bytes fit");
    let (address, value) = (buffer.address(), 7u32);
    let args: [*const c_void; 2] = [(&raw const address).cast(), (&raw const value).cast()];
    let geometry = Geometry::new(1, 1);
    // SAFETY: the kernel writes a u32 to an address, which is in `buffer`.
    let launched =
        unsafe { device.backend().launch(&kernel("launch_and_store"), &geometry, &args) };
    assert_eq!(launched, Ok(()));
    assert_eq!(buffer.download(), Ok(vec![7]));
    let library = DRIVER.path().join("devrt.a");
    assert_eq!(
        log_of("child,launch_and_store"),
        [
            format!("link child,launch_and_store {}", library.display()),
            "load child,launch_and_store sm_90".into()
        ]
    );
    assert_eq!(
        log_of("launch_and_store"),
        ["find launch_and_store", "plain launch_and_store 1,1,1 1,1,1 0"]
    );
    assert_eq!(launch(&device, &kernel("child"), geometry), Ok(()));
    assert_eq!(log_of("child")[0], "load child sm_90", "it launches nothing");
}

#[test]
fn a_cooperative_kernel_is_launched_cooperatively_with_any_geometry() {
    let device = open(GOOD);
    let barrier = KernelInfo { cooperative: true, ..kernel("barrier") };
    assert_eq!(launch(&device, &barrier, Geometry::new(8, 256)), Ok(()));
    assert_eq!(
        log_of("barrier"),
        ["load barrier sm_90", "find barrier", "ex barrier 8,1,1 256,1,1 0 cooperative=1"]
    );
}

#[test]
fn clusters_above_eight_are_opted_in_to_and_counted_by_the_driver() {
    let device = open(GOOD);
    let geometry = Geometry::new(32, 128).cooperative().clusters_of(16);
    assert_eq!(launch(&device, &kernel("wide"), geometry), Ok(()));
    assert_eq!(device.backend().active_clusters(&kernel("wide"), &geometry), Ok(3));
    let shape = "32,1,1 128,1,1 0 cooperative=1 cluster=16,1,1";
    assert_eq!(
        log_of("wide"),
        [
            "load wide sm_90".into(),
            "find wide".into(),
            "set wide 14=1".into(),
            format!("ex wide {shape}"),
            format!("clusters wide {shape}")
        ]
    );
}

#[test]
fn an_overlapping_launch_sets_its_attribute_and_needs_compute_90_kernels() {
    let device = open(GOOD);
    let geometry = Geometry::new(8, 256).overlapping();
    assert_eq!(launch(&device, &kernel("early"), geometry), Ok(()));
    assert_eq!(
        log_of("early"),
        ["load early sm_90", "find early", "ex early 8,1,1 256,1,1 0 programmatic=1"]
    );
    // An additional newer image changes nothing for a kernel that only the older one has.
    for images in [&GOOD[..1], GOOD] {
        let device = open(images);
        let error = launch(&device, &kernel("too_early"), geometry).expect_err("it cannot wait");
        assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains("compute_75"), "{error}");
    }
    assert!(log_of("too_early").is_empty());
}

#[test]
fn shared_memory_is_opted_in_to_once_and_never_lowered() {
    let device = open(GOOD);
    let tiles = kernel("tiles");
    for bytes in [40 << 10, 60 << 10, 50 << 10, 60 << 10] {
        let geometry = Geometry::new(1, 64).with_dynamic_shared(bytes);
        assert_eq!(launch(&device, &tiles, geometry), Ok(()));
    }
    let set: Vec<_> = log_of("tiles").into_iter().filter(|line| line.starts_with("set")).collect();
    assert_eq!(set, ["set tiles 8=61440"]);
    assert_eq!(
        device.backend().occupancy(&tiles, 64, 227 << 10),
        Err(DeviceError::SharedTooLarge {
            kernel: "tiles",
            static_shared: 1024,
            dynamic_shared: 227 << 10,
            limit: 227 << 10
        })
    );
}

#[test]
fn a_grid_that_cannot_be_resident_is_refused_with_what_would_fit() {
    let device = open(GOOD);
    let geometry = Geometry::new(9, 256).cooperative();
    assert_eq!(
        launch(&device, &kernel("too_large"), geometry),
        Err(DeviceError::GridTooLarge {
            kernel: "too_large",
            geometry,
            resident: 8,
            device: "Fake GPU".into(),
            multiprocessors: 4
        })
    );
}

#[test]
fn a_kernel_is_compiled_alone_at_its_first_use_from_the_newest_image_that_has_it() {
    let device = open(GOOD);
    for _ in 0..2 {
        assert_eq!(
            device.backend().attributes(&kernel("attributes")),
            Ok(KernelAttributes {
                registers: 40,
                static_shared: 1024,
                local: 0,
                max_threads: 1024
            })
        );
    }
    assert_eq!(log_of("attributes"), ["load attributes sm_90", "find attributes"]);
    assert!(log_of("unasked").is_empty());
    let older = device.backend().attributes(&kernel("only_older"));
    assert!(older.is_ok(), "{older:?}");
    assert_eq!(log_of("only_older"), ["load only_older sm_75", "find only_older"]);
    assert_eq!(
        device.backend().attributes(&kernel("missing")),
        Err(DeviceError::UnknownKernel { name: "missing", image: 90 })
    );
    assert!(log_of("missing").is_empty());
}

#[test]
fn a_kernel_stays_loaded_as_long_as_its_device() {
    let device = open(GOOD);
    let twice = [(); 2].map(|()| launch(&device, &kernel("brief"), Geometry::new(1, 32)));
    assert_eq!(twice, [Ok(()), Ok(())]);
    drop(device);
    assert_eq!(
        log_of("brief"),
        [
            "load brief sm_90",
            "find brief",
            "plain brief 1,1,1 32,1,1 0",
            "plain brief 1,1,1 32,1,1 0",
            "unload brief"
        ]
    );
}

#[test]
fn rejected_ptx_shows_the_compiler_log() {
    let device = open(&[PtxImage::text(90, ".target broken\n.visible .entry any()\n{\n}\n")]);
    let error = launch(&device, &kernel("any"), Geometry::new(1, 1)).expect_err("it is broken");
    let said = error.to_string();
    for part in ["CUDA_ERROR_INVALID_PTX (218)", "`any` of the compute_90", "near 'broken'"] {
        assert!(said.contains(part), "{part} in: {said}");
    }
}

#[test]
fn a_fault_names_the_kernel_and_reports_the_lost_context() {
    let device = open(GOOD);
    let geometry = Geometry::new(4, 32);
    assert_eq!(launch(&device, &kernel("fault"), geometry), Ok(()));
    let error = device.synchronize().expect_err("the kernel faulted");
    assert!(matches!(error, DeviceError::Lost { .. }), "{error}");
    let said = error.to_string();
    for part in [
        "CUDA_ERROR_ILLEGAL_ADDRESS (700)",
        "`fault` with 4 blocks of 32 threads",
        "context is lost",
    ] {
        assert!(said.contains(part), "{part} in: {said}");
    }
    assert!(matches!(launch(&device, &kernel("after"), geometry), Err(DeviceError::Lost { .. })));
}

#[test]
fn out_of_memory_reports_the_requested_and_free_bytes() {
    let device = open(GOOD);
    let refused: Result<Buffer<u64>, _> = device.alloc(1 << 40);
    let Err(DeviceError::OutOfMemory { requested, free, total }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((requested, total), (1 << 43, 1 << 30));
    assert!(0 < free && free <= total, "{free}");
}

#[test]
fn event_times_are_microseconds_and_failing_work_keeps_its_error() {
    let device = open(GOOD);
    let timed = kernel("timed");
    let launched = || launch(&device, &timed, Geometry::new(1, 32));
    assert_eq!(device.time(launched), Ok(1500.0));
    let mismatch = DeviceError::LengthMismatch { buffer: 1, given: 2 };
    assert_eq!(device.time(|| Err(mismatch.clone())), Err(mismatch.clone()));
}
