use cuda_std::prelude::*;

#[derive(Clone, Copy)]
struct Complex {
    re: f32,
    im: f32,
}

impl Complex {
    fn exp(self) -> Self {
        let (sin, cos) = math::sin_cos(self.im);
        let size = math::exp(self.re);
        Self { re: size * cos, im: size * sin }
    }
}

struct Log(u32);

impl Log {
    fn log(&self) -> u32 {
        self.0
    }
}

#[device]
fn twice<T: Float>(x: T) -> T {
    x.exp().exp()
}

#[kernel]
unsafe fn turn(data: Global<f32>) {
    let z = Complex { re: data.read(0), im: data.read(1) };
    data.write(0, (z.exp().exp().re + Log(7).log() as f32).sqrt() + twice(z.im));
}
