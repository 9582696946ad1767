//! The structures that describe launches and nodes of graphs.

use crate::launch::Shape;
use std::ffi::{c_char, c_void};
use std::slice;

/// The shape of a launch, for the log.
pub(crate) fn shape_text(shape: &Shape) -> String {
    let [[gx, gy, gz], [bx, by, bz]] = [shape.grid, shape.block];
    format!("{gx},{gy},{gz} {bx},{by},{bz} {}", shape.shared)
}

/// `CUDA_KERNEL_NODE_PARAMS_v1` of cuda.h, declared here independently of libcuda.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NodeParams {
    pub(crate) function: *const c_char,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) arguments: *const *const c_void,
    pub(crate) extra: usize,
}

/// `CUlaunchConfig` of cuda.h, declared here independently of libcuda.
#[repr(C)]
pub struct Config {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) stream: usize,
    attributes: *const [u32; 18],
    count: u32,
}

impl Config {
    /// The attributes: 72 bytes each, with the id, four bytes of padding, and the value.
    fn attributes(&self) -> &[[u32; 18]] {
        match self.count {
            0 => &[],
            // SAFETY: the caller provides the number of attributes.
            count => unsafe { slice::from_raw_parts(self.attributes, count as usize) },
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        let cluster = self.attributes().iter().find(|words| words[0] == 4);
        Shape {
            grid: self.grid,
            block: self.block,
            shared: self.shared,
            cluster: cluster.map(|words| words[2]),
        }
    }

    pub(crate) fn attributes_text(&self) -> String {
        let one = |words: &[u32; 18]| match words[0] {
            2 => format!(" cooperative={}", words[2]),
            4 => format!(" cluster={},{},{}", words[2], words[3], words[4]),
            6 => format!(" programmatic={}", words[2]),
            other => format!(" unknown={other}"),
        };
        self.attributes().iter().map(one).collect()
    }

    pub(crate) fn describe(&self) -> String {
        shape_text(&self.shape()) + &self.attributes_text()
    }
}
