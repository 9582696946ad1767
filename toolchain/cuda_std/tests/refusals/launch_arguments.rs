use cuda_std::launch::{IntoArgs, Kernel};
use cuda_std::prelude::*;

#[kernel]
unsafe fn fill(values: Global<f32>, with: u32) {
    values.write(thread::index(), with as f32);
}

fn launch<K: Kernel>(_: impl IntoArgs<K::Args>) {}

fn of_the_host(values: Vec<f32>) {
    launch::<fill>((&values, 7));
}

fn of_another_type(values: Global<u32>) {
    launch::<fill>((values, 7));
}

fn too_long(values: Global<f32>) {
    launch::<fill>((values, values.len()));
}

fn too_few(values: Global<f32>) {
    launch::<fill>((values,));
}

fn no_view(values: Global<f32>) {
    let shared: Shared<f32> = values;
}

fn main() {}
