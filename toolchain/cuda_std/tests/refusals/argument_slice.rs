use cuda_std::prelude::*;

#[kernel]
unsafe fn fill(out: &'static mut [f32], value: f32) {
    let _ = (out, value);
}

fn main() {}
