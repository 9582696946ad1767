use cuda_std::prelude::*;

#[kernel]
unsafe fn fill(out: Global<f32>, twice: bool) {
    let _ = (out, twice);
}

fn main() {}
