use cuda_std::prelude::*;

#[device]
pub fn wave(x: f64) -> f64 {
    x.sin() + f64::cos(x)
}

#[device]
pub fn height(x: f64) -> f64 {
    x.sin()
}

fn main() {}
