//! Plans a launch whose blocks must all be resident at once.

use crate::device::{Device, DeviceError, Dim3, Geometry, KernelInfo};
use cuda_std::launch::Kernel;

/// The number of blocks of a cooperative launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// This many; fails if they do not fit.
    Exactly(u32),
    /// This many, or as many as fit.
    AtMost(u32),
    /// This many per multiprocessor; fails if they do not fit.
    PerMultiprocessor(u32),
    /// As many as fit.
    Fill,
}

/// The number of blocks of `threads` threads and `dynamic_shared` bytes that can be resident at
/// once.
///
/// # Errors
/// As for [`Backend::occupancy`](crate::device::Backend::occupancy).
pub fn resident_blocks<K: Kernel>(
    device: &Device,
    threads: u32,
    dynamic_shared: u32,
) -> Result<u32, DeviceError> {
    let per_multiprocessor =
        device.backend().occupancy(&KernelInfo::of::<K>(), threads, dynamic_shared)?;
    Ok(per_multiprocessor * device.properties().multiprocessors)
}

/// The geometry of a launch of `K` in which all blocks are resident at once.
///
/// # Errors
/// [`DeviceError::GridTooLarge`] with the largest grid that would fit, [`DeviceError::BadBlock`] if
/// not even one block fits, [`DeviceError::EmptyGrid`] if there is nothing to launch, and as for
/// [`resident_blocks`].
pub fn cooperative<K: Kernel>(
    device: &Device,
    blocks: Blocks,
    threads: u32,
    dynamic_shared: u32,
) -> Result<Geometry, DeviceError> {
    let one = Geometry::new(1, threads).with_dynamic_shared(dynamic_shared);
    plan::<K>(device, blocks, one.cooperative())
}

/// The geometry of such a launch in clusters of `cluster` consecutive blocks. Needs a device with
/// clusters ([`Properties::cluster`](crate::device::Properties::cluster)).
///
/// The device reports how many whole clusters fit. Each needs its multiprocessors within one GPC,
/// so fewer blocks can be resident than without clusters. [`Blocks::AtMost`] and [`Blocks::Fill`]
/// are rounded down to whole clusters.
///
/// # Errors
/// As for [`cooperative`]; [`DeviceError::GridTooLarge`] also if not even one cluster fits,
/// [`DeviceError::PartialCluster`] if the blocks are not a whole number of clusters, and as for
/// [`Backend::active_clusters`](crate::device::Backend::active_clusters).
pub fn cooperative_in_clusters<K: Kernel>(
    device: &Device,
    blocks: Blocks,
    threads: u32,
    dynamic_shared: u32,
    cluster: u32,
) -> Result<Geometry, DeviceError> {
    let one = Geometry::new(cluster, threads).with_dynamic_shared(dynamic_shared);
    plan::<K>(device, blocks, one.cooperative().clusters_of(cluster))
}

/// The geometry of `blocks` blocks, in multiples of `one`, the smallest launch of its kind.
fn plan<K: Kernel>(
    device: &Device,
    blocks: Blocks,
    one: Geometry,
) -> Result<Geometry, DeviceError> {
    let kernel = KernelInfo::of::<K>();
    let (cluster, threads) = (one.grid.x, one.block.x);
    let of_blocks = |blocks| Geometry { grid: Dim3::from(blocks), ..one };
    let too_large = |geometry, resident| DeviceError::GridTooLarge {
        kernel: K::NAME,
        geometry,
        resident,
        device: device.properties().name.clone(),
        multiprocessors: device.properties().multiprocessors,
    };
    let no_whole_clusters = |geometry| DeviceError::PartialCluster { kernel: K::NAME, geometry };
    if cluster == 0 {
        return Err(no_whole_clusters(one));
    }
    let attributes = device.backend().attributes(&kernel)?;
    let limit = attributes.max_threads.min(device.properties().max_threads_per_block);
    let bad_block = DeviceError::BadBlock { kernel: K::NAME, threads, limit };
    if threads == 0 || threads > limit {
        return Err(bad_block);
    }
    let resident = device.backend().active_clusters(&kernel, &one)? * cluster;
    if resident == 0 {
        return Err(match one.cluster {
            Some(_) => too_large(one, 0),
            None => bad_block,
        });
    }
    let requested = match blocks {
        Blocks::Exactly(blocks) => blocks,
        // Fewer blocks than one cluster are refused below, like an exact number.
        Blocks::AtMost(blocks) if blocks < cluster => blocks,
        Blocks::AtMost(blocks) => blocks.min(resident) / cluster * cluster,
        Blocks::PerMultiprocessor(blocks) => {
            blocks.saturating_mul(device.properties().multiprocessors)
        }
        Blocks::Fill => resident,
    };
    let geometry = of_blocks(requested);
    if requested == 0 {
        Err(DeviceError::EmptyGrid { kernel: K::NAME })
    } else if requested > resident {
        Err(too_large(geometry, resident.into()))
    } else if !requested.is_multiple_of(cluster) {
        Err(no_whole_clusters(geometry))
    } else {
        Ok(geometry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Emulator, EmulatorConfig};
    use gridsync_lab_kernels::barrier::barrier_only;

    /// An emulated GPU with room for two blocks of 512 threads on each multiprocessor.
    fn emulator(multiprocessors: u32) -> Device {
        Device::new(Emulator::new(EmulatorConfig {
            multiprocessors,
            memory_bytes: 1 << 20,
            ..EmulatorConfig::default()
        }))
    }

    #[test]
    fn a_cooperative_grid_is_rounded_down_to_whole_clusters() {
        let device = emulator(7);
        let blocks = |blocks, cluster| {
            cooperative_in_clusters::<barrier_only>(&device, blocks, 512, 0, cluster).map(
                |geometry| {
                    assert!(geometry.cooperative);
                    assert_eq!(geometry.cluster, Some(cluster));
                    geometry.grid.x
                },
            )
        };
        assert_eq!(blocks(Blocks::Fill, 4), Ok(12));
        assert_eq!(blocks(Blocks::Fill, 8), Ok(8));
        assert_eq!(blocks(Blocks::Fill, 1), Ok(14));
        assert_eq!(blocks(Blocks::AtMost(11), 4), Ok(8));
        assert_eq!(blocks(Blocks::AtMost(1000), 4), Ok(12));
        assert_eq!(blocks(Blocks::Exactly(12), 4), Ok(12));
        assert_eq!(blocks(Blocks::PerMultiprocessor(1), 7), Ok(7));
    }

    #[test]
    fn invalid_cluster_launches_are_refused_with_numbers() {
        let device = emulator(7);
        let refusal = |blocks, cluster| {
            cooperative_in_clusters::<barrier_only>(&device, blocks, 512, 0, cluster)
                .expect_err("should be refused")
        };
        let partial = [
            (Blocks::Exactly(6), 4, 6),
            (Blocks::AtMost(3), 4, 3),
            (Blocks::PerMultiprocessor(1), 4, 7),
            (Blocks::Fill, 0, 0),
        ];
        for (blocks, cluster, asked) in partial {
            let error = refusal(blocks, cluster);
            let DeviceError::PartialCluster { geometry, .. } = &error else {
                panic!("{blocks:?}: {error}")
            };
            assert_eq!((geometry.grid.x, geometry.cluster), (asked, Some(cluster)));
        }
        for blocks in [Blocks::Exactly(16), Blocks::PerMultiprocessor(4)] {
            let error = refusal(blocks, 4);
            let says = error.to_string().contains("launch at most 12 blocks");
            assert!(says, "{error}");
        }
        assert!(matches!(refusal(Blocks::Exactly(0), 4), DeviceError::EmptyGrid { .. }));
    }

    #[test]
    fn a_cluster_that_does_not_fit_is_a_too_large_grid() {
        let error = cooperative_in_clusters::<barrier_only>(&emulator(1), Blocks::Fill, 512, 0, 4)
            .expect_err("two of four blocks fit");
        assert!(matches!(error, DeviceError::GridTooLarge { resident: 0, .. }), "{error}");
    }
}
