//! `gridsync top`: its outputs, its text, its JSON, its check, and its refusals.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_tests::oracle::Plain;
use gridsync_verify::runs;
use half::{bf16, f16};
use serde_json::json;
use std::cmp::Ordering;
use std::fs::File;
use std::io::Write;

/// Elements of the inputs.
const LEN: usize = 1003;

/// Selects from `input`, raw on standard input, in `folder`.
fn raw<T: Plain>(folder: &Folder, input: &[T], more: &[&str]) -> Call {
    let args = ["top", "-", "--dtype", T::NAME];
    folder.call(&[&args[..], more].concat(), bytemuck::cast_slice(input))
}

/// The files of the elements and of the indices that a call writes on the CPU and in the emulator.
#[track_caller]
fn everywhere<T: Plain>(input: &[T], k: usize, more: &[&str]) -> [Vec<u8>; 2] {
    let on = |device| {
        let folder = Folder::new();
        let k = k.to_string();
        let args = ["-k", &k, "-o", "out.npy", "--indices", "at.npy", "--check", "--json"];
        let json = raw(&folder, input, &[&args[..], &["--device", device], more].concat()).json();
        assert_eq!((&json["check"]["ok"], &json["device"]), (&true.into(), &device.into()));
        assert_eq!((&json["output"], &json["indices"]), (&"out.npy".into(), &"at.npy".into()));
        ["out.npy", "at.npy"].map(|name| folder.read(name))
    };
    let files = on("cpu");
    assert!(files == on("emulator"), "{} {more:?}", T::NAME);
    files
}

/// Checks the largest and the smallest elements of `input`, in both arrangements, against a sort by
/// the comparison `by`.
fn is_selected<T: Plain>(input: &[T], more: &[&str], by: fn(&T, &T) -> Ordering) {
    for (flag, k) in [(None, 17), (Some("--smallest"), 500), (None, input.len())] {
        let is_smallest = flag.is_some();
        let more = [more, flag.as_slice()].concat();
        let compare = |a: &T, b: &T| if is_smallest { by(a, b) } else { by(b, a) };
        let mut order: Vec<usize> = (0..input.len()).collect();
        order.sort_by(|&a, &b| compare(&input[a], &input[b]));
        order.truncate(k);
        for is_by_index in [false, true] {
            if is_by_index {
                order.sort_unstable();
            }
            let more = [&more[..], if is_by_index { &["--by-index"] } else { &[] }].concat();
            let [elements, indices] = everywhere(input, k, &more);
            let expected: Vec<i64> = order.iter().map(|&index| index as i64).collect();
            assert!(indices == npy::of(&expected), "{k} of {} {more:?}", T::NAME);
            // `.npy` has no bf16.
            if T::NPY.is_some() {
                let expected: Vec<T> = order.iter().map(|&index| input[index]).collect();
                assert!(elements == npy::of(&expected), "{k} of {} {more:?}", T::NAME);
            }
        }
    }
}

#[test]
fn equal_integers_with_smaller_indices_come_first() {
    is_selected::<i32>(&runs(LEN, 42), &[], Ord::cmp);
    is_selected::<u32>(&runs(LEN, 43), &[], Ord::cmp);
    is_selected::<i64>(&runs(LEN, 44), &["--total-order"], Ord::cmp);
    is_selected::<u64>(&runs(LEN, 45), &[], Ord::cmp);
}

#[test]
fn nans_are_largest_unless_the_order_is_total() {
    macro_rules! floats {
        ($($ty:ident)*) => {$(
            let (zero, inf, nan) = (<$ty>::from_bits(0), <$ty>::INFINITY, <$ty>::NAN);
            let special = [zero, -zero, nan, inf, -nan, -zero, -inf, zero];
            let mut input = runs::<$ty>(LEN, 42);
            input.splice(500..500, special);
            is_selected(&input, &[], |a, b| {
                let nans = a.is_nan().cmp(&b.is_nan());
                nans.then(a.partial_cmp(b).unwrap_or(Ordering::Equal))
            });
            is_selected(&input, &["--total-order"], <$ty>::total_cmp);
        )*};
    }
    floats! { f16 bf16 f32 f64 }
}

#[test]
fn narrow_elements_are_written_in_the_type_that_they_are_widened_to() {
    for device in ["cpu", "emulator"] {
        let folder = Folder::new();
        let top = |dtype, bytes: &[u8]| {
            let args = ["top", "-", "-k", "2", "--dtype", dtype, "-o", "out.npy"];
            folder.call(&[&args[..], &["--device", device, "-q"]].concat(), bytes).says_nothing();
            folder.read("out.npy")
        };
        assert_eq!(top("i8", &[3, 255, 2]), npy::of(&[3i32, 2]));
        assert_eq!(top("bool", &[1, 0, 1]), npy::of(&[1u32, 1]));
        let brains = [2.5, -1.0, 0.5].map(bf16::from_f32);
        assert_eq!(top("bf16", bytemuck::cast_slice(&brains)), npy::of(&[2.5f32, 0.5]));
    }
}

#[test]
fn without_a_file_elements_and_indices_are_printed() {
    let folder = Folder::new();
    let input = [4.5f32, f32::NAN, -9.0, 4.5, 0.1, 2.0, 3.0, 1.0, 0.0, 0.0, 100.0];
    for device in ["cpu", "emulator"] {
        let call = |more: &[&str]| raw(&folder, &input, &[&["--device", device], more].concat());
        let text = call(&["-k", "4", "--check"])
            .says(&["the 4 largest of 11 f32 elements", "by comparisons on the CPU: right"]);
        assert_eq!(text.stdout, " 1  NaN\n10  100.0\n 0  4.5\n 3  4.5\n");
        let text = call(&["-k", "2", "--smallest", "--by-index", "-q"]).says_nothing();
        assert_eq!(text.stdout, "2  -9.0\n8  0.0\n");
        assert_eq!(call(&["-k", "0", "-q"]).says_nothing().stdout, "");

        let found = call(&["-k", "2", "--json"]).json();
        let elements = json!([{ "index": 1, "element": "NaN" }, { "index": 10, "element": 100.0 }]);
        assert_eq!((&found["op"], &found["k"]), (&"top".into(), &2.into()));
        assert_eq!(found["elements"], elements);
        assert!(found["output"].is_null() && found["indices"].is_null(), "{found}");
    }
}

#[test]
fn many_elements_are_not_all_printed() {
    let input: Vec<i32> = (0..300).collect();
    let call = raw(&Folder::new(), &input, &["-k", "250", "-q"]).says_nothing();
    let lines: Vec<_> = call.stdout.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[99]), (101, "299  299", "200  200"));
    let rest = lines[100];
    assert!(rest.contains("150 more elements") && rest.contains("-o FILE"), "{rest}");
    let json = raw(&Folder::new(), &input, &["-k", "250", "--json"]).json();
    assert_eq!(json["elements"].as_array().map(Vec::len), Some(250));
}

#[test]
fn a_file_of_elements_or_of_indices_replaces_the_text() {
    let folder = Folder::new();
    let input = [3i64, 9, 5];
    let call = raw(&folder, &input, &["-k", "2", "--indices", "at.npy"])
        .says(&["at.npy: 2 elements of i64"]);
    assert_eq!((call.stdout.as_str(), folder.names().len()), ("", 1));
    assert_eq!(folder.read("at.npy"), npy::of(&[1i64, 2]));
    raw(&folder, &input, &["-k", "2", "-o", "out.npy"]).says(&["out.npy: 2 elements of i64"]);
    assert_eq!(folder.read("out.npy"), npy::of(&[9i64, 5]));
}

#[test]
fn an_array_of_any_shape_is_flattened() {
    for (shape, input) in [("()", &[5i64][..]), ("(2, 2)", &[5, 6, 7, 5]), ("(0, 5)", &[])] {
        let k = input.len().to_string();
        for device in ["cpu", "emulator"] {
            let folder = Folder::new();
            let args = ["top", "-", "-k", &k, "--by-index", "-o", "out.npy", "--check", "-q"];
            let args = [&args[..], &["--device", device]].concat();
            folder.call(&args, &npy::shaped(shape, input)).says_nothing();
            assert_eq!(folder.read("out.npy"), npy::of(input), "{shape}");
        }
    }
}

#[test]
fn lines_that_interleave_and_that_a_device_cannot_hold_are_refused() {
    // The emulator has 4 GiB.
    let header = npy::shaped::<u32>("(16384, 32768)", &[]);
    let folder = Folder::new().with_zeros("zeros.npy", header.len() as u64 + (1 << 31));
    let mut file = File::options().write(true).open(folder.path("zeros.npy")).expect("it exists");
    file.write_all(&header).expect("there is room");
    let args = ["top", "zeros.npy", "-k", "3", "--axis", "0", "-o", "out.npy"];
    let parts = ["15033565184", "4294967296 are free", "--device cpu"];
    folder.call(&[&args[..], &["--device", "emulator"]].concat(), b"").fails(WRONG_USAGE, &parts);
}

#[test]
fn invalid_calls_are_refused() {
    let folder = Folder::new();
    let refused = |args: &[&str], parts: &[&str]| {
        folder.call(&[&["top", "-"], args].concat(), &[0; 8]).fails(WRONG_USAGE, parts);
    };
    refused(&["--dtype", "f32"], &["-k"]);
    refused(&["-k", "1"], &["--dtype"]);
    refused(&["-k", "1", "--dtype", "f8"], &["f8", "f16, bf16, f32"]);
    refused(&["-k", "-1", "--dtype", "f32"], &["-1"]);
    refused(&["-k", "some", "--dtype", "f32"], &["some", "2^20"]);
    let too_many = ["first 3 of 2 elements do not exist", "at most 2"];
    for device in ["cpu", "emulator"] {
        let args = ["-k", "3", "--dtype", "f32", "-o", "out.npy", "--device", device];
        refused(&args, &too_many);
    }
    refused(&["-k", "1", "--dtype", "f32", "-o", "-", "--json"], &["name a file"]);
    let one = ["-k", "1", "--dtype", "f32", "-o", "out.npy", "--indices", "out.npy"];
    refused(&one, &["--output and --indices are both out.npy"]);
    let empty = folder.call(&["top", "-", "-k", "1"], &npy::of::<f32>(&[]));
    empty.fails(WRONG_USAGE, &["first 1 of 0 elements do not exist"]);
    assert!(folder.names().is_empty());
}
