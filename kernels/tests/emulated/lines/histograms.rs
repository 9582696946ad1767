//! Histograms.

use super::{On, on};
use crate::support::Zeros;
use gridsync_kernels::grid::histogram::{self, Counts, Layout, Numbers, Sums};

#[test]
fn faults_in_a_histogram_name_the_caller() {
    let in_layout = |layout: Layout, bins| On {
        dynamic_shared: layout.shared_bytes(bins) as usize,
        ..on(2, histogram::THREADS)
    };
    let sums = |zeros: Zeros, bins, is_last| {
        let counts = |number, len| Counts { narrow: zeros.of(number, len), wide: zeros.of(4, 0) };
        let len = if is_last { bins } else { 0 };
        Sums { counts: counts(1, bins), partial: counts(2, len), ended: zeros.of(3, len.min(1)) }
    };
    let numbers = Numbers { first: 0u32 };
    let columns = Layout::columns(5);
    walk! {
        in_layout(columns, 9) => |zeros|
            histogram::histogram(numbers, zeros.of(0, 99), 9, columns, sums(zeros, 9, true));
        in_layout(Layout::HALVES, 9) => |zeros|
            histogram::histogram(numbers, zeros.of(0, 99), 9, Layout::HALVES, sums(zeros, 9, false));
        in_layout(Layout::GLOBAL, 9) => |zeros|
            histogram::histogram(numbers, zeros.of(0, 99), 9, Layout::GLOBAL, sums(zeros, 9, false));
    }
}
