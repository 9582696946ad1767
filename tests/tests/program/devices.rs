//! `gridsync devices`, and the choice of a device.

use crate::call::{DEVICE_FAILURE, WRONG_USAGE, gridsync, without_cuda};
use gridsync_tests::devices::with_cuda;

#[test]
fn without_cuda_it_reports_that_and_lists_the_rest() {
    let devices = without_cuda(&["devices"], b"").succeeds();
    for part in ["cuda      none: ", "/nonexistent/libcuda.so.1", "emulator", "cpu", "cores"] {
        assert!(devices.stdout.contains(part), "{part:?}: {}", devices.stdout);
    }
    let json = without_cuda(&["devices", "--json"], b"").json();
    assert_eq!(json["cuda"], serde_json::json!([]));
    assert!(json["no_cuda"].is_string(), "{json}");
    assert_eq!(json["emulator"], true);
}

#[test]
fn with_cuda_it_lists_the_limits_that_launches_are_planned_with() {
    with_cuda(|device| {
        let json = gridsync(&["devices", "--json"], b"").json();
        let first = &json["cuda"][0];
        assert_eq!(first["device"], "cuda:0");
        assert!(json["no_cuda"].is_null(), "{json}");
        let text = gridsync(&["devices"], b"").succeeds().stdout;
        assert!(text.contains(&device.properties().name), "{text}");
        let gpus = json["cuda"].as_array().map_or(0, Vec::len);
        assert!(first["reaches"].as_array().is_some_and(|others| others.len() < gpus), "{json}");
        assert_eq!(text.contains("can access the memory"), gpus > 1, "{text}");
    });
}

#[test]
fn cuda_without_a_driver_is_a_device_failure() {
    for args in [
        &["demo", "--device", "cuda"][..],
        &["demo", "--device", "cuda:7"],
        &["verify", "--device", "cuda"],
        &["reduce", "-", "--dtype", "i32", "--op", "sum", "--device", "cuda"],
    ] {
        without_cuda(args, &[0; 8]).fails(DEVICE_FAILURE, &["CUDA driver", "GRIDSYNC_LIBCUDA"]);
    }
}

#[test]
fn an_unknown_kind_of_device_is_refused_with_the_known_kinds() {
    for device in ["gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:4294967296", "", "CPU"] {
        without_cuda(&["devices", "--device", device], b"").fails(
            WRONG_USAGE,
            &["auto, cuda, cuda:N, cuda:N,M,…, cuda:all, emulator, emulator:N, ptx, ptx:N and cpu"],
        );
    }
}
