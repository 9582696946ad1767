//! Device memory from the caller's allocator.

/// An allocator of device memory, such as the caching allocator of a framework, for
/// [`Device::with_allocator`](super::Device::with_allocator).
///
/// # Safety
///
/// Memory that [`allocate`](Self::allocate) returns belongs to the device, begins at a multiple of
/// 256 bytes, and may be used at once by later work in the stream of the device. No other memory
/// overlaps it until [`free`](Self::free), and then until the work so far in the stream has ended.
pub unsafe trait Allocator: Send + Sync + 'static {
    /// The address of new memory of this many bytes, at least 1; `None` if there is no room.
    fn allocate(&self, bytes: usize) -> Option<u64>;

    /// Frees memory in the order of the stream: work submitted before may still use it.
    fn free(&self, address: u64);
}
