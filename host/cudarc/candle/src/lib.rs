//! Operations of [gridsync] for [candle](candle_core), along the last dimension of a tensor:
//! cumulative sums and maxima, sorts and argsorts, with gradients.
//!
//! ```
//! use candle_core::{Device, Tensor};
//! use gridsync_candle_example::Gridsync;
//!
//! let device = Device::Cpu; // or Device::new_cuda(0)?
//! let gridsync = Gridsync::new(&device)?; // keep it: it has the compiled kernels
//! let x = Tensor::new(&[[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &device)?;
//! assert_eq!(gridsync.cumsum(&x)?.to_vec2::<f32>()?, [[1.0, 3.0, 6.0], [4.0, 9.0, 15.0]]);
//! # Ok::<(), candle_core::Error>(())
//! ```
//!
//! The results have the same bits on the CPU and on every GPU. With the feature `cuda`, work goes
//! into candle's stream, on candle's memory, and the host waits for nothing.

mod ops;
mod rows;

use candle_core::{Device, Result, Tensor};
#[cfg(feature = "cuda")]
use gridsync_cudarc::StreamDevice;
use ops::{ArgSort, CumMax, CumSum, Sort};

/// gridsync on a device of candle. Clones share the stream and the compiled kernels.
#[derive(Clone, Debug)]
pub struct Gridsync {
    /// The GPU, unless it is the CPU.
    #[cfg(feature = "cuda")]
    device: Option<StreamDevice>,
}

impl Gridsync {
    /// gridsync on `device`.
    ///
    /// # Errors
    /// If the device is a GPU that gridsync cannot use, or Metal.
    #[cfg(feature = "cuda")]
    pub fn new(device: &Device) -> Result<Self> {
        match device {
            Device::Cpu => Ok(Self { device: None }),
            Device::Cuda(cuda) => {
                let device = StreamDevice::new(&cuda.cuda_stream());
                Ok(Self { device: Some(device.map_err(candle_core::Error::wrap)?) })
            }
            Device::Metal(_) => candle_core::bail!("gridsync has no kernels for Metal"),
        }
    }

    /// gridsync on `device`.
    ///
    /// # Errors
    /// If the device is not the CPU: other devices need the feature `cuda`.
    #[cfg(not(feature = "cuda"))]
    pub fn new(device: &Device) -> Result<Self> {
        match device {
            Device::Cpu => Ok(Self {}),
            _ => candle_core::bail!("without the feature `cuda` there is only the CPU"),
        }
    }

    /// The sums of the elements so far, of f32. The bits of a row do not depend on other rows.
    ///
    /// # Errors
    /// If the elements are not f32, and if the device fails.
    pub fn cumsum(&self, x: &Tensor) -> Result<Tensor> {
        x.contiguous()?.apply_op1(CumSum(self.clone()))
    }

    /// The maxima of the elements so far, of f32 without NaN. The gradient of each goes to the last
    /// element that is equal to it.
    ///
    /// # Errors
    /// If the elements are not f32, and if the device fails.
    pub fn cummax(&self, x: &Tensor) -> Result<Tensor> {
        x.contiguous()?.apply_op1(CumMax::<f32>::new(self))
    }

    /// The elements in ascending order, of f32, with NaN last.
    ///
    /// # Errors
    /// If the elements are not f32, and if the device fails.
    pub fn sort(&self, x: &Tensor) -> Result<Tensor> {
        x.contiguous()?.apply_op1(Sort(self.clone()))
    }

    /// The indices that sort f32, in a stable order. They have no gradient.
    ///
    /// # Errors
    /// If the elements are not f32, and if the device fails.
    pub fn argsort(&self, x: &Tensor) -> Result<Tensor> {
        x.contiguous()?.apply_op1_no_bwd(&ArgSort(self.clone()))
    }
}
