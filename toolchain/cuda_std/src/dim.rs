//! Shapes and positions of up to three dimensions.

use core::fmt;

/// A shape or a position in up to three dimensions, x fastest.
///
/// Has the layout of CUDA's `dim3`, so it can be passed to the device runtime by value.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dim3 {
    /// Along x, the fastest dimension.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z, the slowest dimension.
    pub z: u32,
}

impl Dim3 {
    /// The shape or position `(x, y, z)`.
    #[inline(always)]
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// The number of positions in this shape.
    #[inline(always)]
    pub const fn volume(self) -> u64 {
        self.x as u64 * self.y as u64 * self.z as u64
    }

    /// The linear index of `position` in this shape: x fastest, then y, then z.
    #[inline(always)]
    pub const fn linear(self, position: Self) -> u64 {
        (position.z as u64 * self.y as u64 + position.y as u64) * self.x as u64 + position.x as u64
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self::new(x, 1, 1)
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self::new(x, y, 1)
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self::new(x, y, z)
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.x, self.y, self.z) {
            (x, 1, 1) => write!(f, "{x}"),
            (x, y, 1) => write!(f, "{x}×{y}"),
            (x, y, z) => write!(f, "{x}×{y}×{z}"),
        }
    }
}
