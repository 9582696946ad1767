//! Launches at each limit and one past it.

use super::{HOLDERS, Holder};
use gridsync::device::{Device, DeviceError, Geometry, Occupancy};
use serde::{Deserialize, Serialize};

/// One limit, tested with a launch at the limit and one past it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Tried {
    /// The limited resource.
    pub limit: String,
    /// The launch at the limit. Null if it would run too long.
    pub at: Option<String>,
    /// Whether its results are right. Null if it was not launched.
    pub right: Option<bool>,
    /// The launch one past the limit.
    pub past: String,
    /// The error that refused it. Null if it ran, which is wrong.
    pub error: Option<String>,
}

/// Tests each limit of the device with kernels that hold few values, and the limit of registers
/// with one that holds many.
///
/// # Errors
/// If a launch at a limit is refused, or if the device fails.
pub fn try_all(device: &Device) -> Result<Vec<Tried>, DeviceError> {
    let [few, _, many, _] = HOLDERS;
    let p = device.properties();
    let (threads, y) = (p.max_threads_per_block, Geometry::MOST_ALONG_Y);
    let shared = p.shared_per_block_optin.max(p.shared_per_block);
    let with_shared = |bytes| Geometry::new(1, 32).with_dynamic_shared(bytes);
    let resident = device.backend().occupancy(&few.kernel, 256, 0)? * p.multiprocessors;
    let together = |blocks: u32| Geometry::new(blocks, 256).cooperative();
    let mut tries = vec![
        ("threads of a block", few, Some(Geometry::new(1, threads)), Geometry::new(1, threads + 1)),
        ("shared memory of a block", few, Some(with_shared(shared)), with_shared(shared + 1)),
        ("blocks that wait for each other", few, Some(together(resident)), together(resident + 1)),
    ];
    if !p.is_emulated() {
        let registers = device.backend().attributes(&many.kernel)?.registers;
        let fits = |&threads: &u32| Occupancy::most_registers(p, threads) >= registers;
        let most = (1..=threads / 32).map(|warps| 32 * warps).rfind(fits).unwrap_or(32);
        tries.extend([
            (
                "threads of a block along z",
                few,
                Some(Geometry::new(1, (1, 1, 64))),
                Geometry::new(1, (1, 1, 65)),
            ),
            (
                "registers of a block",
                many,
                Some(Geometry::new(1, most)),
                Geometry::new(1, most + 1),
            ),
            (
                "blocks of a grid along y",
                few,
                Some(Geometry::new((1, y), 1)),
                Geometry::new((1, y + 1), 1),
            ),
            // A grid of 2^31 − 1 blocks runs for seconds.
            ("blocks of a grid", few, None, Geometry::new(p.max_grid_x + 1, 1)),
        ]);
        if p.cluster {
            let clusters = |blocks: u32| Geometry::new(blocks, 32).clusters_of(blocks);
            tries.push(("blocks of a cluster", few, Some(clusters(16)), clusters(17)));
        }
    }
    let tried = tries.into_iter().map(|(limit, holder, at, past)| {
        Ok(Tried {
            limit: limit.to_owned(),
            at: at.map(|at| at.to_string()),
            right: at.map(|at| holder.run(device, &at)).transpose()?,
            past: past.to_string(),
            error: refused(device, &holder, &past)?.map(|error| error.to_string()),
        })
    });
    tried.collect()
}

/// The error with which a launch of `holder` is refused. `None` if it runs.
fn refused(
    device: &Device,
    holder: &Holder,
    geometry: &Geometry,
) -> Result<Option<DeviceError>, DeviceError> {
    match holder.run(device, geometry) {
        Ok(_) => Ok(None),
        Err(lost @ (DeviceError::Lost { .. } | DeviceError::Stopped { .. })) => Err(lost),
        Err(refused) => Ok(Some(refused)),
    }
}
