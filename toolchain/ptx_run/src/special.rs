//! Special registers.

use ptx::Special;
use simt::{Dim3, Position, WARP_LANES};

/// How a thread gets the value of a special register that does not change, if it has it.
pub(crate) fn special(it: Special) -> Option<fn(&Position) -> u64> {
    if let Some(element) = it.element {
        return vector(it.name, element);
    }
    Some(match it.name {
        "%laneid" => |at| at.lane().into(),
        "%warpid" => |at| at.warp().into(),
        "%nwarpid" => |at| at.block_dim.count().div_ceil(WARP_LANES.into()),
        "%smid" => |at| at.linear_block() % u64::from(simt::multiprocessors().max(1)),
        "%nsmid" => |_| simt::multiprocessors().into(),
        "%cluster_ctarank" => |at| at.cluster_rank().into(),
        "%cluster_nctarank" => |at| at.cluster_blocks.into(),
        "%lanemask_eq" => |at| 1 << at.lane(),
        "%lanemask_lt" => |at| (1 << at.lane()) - 1,
        "%lanemask_le" => |at| (2 << at.lane()) - 1,
        "%lanemask_gt" => |at| u64::from(u32::MAX) & !((2 << at.lane()) - 1),
        "%lanemask_ge" => |at| u64::from(u32::MAX) & !((1 << at.lane()) - 1),
        "%is_explicit_cluster" => |at| (at.cluster_blocks > 1).into(),
        "%dynamic_smem_size" => |_| simt::dynamic_shared().1 as u64,
        _ => return None,
    })
}

/// How a thread reads a clock, if the special register is one.
pub(crate) fn clock(it: Special) -> Option<fn() -> u64> {
    Some(match it.name {
        "%clock" => || simt::clock() & u64::from(u32::MAX),
        "%clock_hi" => || simt::clock() >> 32,
        "%clock64" => simt::clock,
        "%globaltimer" => simt::global_timer,
        "%globaltimer_lo" => || simt::global_timer() & u64::from(u32::MAX),
        "%globaltimer_hi" => || simt::global_timer() >> 32,
        _ => return None,
    })
}

/// An element of a vector. The fourth is always 0.
fn vector(name: &str, element: u8) -> Option<fn(&Position) -> u64> {
    macro_rules! elements {
        ($of:expr) => {
            match element {
                0 => Some(|at| u64::from($of(at).x)),
                1 => Some(|at| u64::from($of(at).y)),
                2 => Some(|at| u64::from($of(at).z)),
                _ => Some(|_| 0),
            }
        };
    }
    match name {
        "%tid" => elements!(|at: &Position| at.thread_idx),
        "%ntid" => elements!(|at: &Position| at.block_dim),
        "%ctaid" => elements!(|at: &Position| at.block_idx),
        "%nctaid" => elements!(|at: &Position| at.grid_dim),
        "%clusterid" => elements!(|at: &Position| in_clusters(at.block_idx, at)),
        "%nclusterid" => elements!(|at: &Position| in_clusters(at.grid_dim, at)),
        "%cluster_ctaid" => elements!(|at: &Position| Dim3::new(at.cluster_rank(), 0, 0)),
        "%cluster_nctaid" => elements!(|at: &Position| Dim3::new(at.cluster_blocks, 1, 1)),
        _ => None,
    }
}

/// An index or extent in clusters, which are along x.
fn in_clusters(it: Dim3, at: &Position) -> Dim3 {
    Dim3::new(it.x / at.cluster_blocks, it.y, it.z)
}
