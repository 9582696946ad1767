use cuda_std::prelude::*;

#[kernel]
unsafe fn fill(values: &mut [f32], with: f32) {
    values[thread::index()] = with;
}

fn main() {}
