//! The short kernels, in their three forms.

use crate::bench::{Sampling, Spread, once};
use crate::ptx::Body;
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::cuda::{ImageError, Modules};
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_lab_kernels::divergence as kernels;
use gridsync_lab_kernels::divergence::{COUNTS, ROUNDS, STEPS};

/// c, counts, rounds, zero.
type Args = (Global<f32>, Global<u32>, u32, u32);

/// Steps of the loops in the arms when they are timed: enough for a launch of 100 µs or more, at 4
/// cycles per step and 2 GHz.
pub(super) const TIMED_STEPS: u32 = 1 << 16;

/// Rounds of a loop with [`TIMED_STEPS`].
pub(super) const TIMED_ROUNDS: u32 = TIMED_STEPS / STEPS;

/// A kernel in one of its forms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    name: &'static str,
    launch: unsafe fn(&Device, &Geometry, Args) -> Result<(), DeviceError>,
}

/// A kernel in its three forms.
#[derive(Clone, Copy, Debug)]
pub struct Math {
    /// Name.
    pub name: &'static str,
    /// The condition for the result 100.
    pub condition: &'static str,
    /// The same for the host, in a different form.
    gets_100: fn(u32) -> bool,
    pub(super) written: Form,
    pub(super) looped: Form,
    pub(super) counted: Form,
}

macro_rules! forms {
    ($name:literal, $condition:literal, $gets_100:expr, $written:ident $looped:ident $counted:ident) => {
        Math {
            name: $name,
            condition: $condition,
            gets_100: $gets_100,
            written: Form::of::<kernels::$written>(),
            looped: Form::of::<kernels::$looped>(),
            counted: Form::of::<kernels::$counted>(),
        }
    };
}

/// All kernels. The last one has the bug of [`MATH[4]`](MATH) as C would compile it.
#[rustfmt::skip]
pub const MATH: [Math; 6] = [
    forms!("math1", "tid % 2 == 0", |tid| tid.is_multiple_of(2),
        divergence_math1 divergence_math1_looped divergence_math1_counted),
    forms!("math2", "(tid / 32) % 2 == 0", |tid| tid % 64 < 32,
        divergence_math2 divergence_math2_looped divergence_math2_counted),
    forms!("math3", "even, else the other arm", |tid| tid.is_multiple_of(2),
        divergence_math3 divergence_math3_looped divergence_math3_counted),
    forms!("math3, two ifs", "even; a second if: odd", |tid| tid.is_multiple_of(2),
        divergence_math3_ifs divergence_math3_ifs_looped divergence_math3_ifs_counted),
    forms!("math4", "((tid >> 5) & 1) == 0", |tid| tid % 64 < 32,
        divergence_math4 divergence_math4_looped divergence_math4_counted),
    forms!("math4 in C", "(tid >> 5) & (1 == 0)", |_| false,
        divergence_math4_fault divergence_math4_fault_looped divergence_math4_fault_counted),
];

/// Size of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Threads of a block.
    pub block: u32,
    /// Blocks of the grid.
    pub blocks: u32,
}

/// Branch instructions in the PTX of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branches {
    /// As written.
    pub written: usize,
    /// With loops in its arms, including the branches of the loops.
    pub looped: usize,
}

impl Setup {
    /// The smallest grid of blocks of `block` threads that has at least `size` threads.
    #[must_use]
    pub const fn of(block: u32, size: u32) -> Self {
        Self { block, blocks: size.div_ceil(block) }
    }

    /// Threads of the grid, which is also the number of elements that they write.
    #[must_use]
    pub const fn threads(self) -> u32 {
        self.block * self.blocks
    }
}

impl Form {
    const fn of<K: Kernel<Args = Args>>() -> Self {
        Self { name: K::NAME, launch: Device::launch::<K> }
    }

    /// Runs the form once; returns its results and its counts.
    pub(super) fn run(
        self,
        device: &Device,
        setup: Setup,
    ) -> Result<(Vec<f32>, Vec<u32>), DeviceError> {
        let c = device.zeroed::<f32>(setup.threads() as usize)?;
        let counts = device.zeroed::<u32>(COUNTS)?;
        let args = (c.view(), counts.view(), ROUNDS, 0);
        // SAFETY: there is an element for each thread, and the counts. They live until the
        // downloads. The rounds suffice, and the last argument is 0.
        unsafe { (self.launch)(device, &Geometry::new(setup.blocks, setup.block), args) }?;
        Ok((c.download()?, counts.download()?))
    }

    /// The time of a launch with `rounds` rounds in each loop.
    pub(super) fn time(
        self,
        device: &Device,
        setup: Setup,
        rounds: u32,
    ) -> Result<Spread, DeviceError> {
        let c = device.zeroed::<f32>(setup.threads() as usize)?;
        let counts = device.zeroed::<u32>(COUNTS)?;
        let geometry = Geometry::new(setup.blocks, setup.block);
        let measured = once(device, &Sampling::default(), || {
            let args = (c.view(), counts.view(), rounds, 0);
            // SAFETY: there is an element for each thread, and the counts; they live until `once`
            // has waited for its launches. The rounds suffice, and the last argument is 0.
            unsafe { (self.launch)(device, &geometry, args) }
        })?;
        Ok(measured.time)
    }
}

impl Math {
    /// Number of `values` that differ from the host's.
    pub(super) fn wrong(&self, values: &[f32]) -> usize {
        let mut wrong = 0;
        for (tid, &value) in (0..).zip(values) {
            let expected = if (self.gets_100)(tid) { 100.0 } else { 200.0 };
            wrong += usize::from(value != expected);
        }
        wrong
    }

    /// The branch instructions in the PTX. `None` if one of the kernels is not in `modules`.
    ///
    /// # Errors
    /// If an image cannot be read.
    pub fn branches(&self, modules: &Modules<'_>) -> Result<Option<Branches>, ImageError> {
        let branches = |form: Form| {
            let body = Body::of(modules, form.name)?;
            Ok::<_, ImageError>(body.map(|body| body.conditional_branches()))
        };
        let both = branches(self.written)?.zip(branches(self.looped)?);
        Ok(both.map(|(written, looped)| Branches { written, looped }))
    }
}

/// Microseconds of the first launch of this process and of a later one, both of a kernel that does
/// no more than [`MATH[1]`](MATH): the warm-up.
///
/// # Errors
/// If the device fails.
pub(super) fn warm_up(device: &Device, setup: Setup) -> Result<(f64, Spread), DeviceError> {
    let c = device.zeroed::<f32>(setup.threads() as usize)?;
    let counts = device.zeroed::<u32>(COUNTS)?;
    let geometry = Geometry::new(setup.blocks, setup.block);
    let form = Form::of::<kernels::divergence_warm_up>();
    let first = device.time(|| {
        let args = (c.view(), counts.view(), ROUNDS, 0);
        // SAFETY: there is an element for each thread, and the counts; they live until `time` has
        // waited for the launch. The rounds suffice, and the last argument is 0.
        unsafe { (form.launch)(device, &geometry, args) }
    })?;
    Ok((first, form.time(device, setup, ROUNDS)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::images::LAB;

    #[test]
    fn a_kernel_has_branches_only_if_its_arms_have_loops() {
        for compute in [75, 90] {
            let modules = Modules::of(&LAB, compute).expect("whole images");
            for math in MATH {
                let branches = math.branches(&modules).expect("whole images");
                let branches = branches.expect("the kernels are built");
                assert_eq!(branches.written, 0, "{math:?}");
                assert!(branches.looped > 0, "{math:?}");
            }
        }
    }
}
