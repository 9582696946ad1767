//! Several devices: `--device` with more than one, for all primitives that take files.

use crate::call::{DEVICE_FAILURE, WRONG_USAGE, without_cuda};
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_verify::{Input, sample};

/// Values whose sum depends on the order in which they are added, in more than 4 MiB.
fn adverse() -> Vec<f32> {
    let values = sample::<f32>(Input::Values, (1 << 20) + 100_001, 7);
    let scale = |(at, value)| if at % 7 == 0 { value * 1e30 } else { value };
    values.into_iter().enumerate().map(scale).collect()
}

#[test]
fn every_primitive_gives_the_same_result_on_any_number_of_devices() {
    let values = adverse();
    let folder = Folder::new()
        .with("x.npy", npy::of(&values))
        .with("y.npy", npy::of(&values[..3000]))
        .with("z.npy", npy::of(&values[5000..8000]))
        .with("r.npy", npy::shaped::<u64>("(2, 2)", &[0, 3000, 17, 2999]));
    let on = |device: &str| {
        let call = |args: &[&str]| {
            let args = [args, &["--device", device, "-q"]].concat();
            folder.call(&args, b"").says_nothing().stdout
        };
        let sum = call(&["reduce", "x.npy", "--op", "sum"]);
        let parted = call(&["reduce", "x.npy", "--op", "sum", "--part", "400000"]);
        assert_eq!(sum, parted, "{device}");
        let place = call(&["reduce", "x.npy", "--op", "argmax"]);
        let described = call(&["describe", "y.npy", "--ddof", "1"]);
        let tau = call(&["kendall", "y.npy", "z.npy", "--part", "500"]);
        call(&["scan", "y.npy", "--op", "sum", "-o", "scanned.npy", "--check"]);
        call(&["select", "y.npy", "--where", "< 0", "-o", "kept.npy"]);
        call(&["range-sum", "y.npy", "r.npy", "-o", "sums.npy"]);
        let files = ["scanned.npy", "kept.npy", "sums.npy"].map(|name| folder.read(name));
        ([sum, place, described, tau], files)
    };
    let expected = on("cpu");
    for device in ["emulator:2", "emulator:3"] {
        assert!(on(device) == expected, "{device}");
    }
}

#[test]
fn several_devices_are_named_in_the_output() {
    let folder = Folder::new().with("x.npy", npy::of(&[1i32, 2, 3]));
    let args = ["reduce", "x.npy", "--op", "sum", "--device", "emulator:2", "--json"];
    let json = folder.call(&args, b"").json();
    assert_eq!(json["device"], "2 GPUs: emulator:0, emulator:1");
    assert_eq!(json["result"], 6);
}

#[test]
fn work_that_several_devices_cannot_share_is_refused() {
    let folder = Folder::new().with("x.npy", npy::shaped("(2, 2)", &[1i32, 2, 3, 4]));
    let rows = ["reduce", "x.npy", "--op", "sum", "--rows", "--device", "emulator:2"];
    let one = ["reduce --rows runs on one device, not on 2: use --device emulator"];
    folder.call(&rows, b"").fails(WRONG_USAGE, &one);
    let sort = ["sort", "x.npy", "-o", "out.npy", "--device", "emulator:2"];
    let one = ["sort runs on one device, not on 2: use --device emulator"];
    folder.call(&sort, b"").fails(WRONG_USAGE, &one);
    let group = ["group", "x.npy", "x.npy", "--device", "emulator:2"];
    let one = ["group runs on one device, not on 2: use --device emulator"];
    folder.call(&group, b"").fails(WRONG_USAGE, &one);
    let unique = ["unique", "x.npy", "--device", "emulator:2"];
    let one = ["unique runs on one device, not on 2: use --device emulator"];
    folder.call(&unique, b"").fails(WRONG_USAGE, &one);
    let top = ["top", "x.npy", "-k", "2", "--device", "emulator:2"];
    let one = ["top runs on one device, not on 2: use --device emulator"];
    folder.call(&top, b"").fails(WRONG_USAGE, &one);
    let quantile = ["quantile", "x.npy", "--device", "emulator:2"];
    let one = ["quantile runs on one device, not on 2: use --device emulator"];
    folder.call(&quantile, b"").fails(WRONG_USAGE, &one);
    let histogram = ["histogram", "x.npy", "--device", "emulator:2"];
    let one = ["histogram runs on one device, not on 2: use --device emulator"];
    folder.call(&histogram, b"").fails(WRONG_USAGE, &one);
    let demo = without_cuda(&["demo", "--device", "emulator:3"], b"");
    demo.fails(WRONG_USAGE, &["one device, not on 3", "--device emulator"]);
}

#[test]
fn devices_that_do_not_exist_are_refused() {
    let folder = Folder::new().with("x.npy", npy::of(&[1i32, 2, 3]));
    let on = |device| folder.call(&["reduce", "x.npy", "--op", "sum", "--device", device], b"");
    for device in ["cuda:0,", "cuda:0,x", "cuda:", "emulator:", "emulator:x", "cuda:-1"] {
        let call = on(device);
        assert_eq!(call.code, Some(WRONG_USAGE), "{call:?}");
        assert!(call.stderr.contains("cuda:N,M,…, cuda:all, emulator"), "{call:?}");
    }
    for device in ["emulator:0", "emulator:33"] {
        on(device).fails(WRONG_USAGE, &["GPUs cannot work together: name 1 to 32"]);
    }
    for device in ["cuda:0,1", "cuda:all"] {
        on(device).fails(DEVICE_FAILURE, &["no CUDA driver library"]);
    }
}
