//! Which limit a launch exceeds, and by how much. The driver only reports that it refuses the
//! launch.

use super::{Geometry, KernelAttributes, Properties, occupancy};

/// The most threads of a block along z (CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability").
const MOST_THREADS_ALONG_Z: u32 = 64;

/// The most blocks in a cluster, even for a kernel that has opted in (CUDA C++ Programming Guide,
/// "Thread Block Clusters").
const MOST_BLOCKS_OF_A_CLUSTER: u32 = 16;

/// A limit that a launch exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exceeded {
    /// The resource.
    pub(super) what: &'static str,
    /// The requested amount.
    pub(super) asked: u64,
    /// The limit.
    pub(super) limit: u64,
    /// The fix.
    pub(super) remedy: &'static str,
}

/// The first limit of the device or of the kernel that `geometry` exceeds. `None` if it exceeds
/// none of the limits checked here. Shared memory and resident blocks are checked elsewhere.
pub(super) fn exceeded(
    device: &Properties,
    kernel: &KernelAttributes,
    geometry: &Geometry,
) -> Option<Exceeded> {
    let Geometry { grid, block, cluster, .. } = *geometry;
    let threads = block.volume();
    let smaller = "launch smaller blocks";
    let along_y = Geometry::MOST_ALONG_Y;
    let limits = [
        ("threads of a block", threads, device.max_threads_per_block, smaller),
        ("threads of a block along z", block.z.into(), MOST_THREADS_ALONG_Z, smaller),
        (
            "registers of a block",
            occupancy::registers_of_a_block(threads, kernel.registers),
            device.registers_per_block,
            "launch smaller blocks, or bound the kernel's registers by #[kernel(max_threads = N)]",
        ),
        (
            "threads of a block of this kernel",
            threads,
            kernel.max_threads,
            "launch smaller blocks, or raise the kernel's own max_threads",
        ),
        (
            "blocks of a grid",
            grid.x.into(),
            device.max_grid_x,
            "let blocks process more than one part",
        ),
        ("blocks of a grid along y", grid.y.into(), along_y, "put the blocks along x"),
        ("blocks of a grid along z", grid.z.into(), along_y, "put the blocks along x"),
        (
            "blocks of a cluster",
            cluster.unwrap_or(1).into(),
            MOST_BLOCKS_OF_A_CLUSTER,
            "launch smaller clusters",
        ),
    ];
    limits.into_iter().find_map(|(what, asked, limit, remedy)| {
        let limit = u64::from(limit);
        // A limit that the device or the driver does not report is 0.
        (limit > 0 && asked > limit).then_some(Exceeded { what, asked, limit, remedy })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(registers: u32, geometry: Geometry) -> Option<(&'static str, u64, u64)> {
        let device = Properties {
            max_threads_per_block: 1024,
            registers_per_block: 65_536,
            max_grid_x: i32::MAX as u32,
            ..Properties::default()
        };
        let kernel = KernelAttributes { registers, static_shared: 0, local: 0, max_threads: 1024 };
        exceeded(&device, &kernel, &geometry).map(|found| (found.what, found.asked, found.limit))
    }

    #[test]
    fn a_launch_one_past_a_limit_names_the_limit() {
        for (at, past, what) in [
            (Geometry::new(1, 1024), Geometry::new(1, 1025), "threads of a block"),
            (
                Geometry::new(1, (1, 1, 64)),
                Geometry::new(1, (1, 1, 65)),
                "threads of a block along z",
            ),
            (
                Geometry::new((1, 65_535), 1),
                Geometry::new((1, 65_536), 1),
                "blocks of a grid along y",
            ),
            (Geometry::new(1 << 30, 1), Geometry::new(1 << 31, 1), "blocks of a grid"),
            (
                Geometry::new(16, 1).clusters_of(16),
                Geometry::new(17, 1).clusters_of(17),
                "blocks of a cluster",
            ),
        ] {
            assert_eq!(first(16, at), None, "{at}");
            assert_eq!(first(16, past).map(|(named, ..)| named), Some(what), "{past}");
        }
    }

    #[test]
    fn registers_are_allocated_for_whole_warps_in_units() {
        assert_eq!(first(64, Geometry::new(1, 1024)), None);
        let all = ("registers of a block", 1024 * 72, 65_536);
        assert_eq!(first(65, Geometry::new(1, 1024)), Some(all));
        // 897 threads are 29 warps, and use the registers of 32.
        assert_eq!(first(72, Geometry::new(1, 896)), None);
        assert_eq!(first(72, Geometry::new(1, 897)), Some(all));
    }
}
