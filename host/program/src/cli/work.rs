//! What `--device auto` takes for the elements of a file: the CPU, or the GPU once it is open.
//!
//! Both read and write the same files, at the same time as they compute. So only computing is compared.

use gridsync::parallel;

/// ns that a call takes longer with a GPU: the driver, the context, and their end.
/// On the host of an H200, a process that added up 1000 numbers took 0.33 s (2026-11-24).
const OPENING: f64 = 0.33e9;

/// What computing costs, for each element.
///
/// On the CPU: ns of one core, measured on 2 cores with 2^28 f32 in a file in memory (for the correlation
/// 2^23 pairs), 2026-11-24. On the GPU: copies at 40 GB/s, which take longer than the kernels; for the
/// correlation an upper bound. bench/runs/2026-11-24-nvidia-h200 has what calls then took.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    cpu: f64,
    gpu: f64,
}

impl Cost {
    pub(super) const REDUCE: Self = Self { cpu: 0.3, gpu: 0.1 };
    pub(super) const SELECT: Self = Self { cpu: 2.0, gpu: 0.2 };
    pub(super) const SCAN: Self = Self { cpu: 4.0, gpu: 0.2 };
    /// A scan of lines that interleave: the CPU transposes some at a time. For a GPU the host transposes
    /// all, and back (2^26 f32 and 2^25 f64 on 2 cores, 2026-11-25).
    pub(super) const SCAN_COLUMNS: Self = Self { cpu: 20.0, gpu: 20.0 };
    pub(super) const KENDALL: Self = Self { cpu: 700.0, gpu: 2.0 };
    /// What only a GPU or the emulator has.
    pub(super) const KERNELS_ONLY: Self = Self { cpu: f64::INFINITY, gpu: 1.0 };

    /// The work of so many elements.
    pub(super) fn of(self, elements: usize) -> Work {
        let elements = elements as f64;
        let cores = parallel::cores() as f64;
        Work { cpu: self.cpu * elements / cores, gpu: OPENING + self.gpu * elements }
    }
}

/// How long the elements of one call are expected to take, in ns.
#[derive(Clone, Copy)]
pub(super) struct Work {
    cpu: f64,
    gpu: f64,
}

impl Work {
    /// Whether a GPU is faster than the CPU, though it has to be opened first.
    pub(super) fn is_for_a_gpu(self) -> bool {
        self.gpu < self.cpu
    }

    /// Why, in words.
    pub(super) fn why(self) -> String {
        let seconds = |ns: f64| format!("{:.3} s", ns / 1e9);
        match self.cpu.is_finite() {
            true => format!(
                "computing is expected to take {} on {} cores of the CPU, and {} on a GPU, which has to be opened first",
                seconds(self.cpu),
                parallel::cores(),
                seconds(self.gpu)
            ),
            false => "--variant asks for kernels".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_elements_are_for_the_cpu_and_many_that_take_long_are_for_the_gpu() {
        for cost in [Cost::REDUCE, Cost::SELECT, Cost::SCAN, Cost::SCAN_COLUMNS, Cost::KENDALL] {
            assert!(!cost.of(0).is_for_a_gpu());
            assert!(!cost.of(1000).is_for_a_gpu());
        }
        assert!(Cost::KENDALL.of(1 << 28).is_for_a_gpu() || parallel::cores() > 300);
        assert!(Cost::KERNELS_ONLY.of(1).is_for_a_gpu());
    }
}
