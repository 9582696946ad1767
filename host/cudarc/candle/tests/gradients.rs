//! Results and gradients on the CPU, and with the feature `cuda` on a GPU, if there is one.

use candle_core::{Device, Result, Tensor, Var};
use gridsync_candle_example::Gridsync;
use std::io::{self, Write};

/// The devices to test on. A GPU that is missing is reported as SKIPPED.
fn devices() -> Vec<Device> {
    let mut devices = vec![Device::Cpu];
    match Device::new_cuda(0) {
        Ok(gpu) => devices.push(gpu),
        // Not `eprintln!`, which the harness shows only for tests that fail.
        Err(reason) => {
            writeln!(io::stderr(), "SKIPPED: no CUDA device: {reason}").expect("stderr is open")
        }
    }
    devices
}

/// Two rows in which elements are repeated.
fn rows(device: &Device) -> Result<Var> {
    Var::new(&[[3f32, 1.0, 3.0, 2.0], [-1.0, 5.0, 4.0, 5.0]], device)
}

/// The gradient of the sum of `results` times 1, 10, 100 and 1000.
fn gradient(x: &Var, results: &Tensor) -> Result<Vec<Vec<f32>>> {
    let weights = Tensor::new(&[1f32, 10.0, 100.0, 1000.0], x.device())?;
    let total = results.broadcast_mul(&weights)?.sum_all()?;
    total.backward()?.get(x).expect("it has a gradient").to_vec2()
}

#[test]
fn a_cumsum_is_that_of_candle_with_the_same_gradient() -> Result<()> {
    for device in devices() {
        let (gridsync, x) = (Gridsync::new(&device)?, rows(&device)?);
        let (sums, expected) = (gridsync.cumsum(&x)?, x.cumsum(1)?);
        assert_eq!(sums.to_vec2::<f32>()?, expected.to_vec2::<f32>()?);
        let expected = vec![vec![1111.0, 1110.0, 1100.0, 1000.0]; 2];
        assert_eq!(gradient(&x, &sums)?, expected);
    }
    Ok(())
}

#[test]
fn the_gradient_of_a_cummax_goes_to_the_last_equal_element() -> Result<()> {
    for device in devices() {
        let (gridsync, x) = (Gridsync::new(&device)?, rows(&device)?);
        let maxima = gridsync.cummax(&x)?;
        assert_eq!(maxima.to_vec2::<f32>()?, [[3.0, 3.0, 3.0, 3.0], [-1.0, 5.0, 5.0, 5.0]]);
        let expected = [[11.0, 0.0, 1100.0, 0.0], [1.0, 110.0, 0.0, 1000.0]];
        assert_eq!(gradient(&x, &maxima)?, expected);
    }
    Ok(())
}

#[test]
fn the_gradient_of_a_sort_goes_to_where_elements_came_from() -> Result<()> {
    for device in devices() {
        let (gridsync, x) = (Gridsync::new(&device)?, rows(&device)?);
        let sorted = gridsync.sort(&x)?;
        assert_eq!(sorted.to_vec2::<f32>()?, [[1.0, 2.0, 3.0, 3.0], [-1.0, 4.0, 5.0, 5.0]]);
        assert_eq!(gridsync.argsort(&x)?.to_vec2::<u32>()?, [[1, 3, 0, 2], [0, 2, 1, 3]]);
        let expected = [[100.0, 1.0, 1000.0, 10.0], [1.0, 100.0, 10.0, 1000.0]];
        assert_eq!(gradient(&x, &sorted)?, expected);
    }
    Ok(())
}

#[test]
fn parts_and_empty_tensors_have_results() -> Result<()> {
    for device in devices() {
        let gridsync = Gridsync::new(&device)?;
        let x = Tensor::arange(0f32, 30.0, &device)?.reshape((5, 6))?;
        // The first begins within 16 bytes, and the second is not contiguous.
        for part in [x.narrow(0, 1, 3)?, x.narrow(1, 1, 4)?] {
            let (sums, expected) = (gridsync.cumsum(&part)?, part.contiguous()?.cumsum(1)?);
            assert_eq!(sums.to_vec2::<f32>()?, expected.to_vec2::<f32>()?);
        }
        let empty = x.narrow(0, 0, 0)?;
        assert_eq!(gridsync.sort(&empty)?.dims(), [0, 6]);
    }
    Ok(())
}
