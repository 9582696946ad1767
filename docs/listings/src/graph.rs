//! Two kernels, and a third one that needs both: as data, checked and run.

use cuda_std::prelude::*;
use gridsync::dag::{Dag, Node};
use gridsync::device::{
    Buffer, Device, DeviceError, Emulator, EmulatorConfig, Geometry, Launch, Way,
};
use std::ops::Range;

/// Sets all elements to `value`.
///
/// # Safety
///
/// `to` has an element for each thread.
#[kernel]
unsafe fn fill(to: Global<u32>, value: u32) {
    to.write(thread::index(), value);
}

/// Multiplies elements of `a` and `b`.
///
/// # Safety
///
/// All have an element for each thread.
#[kernel]
unsafe fn multiply(a: Global<u32>, b: Global<u32>, product: Global<u32>) {
    let i = thread::index();
    product.write(i, a.read(i) * b.read(i));
}

/// The addresses of a buffer, for the check of the graph.
fn bytes(buffer: &Buffer<u32>) -> Range<u64> {
    let start = buffer.address();
    start..start + 4 * buffer.len() as u64
}

#[test]
fn a_product_needs_both_factors() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(Emulator::new(EmulatorConfig::checking(0)));
    let [a, b, c] = [device.zeroed(64)?, device.zeroed(64)?, device.zeroed(64)?];

    // The dependencies, and the memory that each node accesses.
    let mut dag = Dag::new();
    let first = dag.add(Node::new("A").writes(bytes(&a)));
    let second = dag.add(Node::new("B").writes(bytes(&b)));
    let product = Node::new("C").after(&[first, second]);
    dag.add(product.reads(bytes(&a)).reads(bytes(&b)).writes(bytes(&c)));
    let dag = dag.check()?;

    // A launch for each node, in the order of the nodes.
    let geometry = Geometry::new(2, 32);
    let launches = [
        Launch::new::<fill>(geometry, (a.view(), 5)),
        Launch::new::<fill>(geometry, (b.view(), 7)),
        Launch::new::<multiply>(geometry, (a.view(), b.view(), c.view())),
    ];
    let graph = dag.assemble(&device, &launches, Way::Built)?;
    // SAFETY: an element for each of 64 threads. All live until the download.
    unsafe { graph.launch()? };
    assert_eq!(c.download()?, [35; 64]);
    Ok(())
}

#[test]
fn a_forgotten_edge_is_an_error() {
    let mut dag = Dag::new();
    let first = dag.add(Node::new("A").writes(0..256));
    dag.add(Node::new("B").writes(256..512));
    dag.add(Node::new("C").after(&[first]).reads(0..512).writes(512..768));
    let error = dag.check().expect_err("C reads what B writes");
    crate::output::is("forgotten_edge.txt", &error.to_string());
}

#[test]
fn launches_are_recorded_once_and_run_often() -> Result<(), DeviceError> {
    let device = Device::new(Emulator::new(EmulatorConfig::checking(0)));
    let two = device.upload(&[2u32; 64])?;
    let powers = device.upload(&[1u32; 64])?;
    let args = (powers.view(), two.view(), powers.view());
    // SAFETY: an element for each of 64 threads. All live until the download.
    let graph =
        device.record(|| unsafe { device.launch::<multiply>(&Geometry::new(2, 32), args) })?;
    for _ in 0..10 {
        // SAFETY: all buffers live until the download.
        unsafe { graph.launch()? };
    }
    assert_eq!(powers.download()?, [1024; 64]);
    Ok(())
}
