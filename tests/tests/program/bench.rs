//! `gridsync bench`.

use crate::call::{DEVICE_FAILURE, WRONG_USAGE, gridsync, without_cuda};
use gridsync_tests::devices::with_cuda;

#[test]
fn the_time_of_an_emulated_grid_is_refused() {
    for device in ["auto", "emulator"] {
        let call = without_cuda(&["bench", "barrier", "--device", device], b"");
        call.fails(WRONG_USAGE, &["emulated", "needs a GPU"]);
    }
    without_cuda(&["bench", "barrier", "--device", "cuda"], b"").fails(DEVICE_FAILURE, &["driver"]);
}

#[test]
fn a_suite_that_is_not_there_is_refused() {
    without_cuda(&["bench", "nothing"], b"").fails(WRONG_USAGE, &["nothing", "barrier"]);
}

#[test]
fn its_records_have_the_keys_that_scripts_read_on_cuda() {
    with_cuda(|_cuda| {
        let records = gridsync(&["bench", "barrier", "--json"], b"").json();
        let records = records.as_array().expect("an array of records");
        assert!(records.len() >= 32, "two barriers over the shapes that fit");
        for record in records {
            for key in [
                "suite", "variant", "device", "params", "unit", "median", "min", "max", "samples",
                "bytes", "gb_per_s", "peer",
            ] {
                assert!(record.get(key).is_some(), "{key} in {record}");
            }
            let [min, median, max] = ["min", "median", "max"].map(|key| record[key].as_f64());
            assert!(min <= median && median <= max, "{record}");
        }
    });
}
