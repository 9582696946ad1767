use cuda_std::prelude::*;

#[kernel]
unsafe fn activate(data: Global<f32>) {
    let i = thread::index();
    data.write(i, 1.0 / (1.0 + (-data.read(i)).exp()));
}

fn main() {}
