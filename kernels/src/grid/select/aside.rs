//! What a selection counts in addition to the elements that it keeps.

/// A second count of the elements of a tile. `()` counts nothing, and changes no instruction.
pub(in crate::grid) trait Aside: Copy {
    /// Both counts of a warp in one word, which sums of words keep apart: `kept`, and the warp's
    /// own. No tile has 2^16 elements.
    fn with(self, kept: u32) -> u32;

    /// The elements kept, of a sum of such words.
    fn kept(sum: u32) -> u32;

    /// Adds the tile's second count, of the sum over its warps, to that of the launch. Called by
    /// all threads of the block.
    fn add(self, sum: u32, thread: u32);

    /// Where `len` elements are written, and how many, if those before them fill `start` of `room`
    /// places.
    fn in_room(start: usize, len: usize, room: usize) -> (usize, usize);
}

impl Aside for () {
    #[inline(always)]
    fn with(self, kept: u32) -> u32 {
        kept
    }

    #[inline(always)]
    fn kept(sum: u32) -> u32 {
        sum
    }

    #[inline(always)]
    fn add(self, _: u32, _: u32) {}

    #[inline(always)]
    fn in_room(start: usize, len: usize, _: usize) -> (usize, usize) {
        (start, len)
    }
}
