use cuda_std::prelude::*;

#[device]
fn twice(x: f32) -> f32 {
    dbg!(2.0 * x)
}

#[kernel]
unsafe fn running_sums(values: Global<f32>) {
    let i = thread::index();
    let mut seen = Vec::new();
    for j in 0..i {
        seen.push(twice(values.read(j)));
    }
    println!("thread {i} has seen {seen:?}");
    values.write(i, std::f32::consts::PI);
}

fn main() {}
