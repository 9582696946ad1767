use cuda_std::prelude::*;

#[kernel]
unsafe fn fill(a: u32, b: u32, c: u32, d: u32, e: u32, f: u32, g: u32, h: u32, i: u32) {
    let _ = (a, b, c, d, e, f, g, h, i);
}

fn main() {}
