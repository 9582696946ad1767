//! A short kernel: its branches in the PTX, its counts, its results and its times.

use super::math::{Branches, Form, Math, Setup, TIMED_ROUNDS};
use crate::Samples;
use crate::counting::{self, counts};
use gridsync::device::{Device, DeviceError};
use gridsync_lab_kernels::divergence::ROUNDS;
use serde::{Deserialize, Serialize};
use simt::Counts;

/// A short kernel. The counts are of the whole grid, as written with loops in the arms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Kernel {
    /// The name of the kernel.
    pub kernel: String,
    /// The condition for the result 100.
    pub condition: String,
    /// Branch instructions in the PTX.
    pub ptx_branches: usize,
    /// The same of the form with loops in its arms, the branches of the loops included.
    pub ptx_branches_with_loops: usize,
    /// Instructions of a warp, as counted by the emulator.
    pub instructions: u64,
    /// Branches of a warp, as counted by the emulator.
    pub branches: u64,
    /// Branches on which the lanes of a warp parted.
    pub diverged: u64,
    /// 100·(branches − diverged) / branches.
    pub efficiency: f64,
    /// Sectors of 32 bytes that the accesses touch.
    pub sectors: u64,
    /// The fewest sectors that could hold what is accessed.
    pub least_sectors: u64,
    /// Counted by the warps of the device themselves.
    pub counted_by_warps: CountedByWarps,
    /// Microseconds of a launch, as written. Null in the emulator.
    pub us: Option<Samples>,
    /// Microseconds of a launch with loops in the arms. Null in the emulator.
    pub us_with_loops: Option<Samples>,
    /// Elements that are wrong in any of the forms.
    #[serde(skip)]
    pub wrong: usize,
}

/// Branches that the warps of a device counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct CountedByWarps {
    /// All branches.
    pub branches: u64,
    /// Branches on which the lanes parted.
    pub diverged: u64,
}

impl Kernel {
    /// Whether the emulator and the warps on the device counted the same.
    #[must_use]
    pub fn agrees(&self) -> bool {
        let Self { branches, diverged, .. } = *self;
        self.counted_by_warps == CountedByWarps { branches, diverged }
    }
}

impl Math {
    /// Runs all forms of the kernel on `device`, and the form with loops in a counting emulator. On
    /// a GPU it also measures times. `in_ptx` are its branches in the PTX.
    ///
    /// # Errors
    /// If the device fails.
    pub fn find(
        &self,
        device: &Device,
        setup: Setup,
        in_ptx: Branches,
    ) -> Result<Kernel, DeviceError> {
        let emulator = counting::emulator();
        let mut wrong = self.wrong(&self.looped.run(&emulator, setup)?.0);
        let Counts { instructions, branches, diverged_branches, sectors, least_sectors, .. } =
            counts(&emulator);
        for form in [self.written, self.looped] {
            wrong += self.wrong(&form.run(device, setup)?.0);
        }
        let (values, counted) = self.counted.run(device, setup)?;
        wrong += self.wrong(&values);
        let on_gpu = !device.properties().is_emulated();
        let time = |form: Form, rounds| {
            let time = on_gpu.then(|| form.time(device, setup, rounds)).transpose()?;
            Ok::<_, DeviceError>(time.map(Into::into))
        };
        Ok(Kernel {
            kernel: self.name.to_owned(),
            condition: self.condition.to_owned(),
            ptx_branches: in_ptx.written,
            ptx_branches_with_loops: in_ptx.looped,
            instructions,
            branches,
            diverged: diverged_branches,
            efficiency: 100.0 * (branches - diverged_branches) as f64 / branches as f64,
            sectors,
            least_sectors,
            counted_by_warps: CountedByWarps {
                branches: counted[0].into(),
                diverged: counted[1].into(),
            },
            us: time(self.written, ROUNDS)?,
            us_with_loops: time(self.looped, TIMED_ROUNDS)?,
            wrong,
        })
    }
}
