//! Buffers over a backend that only has memory.

use super::*;
use std::{
    collections::HashMap,
    ffi::c_void,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

/// Device memory: byte vectors by their start address.
#[derive(Default)]
struct Shelf {
    properties: Properties,
    live: Mutex<HashMap<u64, Vec<u8>>>,
    next: AtomicU64,
}

// SAFETY: it runs nothing, and its map checks addresses.
unsafe impl Backend for Arc<Shelf> {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Result<usize, DeviceError> {
        Ok(1 << 20)
    }

    fn alloc(&self, bytes: usize) -> Result<u64, DeviceError> {
        assert!(bytes > 0, "an empty buffer asks for no memory");
        if bytes > 1 << 20 {
            return Err(DeviceError::OutOfMemory {
                requested: bytes,
                free: 1 << 20,
                total: 1 << 20,
            });
        }
        let address = 256 * (1 + self.next.fetch_add(1, Ordering::Relaxed));
        let mut live = self.live.lock().expect("no test panics with the lock");
        live.insert(address, vec![0xa5; bytes]);
        Ok(address)
    }

    unsafe fn free(&self, address: u64) {
        let mut live = self.live.lock().expect("no test panics with the lock");
        live.remove(&address).expect("what is freed should be live");
    }

    unsafe fn upload(&self, to: u64, from: &[u8]) -> Result<(), DeviceError> {
        let mut live = self.live.lock().expect("no test panics with the lock");
        live.get_mut(&to).expect("a copy's target should be live").copy_from_slice(from);
        Ok(())
    }

    unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError> {
        to.copy_from_slice(&self.live.lock().expect("no test panics with the lock")[&from]);
        Ok(())
    }

    unsafe fn zero(&self, at: u64, bytes: usize) -> Result<(), DeviceError> {
        // SAFETY: the caller upholds the contract of `zero`, which covers that of `upload`.
        unsafe { self.upload(at, &vec![0; bytes]) }
    }

    unsafe fn launch(
        &self,
        _: &KernelInfo,
        _: &Geometry,
        _: &[*const c_void],
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    fn attributes(&self, _: &KernelInfo) -> Result<KernelAttributes, DeviceError> {
        Ok(KernelAttributes { registers: 32, static_shared: 0, local: 0, max_threads: 1024 })
    }

    fn occupancy(&self, _: &KernelInfo, _: u32, _: u32) -> Result<u32, DeviceError> {
        Ok(3)
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn time(
        &self,
        _: &mut dyn FnMut() -> Result<(), DeviceError>,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError> {
        work().map(|()| 0.0)
    }
}

fn shelf() -> (Arc<Shelf>, Device) {
    let shelf = Arc::new(Shelf {
        properties: Properties { multiprocessors: 10, ..Properties::default() },
        ..Shelf::default()
    });
    (shelf.clone(), Device::new(shelf))
}

#[test]
fn uploaded_data_is_downloaded_unchanged() {
    let (_, device) = shelf();
    let host: Vec<f64> = (0..1000).map(f64::from).collect();
    let mut buffer = device.upload(&host).expect("1000 elements fit");
    assert_eq!(buffer.download().as_deref(), Ok(&host[..]));
    buffer.copy_from(&[2.0; 1000]).expect("the lengths match");
    assert_eq!(buffer.download(), Ok(vec![2.0; 1000]));
    assert_eq!(device.zeroed::<u32>(5).expect("5 fit").download(), Ok(vec![0; 5]));
}

#[test]
fn an_empty_buffer_allocates_no_memory() {
    let (shelf, device) = shelf();
    let mut empty = device.upload::<u64>(&[]).expect("nothing always fits");
    assert_eq!((empty.address(), empty.len(), empty.bytes()), (0, 0, 0));
    assert_eq!(empty.download(), Ok(vec![]));
    assert_eq!(empty.copy_from(&[]), Ok(()));
    assert_eq!(empty.zero(), Ok(()));
    drop(empty);
    assert_eq!(shelf.next.load(Ordering::Relaxed), 0);
}

#[test]
fn a_dropped_buffer_is_freed_and_outlives_its_device_handle() {
    let (shelf, device) = shelf();
    let buffer = device.zeroed::<u8>(7).expect("7 bytes fit");
    drop(device);
    assert_eq!(buffer.download(), Ok(vec![0; 7]));
    drop(buffer);
    assert!(shelf.live.lock().expect("no test panics").is_empty());
}

#[test]
fn mismatched_and_overflowing_lengths_are_refused_with_numbers() {
    let (_, device) = shelf();
    let mut buffer = device.zeroed::<u32>(4).expect("4 fit");
    assert_eq!(
        buffer.copy_from(&[1, 2, 3]),
        Err(DeviceError::LengthMismatch { buffer: 4, given: 3 })
    );
    assert!(matches!(
        device.alloc::<u64>(usize::MAX),
        Err(DeviceError::OutOfMemory { requested: usize::MAX, .. })
    ));
}

#[test]
fn clusters_are_counted_from_blocks_by_default() {
    let (_, device) = shelf();
    let kernel =
        KernelInfo { name: "k", cooperative: false, args: &[], parameters: &[], run: |_| {} };
    let geometry = Geometry::new(60, 256);
    let active = |geometry| device.backend().active_clusters(&kernel, &geometry);
    assert_eq!(active(geometry), Ok(30));
    assert_eq!(active(geometry.clusters_of(4)), Ok(7));
}

#[test]
fn a_geometry_is_displayed_with_its_numbers() {
    let plain = Geometry::new(132, Dim3::new(16, 8, 1));
    assert_eq!(plain.to_string(), "132 blocks of 16×8 threads");
    assert_eq!(
        plain.with_dynamic_shared(4096).cooperative().clusters_of(4).overlapping().to_string(),
        "132 blocks of 16×8 threads, 4096 B of dynamic shared memory, cooperative, clusters of 4, \
         overlapping the kernel before"
    );
}
