//! Arrays that are distributed over several devices, and primitives that leave them there.

mod reduce;
mod scan;

pub use reduce::SpreadReducer;
pub use scan::{SpreadScanner, scan_spread};

use super::parts::together::on_each;
use crate::device::{Buffer, DeviceError, Devices};
use bytemuck::Pod;
use cuda_std::memory::Scalar;
use gridsync_kernels::grid::reduce::Shape;
use std::ops::Range;

/// The smallest stripe in bytes.
// Scans of 2^30 f32 over two H200s, µs, 2026-11-25: 1054, 1057, 1107, 1201, 1731 and 1883 in
// stripes of 2, 4, 8, 16, 32 and 64 MiB. 2^28 in stripes of 512 KiB and 4 MiB: 277 and 278. Copies
// from and to the host are faster in large stripes.
const STRIPE: usize = 4 << 20;

/// An array that is distributed over [`Devices`] in **stripes**: stripe s is on device s mod the
/// number of devices, and each device stores its stripes contiguously.
///
/// So all devices work on neighbouring stripes at the same time, and a scan, which goes from stripe
/// to stripe, keeps all of them busy. A stripe is a power of two of elements, by default 4 MiB, or
/// a tile of a [reduction](Shape) if that is larger, which it is for arrays above 16 GiB. Stripes
/// of 8 MiB and more make scans slower. An array of one stripe is on the first device.
///
/// ```
/// use gridsync::device::{Devices, EmulatorConfig};
/// use gridsync::primitives::Spread;
///
/// let devices = Devices::emulated(EmulatorConfig { gpus: 2, ..EmulatorConfig::default() })?;
/// let mut array = Spread::in_stripes(&devices, 10, 4)?; // elements 0 to 3 and 8, 9 on GPU 0
/// array.copy_from(&[0u32, 1, 2, 3, 4, 5, 6, 7, 8, 9])?;
/// assert_eq!(array.part(0).download()?, [0, 1, 2, 3, 8, 9]);
/// assert_eq!(array.stripes(1).collect::<Vec<_>>(), [4..8]);
/// # Ok::<(), gridsync::device::DeviceError>(())
/// ```
#[derive(Debug)]
pub struct Spread<T> {
    len: usize,
    stripe: usize,
    parts: Vec<Buffer<T>>,
}

impl<T: Scalar + Pod> Spread<T> {
    /// An array of `len` elements with uninitialised contents.
    ///
    /// # Errors
    /// [`DeviceError::OnGpu`] with [`DeviceError::OutOfMemory`].
    pub fn alloc(devices: &Devices, len: usize) -> Result<Self, DeviceError> {
        let tile = Shape::of::<T>(len).tile::<T>();
        Self::in_stripes(devices, len, tile.max(STRIPE / size_of::<T>()))
    }

    /// Like [`alloc`](Self::alloc), in stripes of `stripe` elements. Primitives refuse stripes that
    /// are shorter than their tiles ([`DeviceError::ShortStripes`]).
    ///
    /// # Errors
    /// As for [`alloc`](Self::alloc).
    ///
    /// # Panics
    /// If `stripe` is not a power of two.
    pub fn in_stripes(devices: &Devices, len: usize, stripe: usize) -> Result<Self, DeviceError> {
        assert!(
            stripe.is_power_of_two(),
            "stripes of {stripe} elements, which is not a power of two"
        );
        let count = devices.len();
        let part = |gpu| stripes(len, stripe, gpu, count).map(|stripe| stripe.len()).sum();
        let parts = devices.each(|gpu, device| device.alloc(part(gpu)))?;
        Ok(Self { len, stripe, parts })
    }

    /// An array that is distributed like `other`, for the results of a scan.
    ///
    /// # Errors
    /// As for [`alloc`](Self::alloc).
    pub fn like<U>(devices: &Devices, other: &Spread<U>) -> Result<Self, DeviceError> {
        Self::in_stripes(devices, other.len, other.stripe)
    }

    /// An array with the elements of `host`.
    ///
    /// # Errors
    /// As for [`alloc`](Self::alloc), and if a copy fails.
    pub fn upload(devices: &Devices, host: &[T]) -> Result<Self, DeviceError> {
        let mut spread = Self::alloc(devices, host.len())?;
        spread.copy_from(host)?;
        Ok(spread)
    }

    /// Copies the elements of `host` to the devices.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`], and if a copy fails.
    pub fn copy_from(&mut self, host: &[T]) -> Result<(), DeviceError> {
        if host.len() != self.len {
            return Err(DeviceError::LengthMismatch { buffer: self.len, given: host.len() });
        }
        let (len, stripe, count) = (self.len, self.stripe, self.parts.len());
        on_each(self.parts.iter_mut().enumerate(), |(gpu, part)| {
            let mut at = 0;
            for stripe in stripes(len, stripe, gpu, count) {
                let copied = part.copy_part_from(at, &host[stripe.clone()]);
                copied.map_err(|error| error.on_gpu(gpu, part.device()))?;
                at += stripe.len();
            }
            Ok::<_, DeviceError>(())
        })?;
        Ok(())
    }

    /// Copies all elements to the host.
    ///
    /// # Errors
    /// If a copy fails.
    pub fn download(&self) -> Result<Vec<T>, DeviceError> {
        let mut host = vec![T::zeroed(); self.len];
        let mut of_gpu: Vec<Vec<&mut [T]>> = self.parts.iter().map(|_| Vec::new()).collect();
        for (stripe, elements) in host.chunks_mut(self.stripe).enumerate() {
            of_gpu[stripe % self.parts.len()].push(elements);
        }
        let all = self.parts.iter().zip(of_gpu).enumerate();
        on_each(all, |(gpu, (part, stripes))| {
            let mut at = 0;
            for stripe in stripes {
                let copied = part.download_to(at, stripe);
                copied.map_err(|error| error.on_gpu(gpu, part.device()))?;
                at += stripe.len();
            }
            Ok::<_, DeviceError>(())
        })?;
        Ok(host)
    }
}

impl<T> Spread<T> {
    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the array is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Elements per stripe. The last one has the rest.
    #[must_use]
    pub fn stripe(&self) -> usize {
        self.stripe
    }

    /// Number of devices. Those after the first may have none of its elements.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The ranges of elements on a device, given by its index among the devices: its stripes, in
    /// order.
    pub fn stripes(&self, gpu: usize) -> impl Iterator<Item = Range<usize>> + use<T> {
        stripes(self.len, self.stripe, gpu, self.parts.len())
    }

    /// The memory of these stripes, stored contiguously.
    #[must_use]
    pub fn part(&self, gpu: usize) -> &Buffer<T> {
        &self.parts[gpu]
    }

    /// Like [`part`](Self::part), for writing. Primitives refuse an array in which it was replaced
    /// by a buffer of another length ([`DeviceError::LengthMismatch`]).
    #[must_use]
    pub fn part_mut(&mut self, gpu: usize) -> &mut Buffer<T> {
        &mut self.parts[gpu]
    }

    /// Whether all of it is on the first device.
    fn is_on_one(&self) -> bool {
        self.len <= self.stripe || self.parts.len() == 1
    }

    /// Refuses an array that is distributed over devices other than `devices`, or in which a
    /// [part](Self::part_mut) has been replaced by a buffer of another length: kernels rely on the
    /// stripes.
    fn expect_on(&self, devices: &Devices) -> Result<(), DeviceError>
    where
        T: Pod,
    {
        let (parts, gpus) = (self.parts.len(), devices.len());
        if parts != gpus {
            return Err(DeviceError::SpreadElsewhere { parts, gpus });
        }
        devices.each(|gpu, device| {
            let part = &self.parts[gpu];
            device.expect_own(part)?;
            let needed = self.stripes(gpu).map(|stripe| stripe.len()).sum();
            if part.len() == needed {
                Ok(())
            } else {
                Err(DeviceError::LengthMismatch { buffer: part.len(), given: needed })
            }
        })?;
        Ok(())
    }

    /// Checks that stripes are whole tiles of `tile` elements, which must be a power of two.
    fn expect_tiles(&self, what: &'static str, tile: usize) -> Result<(), DeviceError> {
        if self.stripe >= tile {
            Ok(())
        } else {
            Err(DeviceError::ShortStripes { what, stripe: self.stripe, tile })
        }
    }
}

/// The stripes on device `gpu` of `count`, of an array of `len` elements.
fn stripes(
    len: usize,
    stripe: usize,
    gpu: usize,
    count: usize,
) -> impl Iterator<Item = Range<usize>> {
    let starts = (gpu * stripe..len).step_by(count * stripe);
    starts.map(move |start| start..len.min(start + stripe))
}
