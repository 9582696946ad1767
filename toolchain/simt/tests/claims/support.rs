//! A view of words for kernels under test, and a check of a fault's site.

use simt::{
    Access, Dim3, Fault, Lanes, LaunchConfig, Memory, Order, Policy, Schedule, Scope, Space,
};

/// Words of device or shared memory, each access checked.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    start: usize,
    space: Space,
}

impl Words {
    /// New device memory of `count` zeros.
    pub(crate) fn zeros(memory: &mut Memory, count: usize) -> Self {
        let words = Self::unwritten(memory, count);
        memory.zero(words.start as u64, 4 * count).expect("allocated just now");
        words
    }

    /// New device memory of `count` words that were never written.
    pub(crate) fn unwritten(memory: &mut Memory, count: usize) -> Self {
        let start = memory.alloc(4 * count, 4).expect("tests fit in memory") as usize;
        Self { start, space: Space::Global }
    }

    /// The words of device memory starting at an address.
    pub(crate) fn global(start: u64) -> Self {
        Self { start: start as usize, space: Space::Global }
    }

    /// The shared words at a pointer returned by the emulator.
    pub(crate) fn shared(start: *mut u8) -> Self {
        Self { start: start.expose_provenance(), space: Space::Shared }
    }

    /// The words of shared memory at a pointer returned by `cluster_shared`.
    pub(crate) fn cluster(start: *mut u8) -> Self {
        Self { start: start.expose_provenance(), space: Space::Cluster }
    }

    pub(crate) fn address(self) -> u64 {
        self.start as u64
    }

    /// All words, read from the host.
    pub(crate) fn host(self, memory: &Memory, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        memory.read(self.address(), &mut bytes).expect("all words written");
        bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect()
    }

    fn at(self, index: usize) -> *mut u32 {
        core::ptr::with_exposed_provenance_mut(self.start.wrapping_add(4 * index))
    }

    #[track_caller]
    pub(crate) fn get(self, index: usize) -> u32 {
        let at = self.at(index);
        if !simt::access(at.cast(), 4, Access::read(self.space)) {
            return 0;
        }
        // SAFETY: checked just now, and no other emulated thread has run since.
        unsafe { at.read() }
    }

    #[track_caller]
    pub(crate) fn set(self, index: usize, value: u32) {
        let at = self.at(index);
        if simt::access(at.cast(), 4, Access::write(self.space)) {
            // SAFETY: checked just now, and no other emulated thread has run since.
            unsafe { at.write(value) };
        }
    }

    /// Loads with an order and a scope.
    #[track_caller]
    pub(crate) fn load(self, index: usize, order: Order, scope: Scope) -> u32 {
        let at = self.at(index);
        let access = Access::read(self.space).ordered(order, scope);
        if !simt::access(at.cast(), 4, access) {
            return 0;
        }
        // SAFETY: checked just now, and no other emulated thread has run since.
        unsafe { at.read() }
    }

    /// Stores with an order and a scope.
    #[track_caller]
    pub(crate) fn store(self, index: usize, value: u32, order: Order, scope: Scope) {
        let at = self.at(index);
        let access = Access::write(self.space).ordered(order, scope);
        if simt::access(at.cast(), 4, access) {
            // SAFETY: checked just now, and no other emulated thread has run since.
            unsafe { at.write(value) };
        }
    }

    /// Adds atomically and returns the old value.
    #[track_caller]
    pub(crate) fn add(self, index: usize, value: u32) -> u32 {
        self.add_at(index, value, Order::AcqRel, Scope::Device)
    }

    /// Adds atomically with an order and a scope, and returns the old value.
    #[track_caller]
    pub(crate) fn add_at(self, index: usize, value: u32, order: Order, scope: Scope) -> u32 {
        let at = self.at(index);
        let access = Access::atomic(self.space, order, scope);
        if !simt::access(at.cast(), 4, access) {
            return 0;
        }
        // SAFETY: checked just now, and no other emulated thread has run since.
        unsafe {
            let old = at.read();
            at.write(old.wrapping_add(value));
            old
        }
    }

    /// Replaces a value atomically and returns the old one.
    #[track_caller]
    pub(crate) fn exchange(self, index: usize, value: u32) -> u32 {
        let at = self.at(index);
        let access = Access::atomic(self.space, Order::AcqRel, Scope::Device);
        if !simt::access(at.cast(), 4, access) {
            return 0;
        }
        // SAFETY: checked just now, and no other emulated thread has run since.
        unsafe { at.replace(value) }
    }

    /// Spins until the word is at least `value`.
    #[track_caller]
    pub(crate) fn wait_for(self, index: usize, value: u32) {
        while self.get(index) < value {
            simt::spin();
        }
    }
}

/// Every policy, with seed 0 and some others, with lanes together and apart.
pub(crate) fn schedules() -> Vec<Schedule> {
    let fixed = [Policy::RoundRobin, Policy::RunAhead, Policy::Reverse, Policy::Coarse];
    let mut all: Vec<Schedule> = fixed.into_iter().map(Schedule::new).collect();
    let random = Policy::Random { quantum: 5 };
    all.extend([1, 2, 3].map(|seed| Schedule::seeded(random, seed)));
    let apart = |policy| Schedule::seeded(policy, 4).with_lanes(Lanes::Apart);
    all.extend(fixed.into_iter().chain([random]).map(apart));
    all
}

/// A launch of the kernel "test" under a policy.
pub(crate) fn config(
    grid: impl Into<Dim3>,
    block: impl Into<Dim3>,
    policy: Policy,
) -> LaunchConfig<'static> {
    LaunchConfig { schedule: Schedule::new(policy), ..LaunchConfig::new("test", grid, block) }
}

/// Linear number of the calling thread in the grid.
pub(crate) fn global_thread() -> usize {
    let at = simt::position();
    (at.linear_block() * at.block_dim.count()) as usize + at.linear_thread() as usize
}

/// Checks that a fault and its message blame this thread at this line of this file.
#[track_caller]
pub(crate) fn assert_site(fault: &Fault, block: u32, thread: u32, file: &str, line: u32) {
    let site = fault.site().unwrap_or_else(|| panic!("{fault} names no site"));
    assert_eq!(&*site.kernel, "test");
    assert_eq!(site.block, Dim3::new(block, 0, 0), "{fault}");
    assert_eq!(site.thread, Dim3::new(thread, 0, 0), "{fault}");
    assert_eq!((site.place.file(), site.place.line()), (file, line), "{fault}");
    let said =
        format!("kernel test, block ({block}, 0, 0), thread ({thread}, 0, 0), at {file}:{line}");
    assert!(fault.to_string().contains(&said), "{fault}");
}
