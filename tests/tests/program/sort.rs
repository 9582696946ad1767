//! `gridsync sort`: its output, its JSON, its check, and its refusals.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_tests::oracle::Plain;
use gridsync_verify::runs;
use half::{bf16, f16};
use std::cmp::Ordering;
use std::fs::File;
use std::io::Write;

/// Elements of the inputs.
const LEN: usize = 1003;

/// Sorts `input`, raw on standard input, to `out.npy` in `folder`.
fn raw<T: Plain>(folder: &Folder, input: &[T], more: &[&str]) -> Call {
    let args = ["sort", "-", "--dtype", T::NAME, "-o", "out.npy"];
    folder.call(&[&args[..], more].concat(), bytemuck::cast_slice(input))
}

/// The file that a sort of `input` writes on the CPU and in the emulator.
#[track_caller]
fn everywhere<T: Plain>(input: &[T], more: &[&str]) -> Vec<u8> {
    let on = |device| {
        let folder = Folder::new();
        let more = [more, &["--check", "--json", "--device", device]].concat();
        let json = raw(&folder, input, &more).json();
        assert_eq!((&json["check"]["ok"], &json["device"]), (&true.into(), &device.into()));
        let op = if more.contains(&"--argsort") { "argsort" } else { "sort" };
        assert_eq!((&json["op"], &json["n"]), (&op.into(), &input.len().into()));
        folder.read("out.npy")
    };
    let file = on("cpu");
    assert!(file == on("emulator"), "{} {more:?}", T::NAME);
    file
}

/// Checks stable sorts of `input`, ascending and descending, against the comparison `by`.
fn is_sorted<T: Plain>(input: &[T], more: &[&str], by: fn(&T, &T) -> Ordering) {
    for is_descending in [false, true] {
        let more = [more, if is_descending { &["--descending"] } else { &[] }].concat();
        let compare = |a: &T, b: &T| if is_descending { by(b, a) } else { by(a, b) };
        let mut order: Vec<usize> = (0..input.len()).collect();
        order.sort_by(|&a, &b| compare(&input[a], &input[b]));
        let indices: Vec<i64> = order.iter().map(|&index| index as i64).collect();
        let found = everywhere(input, &[&more[..], &["--argsort"]].concat());
        assert!(found == npy::of(&indices), "{} --argsort {more:?}", T::NAME);
        // `.npy` has no bf16.
        if T::NPY.is_some() {
            let sorted: Vec<T> = order.iter().map(|&index| input[index]).collect();
            assert!(everywhere(input, &more) == npy::of(&sorted), "{} {more:?}", T::NAME);
        }
    }
}

#[test]
fn equal_integers_keep_their_order_in_both_directions() {
    is_sorted::<i32>(&runs(LEN, 42), &[], Ord::cmp);
    is_sorted::<u32>(&runs(LEN, 43), &[], Ord::cmp);
    is_sorted::<i64>(&runs(LEN, 44), &["--total-order"], Ord::cmp);
    is_sorted::<u64>(&runs(LEN, 45), &[], Ord::cmp);
}

#[test]
fn zeros_are_equal_and_nans_are_greatest_unless_the_order_is_total() {
    macro_rules! floats {
        ($($ty:ident)*) => {$(
            let (zero, inf, nan) = (<$ty>::from_bits(0), <$ty>::INFINITY, <$ty>::NAN);
            let special = [zero, -zero, nan, inf, -nan, -zero, -inf, zero];
            let mut input = runs::<$ty>(LEN, 42);
            input.splice(500..500, special);
            input.extend(special);
            is_sorted(&input, &[], |a, b| {
                let nans = a.is_nan().cmp(&b.is_nan());
                nans.then(a.partial_cmp(b).unwrap_or(Ordering::Equal))
            });
            is_sorted(&input, &["--total-order"], <$ty>::total_cmp);
        )*};
    }
    floats! { f16 bf16 f32 f64 }
}

/// A `.npy` file of one dimension with `len` elements of a type that is not [`Plain`].
fn file_of(descr: &str, len: usize, data: &[u8]) -> Vec<u8> {
    npy::raw(&npy::header(descr, false, &format!("({len},)")), data)
}

#[test]
fn narrow_elements_are_written_in_the_type_of_the_input_and_bf16_as_f32() {
    for device in ["cpu", "emulator"] {
        let folder = Folder::new();
        let sort = |dtype, bytes: &[u8]| {
            let args = ["sort", "-", "--dtype", dtype, "-o", "out.npy", "--device", device, "-q"];
            folder.call(&args, bytes).says_nothing();
            folder.read("out.npy")
        };
        assert_eq!(sort("i8", &[3, 255, 2]), file_of("|i1", 3, &[255, 2, 3]));
        assert_eq!(sort("u8", &[3, 255, 2]), file_of("|u1", 3, &[2, 3, 255]));
        assert_eq!(sort("bool", &[1, 0, 1]), file_of("|b1", 3, &[0, 1, 1]));
        let halves = [3i16, -1, 2];
        let sorted = [-1i16, 2, 3];
        let expected = file_of("<i2", 3, bytemuck::cast_slice(&sorted));
        assert_eq!(sort("i16", bytemuck::cast_slice(&halves)), expected);
        let expected = file_of("<u2", 3, bytemuck::cast_slice(&[2i16, 3, -1]));
        assert_eq!(sort("u16", bytemuck::cast_slice(&halves)), expected);
        let brains = [2.5, -1.0, 0.5].map(bf16::from_f32);
        assert_eq!(sort("bf16", bytemuck::cast_slice(&brains)), npy::of(&[-1.0f32, 0.5, 2.5]));
    }
}

#[test]
fn narrow_integers_of_any_order_are_sorted_and_checked() {
    let bytes: Vec<u8> = (0..5003u32).map(|i| ((i * 40_503) >> 7) as u8).collect();
    for device in ["cpu", "emulator"] {
        let folder = Folder::new();
        let args = ["sort", "-", "-o", "out.npy", "--check", "--device", device];
        let with_json = [&args[..], &["--json"]].concat();
        let json = folder.call(&with_json, &file_of("|i1", bytes.len(), &bytes)).json();
        assert_eq!((&json["dtype"], &json["stored"]), (&"i8".into(), &"i8".into()));
        let mut sorted = bytes.clone();
        sorted.sort_unstable_by_key(|&byte| byte as i8);
        assert!(folder.read("out.npy") == file_of("|i1", bytes.len(), &sorted));
        let indices = [&with_json[..], &["--argsort", "--descending"]].concat();
        let json = folder.call(&indices, &file_of("|u1", bytes.len(), &bytes)).json();
        assert_eq!((&json["dtype"], &json["check"]["ok"]), (&"u8".into(), &true.into()));

        let swapped: Vec<u8> = [3i16, -300, 2, 7].iter().flat_map(|x| x.to_be_bytes()).collect();
        let file = npy::raw(&npy::header(">i2", true, "(2, 2)"), &swapped);
        folder.call(&args, &file).says(&["sort of 4 i16 elements (big-endian i16 in the file)"]);
        let sorted = [-300i16, 2, 3, 7];
        assert!(folder.read("out.npy") == file_of("<i2", 4, bytemuck::cast_slice(&sorted)));
    }
}

#[test]
fn an_array_of_any_shape_is_sorted_flat_and_an_empty_one_stays_empty() {
    for (shape, n) in [("()", 1), ("(2, 3)", 6), ("(0, 5)", 0)] {
        let input: Vec<i64> = (0..n).rev().collect();
        let sorted: Vec<i64> = (0..n).collect();
        for device in ["cpu", "emulator"] {
            let folder = Folder::new();
            let args = ["sort", "-", "-o", "out.npy", "--check", "-q", "--device", device];
            for (more, expected) in [(&[][..], &sorted), (&["--argsort"], &input)] {
                let args = [&args[..], more].concat();
                folder.call(&args, &npy::shaped(shape, &input)).says_nothing();
                assert_eq!(folder.read("out.npy"), npy::of(expected), "{shape} {more:?}");
            }
        }
    }
}

#[test]
fn the_text_names_the_order_and_the_file() {
    let folder = Folder::new();
    let call = raw(&folder, &[4i32, -9], &["--descending", "--argsort", "--check"]).says(&[
        "descending argsort of 2 i32 elements",
        "by comparisons on the CPU: right",
        "out.npy: 2 elements of i64",
    ]);
    assert_eq!(call.stdout, "", "the result is in the file");
}

#[test]
fn an_array_that_is_needed_whole_and_that_a_device_cannot_hold_is_refused() {
    // The emulator has 4 GiB.
    let header = npy::shaped::<u32>("(16384, 32768)", &[]);
    let folder = Folder::new().with_zeros("zeros.npy", header.len() as u64 + (1 << 31));
    let mut file = File::options().write(true).open(folder.path("zeros.npy")).expect("it exists");
    file.write_all(&header).expect("there is room");
    for (more, bytes) in [(&[][..], "6442450944"), (&["--argsort"], "15032385536")] {
        let args = ["sort", "zeros.npy", "-o", "out.npy", "--axis", "0", "--device", "emulator"];
        let parts = [bytes, "4294967296 are free", "--device cpu"];
        folder.call(&[&args[..], more].concat(), b"").fails(WRONG_USAGE, &parts);
    }
}

#[test]
fn segments_are_sorted_separately() {
    let offsets = [0i64, 0, 1, 34, 34, 900, 1003];
    let input = runs::<i32>(LEN, 46);
    let folder = Folder::new().with("x.npy", npy::of(&input)).with("at.npy", npy::of(&offsets));
    let mut sorted = input.clone();
    let mut indices: Vec<i64> = Vec::new();
    for pair in offsets.windows(2) {
        let segment = pair[0] as usize..pair[1] as usize;
        let mut order: Vec<usize> = (0..segment.len()).collect();
        order.sort_by_key(|&at| input[segment.start + at]);
        indices.extend(order.iter().map(|&at| at as i64));
        sorted[segment].sort();
    }
    for device in ["cpu", "emulator"] {
        let args = ["sort", "x.npy", "--segments", "at.npy", "-o", "out.npy", "--check"];
        let args = [&args[..], &["--device", device]].concat();
        folder.call(&args, b"").says(&["sort of each of 6 segments of 1003 i32 elements", "right"]);
        assert!(folder.read("out.npy") == npy::of(&sorted), "{device}");
        let call = folder.call(&[&args[..], &["--argsort", "--json"]].concat(), b"");
        assert_eq!(call.json()["check"]["ok"], true);
        assert!(folder.read("out.npy") == npy::of(&indices), "{device}");
    }
}

#[test]
fn wrong_offsets_are_refused_with_their_numbers() {
    let folder = Folder::new().with("x.npy", npy::of(&[3i32, 1, 2]));
    let refused = |offsets: Vec<u8>, parts: &[&str]| {
        let folder = Folder::new().with("x.npy", npy::of(&[3i32, 1, 2])).with("at.npy", offsets);
        let args = ["sort", "x.npy", "--segments", "at.npy", "-o", "out.npy"];
        folder.call(&args, b"").fails(WRONG_USAGE, &[&["at.npy"], parts].concat());
        assert_eq!(folder.names().len(), 2, "nothing was written");
    };
    refused(npy::of::<i64>(&[]), &["no offsets"]);
    refused(npy::of(&[1i64, 3]), &["first offset is 1"]);
    refused(npy::of(&[0i32, 2, 1, 3]), &["offset 2 is 1", "one before, 2"]);
    refused(npy::of(&[0u64, 2]), &["last offset is 2", "3 elements"]);
    refused(npy::of(&[0.0f32, 3.0]), &["integers", "f32"]);
    let with = |more: &[&str]| {
        let args = ["sort", "x.npy", "--segments", "x.npy", "-o", "out.npy"];
        folder.call(&[&args, more].concat(), b"")
    };
    with(&["--rows"]).fails(WRONG_USAGE, &["--segments", "--rows"]);
    folder
        .call(&["sort", "x.npy", "--segments", "no.npy", "-o", "y.npy"], b"")
        .fails(WRONG_USAGE, &["no.npy: no such file"]);
}

#[test]
fn invalid_calls_are_refused() {
    let folder = Folder::new();
    let refused = |args: &[&str], parts: &[&str]| {
        folder.call(&[&["sort", "-"], args].concat(), &[0; 4]).fails(WRONG_USAGE, parts);
    };
    refused(&[], &["--output"]);
    refused(&["-o", "out.npy"], &["--dtype"]);
    refused(&["-o", "out.npy", "--dtype", "f8"], &["f8", "f16, bf16, f32"]);
    refused(&["-o", "-", "--dtype", "f32", "--json"], &["name a file"]);
    assert!(folder.names().is_empty());
}
