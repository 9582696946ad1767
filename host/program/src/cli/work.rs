//! Whether `--device auto` uses the CPU or a GPU for the elements of a file.
//!
//! Both read and write the same files while they compute, so that only the computing times are
//! compared.

use gridsync::parallel;

/// Extra time of a call with a GPU, in ns: to start and stop the driver and the context. On the
/// host of an H200, a process that added up 1000 numbers took 0.33 s (2026-11-24).
const OPENING: f64 = 0.33e9;

/// Cost of computing, for each element.
///
/// On the CPU: ns of one core, measured on 2 cores with 2^28 f32 in a file in memory (2^23 pairs
/// for the correlation), 2026-11-24. On the GPU: copies at 40 GB/s, which take longer than the
/// kernels; an upper bound for the correlation. For the times of calls with these numbers see
/// bench/runs/2026-11-24-nvidia-h200.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    cpu: f64,
    gpu: f64,
}

impl Cost {
    pub(super) const REDUCE: Self = Self { cpu: 0.3, gpu: 0.1 };
    /// An estimate: as the sum on a GPU.
    pub(super) const DESCRIBE: Self = Self { cpu: 3.0, gpu: 0.1 };
    pub(super) const SELECT: Self = Self { cpu: 2.0, gpu: 0.2 };
    pub(super) const SCAN: Self = Self { cpu: 4.0, gpu: 0.2 };
    /// A scan of lines that interleave: the CPU transposes some at a time. For a GPU the host
    /// transposes all, and back (2^26 f32 and 2^25 f64 on 2 cores, 2026-11-25).
    pub(super) const SCAN_COLUMNS: Self = Self { cpu: 20.0, gpu: 20.0 };
    /// 2^24 f32 on 2 cores, 2026-11-26. On a GPU 2^28 f32 from file to file on the host of an H200,
    /// less the time of opening it, reading and writing: the host copies from and to memory that is
    /// not pinned.
    pub(super) const SORT: Self = Self { cpu: 22.0, gpu: 3.3 };
    /// The same sort of the indices.
    pub(super) const ARGSORT: Self = Self { cpu: 22.0, gpu: 6.0 };
    /// An estimate: that sort, and a read of the elements in its order.
    pub(super) const UNIQUE: Self = Self { cpu: 25.0, gpu: 6.0 };
    /// An estimate. On a GPU, copies of f32 at 10 GB/s, from memory that is not pinned.
    pub(super) const HISTOGRAM: Self = Self { cpu: 1.5, gpu: 0.4 };
    /// The 64 greatest of 2^28 f32, read in parts: 0.2 s with 16 cores and 0.45 with an H200,
    /// 2026-11-27.
    pub(super) const BY_RANK: Self = Self { cpu: 7.0, gpu: 0.4 };
    pub(super) const KENDALL: Self = Self { cpu: 700.0, gpu: 2.0 };
    /// For work that needs a GPU or the emulator.
    pub(super) const KERNELS_ONLY: Self = Self { cpu: f64::INFINITY, gpu: 1.0 };

    /// The cost of so many results of the same elements, which are copied to the GPU once.
    pub(super) fn times(self, results: usize) -> Self {
        Self { cpu: self.cpu * results as f64, ..self }
    }

    /// The work of `elements` elements.
    pub(super) fn of(self, elements: usize) -> Work {
        let elements = elements as f64;
        let cores = parallel::cores() as f64;
        Work { cpu: self.cpu * elements / cores, gpu: OPENING + self.gpu * elements }
    }
}

/// Estimated time of one call, in ns.
#[derive(Clone, Copy)]
pub(super) struct Work {
    cpu: f64,
    gpu: f64,
}

impl Work {
    /// Whether a GPU is faster than the CPU, including the time to open it.
    pub(super) fn is_for_a_gpu(self) -> bool {
        self.gpu < self.cpu
    }

    /// Explains the choice.
    pub(super) fn why(self) -> String {
        let seconds = |ns: f64| format!("{:.3} s", ns / 1e9);
        match self.cpu.is_finite() {
            true => format!(
                "computing is expected to take {} on {} CPU cores, and {} on a GPU, which must be opened first",
                seconds(self.cpu),
                parallel::cores(),
                seconds(self.gpu)
            ),
            false => "--variant needs kernels".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_is_chosen_for_few_elements_and_gpu_for_long_work() {
        for cost in [
            Cost::REDUCE,
            Cost::SELECT,
            Cost::SCAN,
            Cost::SCAN_COLUMNS,
            Cost::SORT,
            Cost::ARGSORT,
            Cost::UNIQUE,
            Cost::HISTOGRAM,
            Cost::BY_RANK,
            Cost::KENDALL,
        ] {
            assert!(!cost.of(0).is_for_a_gpu());
            assert!(!cost.of(1000).is_for_a_gpu());
        }
        assert!(Cost::KENDALL.of(1 << 28).is_for_a_gpu() || parallel::cores() > 300);
        assert!(Cost::KERNELS_ONLY.of(1).is_for_a_gpu());
    }
}
