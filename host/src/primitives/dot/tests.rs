use super::*;
use crate::reference::{exact_sum, reduce_depth, sum_bound};
use cuda_std::prelude::*;
use cuda_std::{bf16, f16};
use gridsync_entries::ByKernel;
use gridsync_entries::reduce::Arguments;
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::{ArgMax, Count, Map, Mapped, Operation, Sum, Zipped};
use std::fmt::Debug;

/// Numbers of either sign, whose products and sums are rounded.
fn numbers(len: usize, seed: u32) -> Vec<f64> {
    let random = |i: usize| (i as u32 ^ seed).wrapping_mul(0x9E37_79B1).rotate_left(9);
    (0..len).map(|i| f64::from(random(i) as i32) / f64::from(1u32 << 20) / 7.0).collect()
}

/// The lengths at which a reduction of `T` does something else.
fn lengths<T: Factor>() -> Vec<usize> {
    let tile = Shape::of::<T>(1).tile::<T>();
    vec![0, 1, 31, 32, 33, tile - 1, tile, tile + 1, 3 * tile + 5]
}

/// Checks the dot products of every length, at any distance from an aligned address.
fn has_the_same_bits_as_on_the_cpu<T: Factor + Pod>(of: fn(f64) -> T)
where
    Dot<T>: Reducible<Element = T, Output = T::Product>,
    T::Product: Pod + Debug,
{
    let device = Device::emulator();
    let mut product = DotProduct::<T>::new(&device).expect("there is room");
    for (number, len) in lengths::<T>().into_iter().enumerate() {
        let [x, y]: [Vec<T>; 2] =
            [1, 2].map(|seed| numbers(len + 1, seed).into_iter().map(of).collect());
        let [on_x, on_y] = [&x[..len], &y[..len]].map(|host| device.upload(host).expect("room"));
        let expected = dot_on_cpu(&x[..len], &y[..len]);
        let found = product.dot(&on_x, &on_y).expect("it should run");
        assert_eq!(bytemuck::bytes_of(&found), bytemuck::bytes_of(&expected), "{len} elements");
        product.launch(&on_y, &on_x).expect("it should run");
        let found = product.result().expect("it ran");
        assert_eq!(bytemuck::bytes_of(&found), bytemuck::bytes_of(&expected), "swapped, {len}");

        // Parts that start at different distances from an aligned address.
        let [on_x, on_y] = [&x, &y].map(|host| device.upload(host).expect("there is room"));
        let start = number % 2;
        // SAFETY: `on_y` lives until the result, and is as long as the part of x.
        let op = unsafe { Dot::with(on_y.view().part(1 - start, len)) };
        let mut reducer = Reducer::new(op, &device).expect("there is room");
        reducer.launch_part(&on_x, start..start + len).expect("it should run");
        let found = reducer.result().expect("it ran");
        let expected = dot_on_cpu(&x[start..start + len], &y[1 - start..1 - start + len]);
        assert_eq!(bytemuck::bytes_of(&found), bytemuck::bytes_of(&expected), "from {start}");
    }
}

#[test]
fn dot_has_the_same_bits_as_on_the_cpu() {
    has_the_same_bits_as_on_the_cpu::<f32>(|x| x as f32);
    has_the_same_bits_as_on_the_cpu::<f64>(|x| x);
    has_the_same_bits_as_on_the_cpu::<f16>(f16::from_f64);
    has_the_same_bits_as_on_the_cpu::<bf16>(bf16::from_f64);
    has_the_same_bits_as_on_the_cpu::<i32>(|x| (x * 1e6) as i32);
    has_the_same_bits_as_on_the_cpu::<u32>(|x| (x.abs() * 1e6) as u32);
}

#[test]
fn dots_of_floating_point_are_within_the_bound() {
    for len in [1, 33, 10_000, 300_000] {
        let [x, y] = [3, 4].map(|seed| numbers(len, seed));
        // A product is the sum of its rounded value and of the error, which are both an f64.
        let parts = x.iter().zip(&y).flat_map(|(&x, &y)| [x * y, x.mul_add(y, -(x * y))]);
        let exact = exact_sum(&parts.collect::<Vec<_>>());
        let depth = reduce_depth::<Dot<f64>>(len) + 1;
        let error = (dot_on_cpu(&x, &y) - exact.value).abs();
        let bound = sum_bound(exact.magnitude, depth + 1, f64::EPSILON / 2.0);
        assert!(error <= bound, "{error:e} of f64, {len} elements: {bound:e}");

        let [x, y] = [x, y].map(|all| all.into_iter().map(|x| x as f32).collect::<Vec<_>>());
        let products = x.iter().zip(&y).map(|(&x, &y)| f64::from(x) * f64::from(y));
        let exact = exact_sum(&products.collect::<Vec<_>>());
        let depth = reduce_depth::<Dot<f32>>(len);
        let error = (dot_on_cpu(&x, &y) - exact.value).abs();
        let bound = sum_bound(exact.magnitude, depth + 1, f64::EPSILON / 2.0);
        assert!(error <= bound, "{error:e} of f32, {len} elements: {bound:e}");
    }
}

#[test]
fn dots_of_integers_are_those_of_a_loop() {
    let x: Vec<i32> = (0..5000).map(|i: i32| i.wrapping_mul(0x1E37_79B1)).collect();
    let y: Vec<i32> = x.iter().rev().copied().collect();
    let sum: i128 = x.iter().zip(&y).map(|(&x, &y)| i128::from(x) * i128::from(y)).sum();
    assert_eq!(dot_on_cpu(&x, &y), sum as i64);
    assert_eq!(dot_on_cpu(&[i32::MIN; 2], &[i32::MIN; 2]), i64::MIN, "it wraps around");
    assert_eq!(dot_on_cpu(&[u32::MAX], &[u32::MAX]), u64::from(u32::MAX) * u64::from(u32::MAX));
}

#[test]
fn other_lengths_and_other_devices_are_errors() {
    let [device, other] = [Device::emulator(), Device::emulator()];
    let three = device.upload(&[1.0f32, 2.0, 3.0]).expect("there is room");
    let two = device.upload(&[1.0f32, 2.0]).expect("there is room");
    let elsewhere = other.upload(&[1.0f32, 2.0, 3.0]).expect("there is room");
    for (x, y, buffer, given) in [(&three, &two, 3, 2), (&two, &three, 2, 3)] {
        let error = dot(x, y).expect_err("one is longer");
        assert_eq!(error, DeviceError::LengthMismatch { buffer, given });
    }
    let mut product = DotProduct::new(&device).expect("there is room");
    assert_eq!(product.dot(&three, &three), Ok(14.0));
    for (x, y) in [(&three, &elsewhere), (&elsewhere, &three)] {
        let error = product.launch(x, y).expect_err("one is on another device");
        assert!(matches!(error, DeviceError::OtherDevice { .. }), "{error}");
        assert!(matches!(product.result(), Err(DeviceError::NoResult { .. })), "it failed");
    }
    assert_eq!(product.dot(&three, &three), Ok(14.0), "an error changes nothing");
}

/// 1 for an element above a limit, and 0 for others.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Above(f32);

// SAFETY: it is one f32.
unsafe impl cuda_std::launch::KernelArg for Above {}

impl Map for Above {
    type From = f32;
    type To = u32;

    fn map(self, x: f32, _index: u64) -> u32 {
        u32::from(x > self.0)
    }
}

/// i·x, from whose sum a centroid is computed.
#[derive(Clone, Copy)]
struct Moment;

impl Map for Moment {
    type From = f32;
    type To = f64;

    fn map(self, x: f32, index: u64) -> f64 {
        index as f64 * f64::from(x)
    }
}

/// |x − y|.
#[derive(Clone, Copy, Default)]
struct Apart;

impl Map for Apart {
    type From = (f32, f32);
    type To = f32;

    fn map(self, (x, y): (f32, f32), _index: u64) -> f32 {
        (x - y).abs()
    }
}

type CountAbove = Mapped<Above, Count<u32>>;
type Moments = Mapped<Moment, Sum<f64>>;
type Farthest = Mapped<Zipped<Apart, f32>, ArgMax<f32>>;

#[kernel(max_threads = 512)]
unsafe fn count_above(common: Arguments<f32>, op: CountAbove) {
    common.reduce(op);
}

#[kernel(max_threads = 512)]
unsafe fn sum_of_moments(common: Arguments<f32>) {
    common.reduce(Moments::new(Moment));
}

#[kernel(max_threads = 512)]
unsafe fn farthest_apart(common: Arguments<f32>, op: Farthest) {
    common.reduce(op);
}

fn reduced<O: Operation<Element = f32>, K: cuda_std::launch::Kernel>(
    x: &Buffer<f32>,
    op: ByKernel<O, K>,
) -> O::Output
where
    ByKernel<O, K>: Reducible<Element = f32, Output = O::Output>,
{
    crate::primitives::reduce(op, x).expect("it should run")
}

#[test]
fn functions_of_elements_indices_and_two_arrays_are_reduced_without_storing_them() {
    let device = Device::emulator();
    for len in [1, 33, 5000, 20_001] {
        let [x, y] = [5, 6].map(|seed| numbers(len, seed));
        let [x, y] = [x, y].map(|all| all.into_iter().map(|x| x as f32).collect::<Vec<_>>());
        let [on_x, on_y] = [&x, &y].map(|host| device.upload(host).expect("there is room"));
        let above = CountAbove::new(Above(40.0));
        // SAFETY: the kernel reduces by its argument.
        let count = reduced(&on_x, unsafe { ByKernel::<_, count_above>::new(above) });
        assert_eq!(count, x.iter().filter(|&&x| x > 40.0).count() as u64, "{len} elements");

        let moments = Moments::new(Moment);
        // SAFETY: the kernel reduces by this operation.
        let sum = reduced(&on_x, unsafe { ByKernel::<_, sum_of_moments>::new(moments) });
        assert_eq!(sum.to_bits(), reference::reduce(moments, &x).to_bits(), "{len} elements");
        let exact: f64 = (0u32..).zip(&x).map(|(i, &x)| f64::from(i) * f64::from(x)).sum();
        assert!((sum - exact).abs() <= 1e-9 * (len * len) as f64, "{sum}, not {exact}");

        // SAFETY: `on_y` is as long as `on_x` and lives until the result.
        let farthest = Farthest::new(unsafe { Zipped::new(on_y.view()) });
        // SAFETY: the kernel reduces by its argument.
        let found = reduced(&on_x, unsafe { ByKernel::<_, farthest_apart>::new(farthest) });
        let on_cpu = reference::reduce_zipped::<Apart, ArgMax<f32>, _, _>(&x, &y);
        assert_eq!(found, on_cpu, "{len} elements");
        let apart = x.iter().zip(&y).map(|(x, y)| (x - y).abs());
        assert_eq!(found.map(|found| found.value), apart.reduce(f32::max), "{len} elements");
    }
}
