//! The time of cumulative sums of 2^20 f32 on a GPU, in rows of 2^10 and in one row, compared with
//! those of candle, and whether they have the bits of the CPU: `cargo run --release --features cuda --example
//! cumsum_time`. Needs a GPU.

use candle_core::{Device, Result, Tensor};
use gridsync_candle_example::Gridsync;
use std::time::Instant;

/// Calls of a measurement.
const CALLS: u32 = 100;

fn main() -> Result<()> {
    let gpu = Device::new_cuda(0)?;
    let (on_gpu, on_cpu) = (Gridsync::new(&gpu)?, Gridsync::new(&Device::Cpu)?);
    for shape in [(1 << 10, 1 << 10), (1, 1 << 20)] {
        let host = Tensor::rand(0f32, 1f32, shape, &Device::Cpu)?;
        let x = host.to_device(&gpu)?;
        let bits = |sums: Tensor| -> Result<Vec<u32>> {
            let sums = sums.flatten_all()?.to_vec1::<f32>()?;
            Ok(sums.into_iter().map(f32::to_bits).collect())
        };
        let are_same = bits(on_gpu.cumsum(&x)?)? == bits(on_cpu.cumsum(&host)?)?;
        println!("{shape:?}: the bits are {}those of the CPU", if are_same { "" } else { "NOT " });
        println!("  gridsync {:.1} µs a call", time(&gpu, || on_gpu.cumsum(&x))?);
        match time(&gpu, || x.cumsum(1)) {
            Ok(time) => println!("  candle   {time:.1} µs a call"),
            Err(error) => println!("  candle   none: {error}"),
        }
    }
    Ok(())
}

/// The µs of a call, of many in a row.
fn time(device: &Device, call: impl Fn() -> Result<Tensor>) -> Result<f64> {
    call()?;
    device.synchronize()?;
    let start = Instant::now();
    for _ in 0..CALLS {
        call()?;
    }
    device.synchronize()?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS))
}
