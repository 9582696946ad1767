//! Kernels that hold many values in registers.

use gridsync::device::{Device, Geometry};
use gridsync_lab::limits::HOLDERS;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;

pub(crate) fn trials() -> Trials {
    trials! {
        on_each_backend:
            each_thread_computes_the_right_result;
    }
}

pub(super) fn each_thread_computes_the_right_result(device: &Device) {
    for holder in HOLDERS {
        for geometry in
            [Geometry::new(1, 1), Geometry::new(3, 33), Geometry::new((2, 2), (4, 3, 2))]
        {
            let right = holder.run(device, &geometry);
            assert_eq!(right, Ok(true), "{}: {geometry}", holder.kernel.name);
        }
    }
}
