//! `gridsync unique`: its outputs, its text, its JSON, its check, and its refusals.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_tests::oracle::Plain;
use gridsync_verify::runs;
use half::{bf16, f16};
use serde_json::json;
use std::cmp::Ordering;

/// Elements of the inputs.
const LEN: usize = 1003;

/// Counts the values of `input`, raw on standard input, in `folder`.
fn raw<T: Plain>(folder: &Folder, input: &[T], more: &[&str]) -> Call {
    let args = ["unique", "-", "--dtype", T::NAME];
    folder.call(&[&args[..], more].concat(), bytemuck::cast_slice(input))
}

/// The files of the values, the counts and the indices that a call writes on the CPU and in the
/// emulator.
#[track_caller]
fn everywhere(dtype: &str, bytes: &[u8], more: &[&str]) -> [Vec<u8>; 3] {
    let on = |device| {
        let folder = Folder::new();
        let args = ["unique", "-", "--dtype", dtype, "-o", "out.npy", "--counts", "counts.npy"];
        let rest = ["--indices", "at.npy", "--check", "--json", "--device", device];
        let json = folder.call(&[&args[..], &rest, more].concat(), bytes).json();
        assert_eq!((&json["check"]["ok"], &json["device"]), (&true.into(), &device.into()));
        assert_eq!((&json["op"], &json["output"]), (&"unique".into(), &"out.npy".into()));
        assert_eq!((&json["counts"], &json["indices"]), (&"counts.npy".into(), &"at.npy".into()));
        ["out.npy", "counts.npy", "at.npy"].map(|name| folder.read(name))
    };
    let files = on("cpu");
    assert!(files == on("emulator"), "{dtype} {more:?}");
    files
}

/// Checks the values of `input`, ascending and descending, against groups of equal elements in a
/// stable sort by the comparison `by`.
fn is_found<T: Plain>(input: &[T], more: &[&str], by: fn(&T, &T) -> Ordering) {
    for flag in [None, Some("--descending")] {
        let compare = |a: &usize, b: &usize| {
            let ascending = by(&input[*a], &input[*b]);
            if flag.is_some() { ascending.reverse() } else { ascending }
        };
        let mut order: Vec<usize> = (0..input.len()).collect();
        order.sort_by(compare);
        let groups: Vec<&[usize]> = order.chunk_by(|a, b| compare(a, b).is_eq()).collect();
        let more = [more, flag.as_slice()].concat();
        let [values, counts, indices] = everywhere(T::NAME, bytemuck::cast_slice(input), &more);
        let number = |numbers: Vec<i64>| npy::of(&numbers);
        let expected = groups.iter().map(|group| group.len() as i64).collect();
        assert!(counts == number(expected), "the counts of {} {more:?}", T::NAME);
        let expected = groups.iter().map(|group| group[0] as i64).collect();
        assert!(indices == number(expected), "the indices of {} {more:?}", T::NAME);
        // `.npy` has no bf16.
        if T::NPY.is_some() {
            let expected: Vec<T> = groups.iter().map(|group| input[group[0]]).collect();
            assert!(values == npy::of(&expected), "the values of {} {more:?}", T::NAME);
        }
    }
}

/// Elements in runs, each run twice.
fn twice<T: Plain>(mut input: Vec<T>) -> Vec<T> {
    input.extend_from_within(..);
    input
}

#[test]
fn integers_that_are_apart_are_counted_together() {
    is_found::<i32>(&twice(runs(LEN, 42)), &[], Ord::cmp);
    is_found::<u32>(&twice(runs(LEN, 43)), &[], Ord::cmp);
    is_found::<i64>(&twice(runs(LEN, 44)), &["--total-order"], Ord::cmp);
    is_found::<u64>(&twice(runs(LEN, 45)), &[], Ord::cmp);
}

#[test]
fn zeros_are_one_value_and_nans_another_unless_the_order_is_total() {
    macro_rules! floats {
        ($($ty:ident)*) => {$(
            let (zero, inf, nan) = (<$ty>::from_bits(0), <$ty>::INFINITY, <$ty>::NAN);
            let other_nan = <$ty>::from_bits(nan.to_bits() + 1);
            let special = [zero, -zero, nan, inf, -nan, -zero, -inf, other_nan, zero];
            let mut input = twice(runs::<$ty>(LEN, 42));
            input.splice(500..500, special);
            input.extend(special);
            is_found(&input, &[], |a, b| {
                let nans = a.is_nan().cmp(&b.is_nan());
                nans.then(a.partial_cmp(b).unwrap_or(Ordering::Equal))
            });
            is_found(&input, &["--total-order"], <$ty>::total_cmp);
        )*};
    }
    floats! { f16 bf16 f32 f64 }
}

#[test]
fn values_are_those_of_numpy() {
    // numpy.unique(x, return_index=True, return_counts=True), NumPy 2.
    let nan = f32::NAN;
    let input = [2.5f32, nan, -0.0, 2.5, 0.0, -1.0, nan, f32::NEG_INFINITY, 2.5];
    let files = everywhere("f32", bytemuck::cast_slice(&input), &[]);
    let values = npy::of(&[f32::NEG_INFINITY, -1.0, -0.0, 2.5, nan]);
    assert_eq!(files, [values, npy::of(&[1i64, 1, 2, 3, 2]), npy::of(&[7i64, 5, 2, 0, 1])]);

    let files = everywhere("f32", bytemuck::cast_slice(&input[2..5]), &["--total-order"]);
    let values = npy::of(&[-0.0f32, 0.0, 2.5]);
    assert_eq!(files, [values, npy::of(&[1i64; 3]), npy::of(&[0i64, 2, 1])]);
}

#[test]
fn arrays_of_no_element_of_one_and_of_equal_ones_have_their_values() {
    for (input, values, counts) in
        [(&[][..], &[][..], &[][..]), (&[-7i64], &[-7], &[1]), (&[5; LEN], &[5], &[LEN as i64])]
    {
        let files = everywhere("i64", bytemuck::cast_slice(input), &[]);
        let indices: &[i64] = if values.is_empty() { &[] } else { &[0] };
        assert_eq!(files, [npy::of::<i64>(values), npy::of::<i64>(counts), npy::of(indices)]);
    }
}

/// A `.npy` file of one dimension with `len` elements of a type that is not [`Plain`].
fn file_of(descr: &str, len: usize, data: &[u8]) -> Vec<u8> {
    npy::raw(&npy::header(descr, false, &format!("({len},)")), data)
}

#[test]
fn narrow_elements_are_written_in_the_type_of_the_input_and_bf16_as_f32() {
    let unique = |dtype, bytes: &[u8]| everywhere(dtype, bytes, &[])[0].clone();
    assert_eq!(unique("i8", &[3, 255, 2, 3, 255]), file_of("|i1", 3, &[255, 2, 3]));
    assert_eq!(unique("u8", &[3, 255, 2, 3, 255]), file_of("|u1", 3, &[2, 3, 255]));
    assert_eq!(unique("bool", &[1, 0, 1]), file_of("|b1", 2, &[0, 1]));
    let shorts = bytemuck::cast_slice(&[3i16, -1, 2, -1]);
    let signed = bytemuck::cast_slice(&[-1i16, 2, 3]);
    assert_eq!(unique("i16", shorts), file_of("<i2", 3, signed));
    let unsigned = bytemuck::cast_slice(&[2i16, 3, -1]);
    assert_eq!(unique("u16", shorts), file_of("<u2", 3, unsigned));
    let brains = [2.5, -1.0, 2.5].map(bf16::from_f32);
    assert_eq!(unique("bf16", bytemuck::cast_slice(&brains)), npy::of(&[-1.0f32, 2.5]));

    // Each byte 20 times.
    let bytes: Vec<u8> = (0..5120u32).map(|i| (i * 37) as u8).collect();
    let [values, counts, _] = everywhere("u8", &bytes, &[]);
    assert_eq!(values, file_of("|u1", 256, &(0..=255).collect::<Vec<_>>()));
    assert_eq!(counts, npy::of(&[20i64; 256]));
}

#[test]
fn without_a_file_values_and_counts_are_printed() {
    let folder = Folder::new();
    let input = [4.5f32, f32::NAN, -10.0, 4.5, 0.5, -f32::NAN, 4.5, 0.5];
    for device in ["cpu", "emulator"] {
        let call = |more: &[&str]| raw(&folder, &input, &[&["--device", device], more].concat());
        let text = call(&["--check"]).says(&[
            "4 distinct values of 8 f32 elements",
            "most frequent: 4.5, 3 times",
            "by comparisons on the CPU: right",
        ]);
        assert_eq!(text.stdout, "-10.0  1\n  0.5  2\n  4.5  3\n  NaN  2\n");
        let text = call(&["--descending", "-q"]).says_nothing();
        assert_eq!(text.stdout, "  NaN  2\n  4.5  3\n  0.5  2\n-10.0  1\n");

        let found = call(&["--json"]).json();
        assert_eq!((&found["op"], &found["distinct"]), (&"unique".into(), &4.into()));
        let first = json!({ "element": -10.0, "count": 1, "index": 2 });
        let last = json!({ "element": "NaN", "count": 2, "index": 1 });
        assert_eq!((&found["values"][0], &found["values"][3]), (&first, &last));
        assert!(found["output"].is_null() && found.get("counts").is_none(), "{found}");
    }
    let none = raw::<f32>(&folder, &[], &[]).says(&["0 distinct values of 0 f32 elements"]);
    assert_eq!(none.stdout, "");
    let one = raw(&folder, &[7u32], &[]).says(&["1 distinct value of 1 u32 elements"]);
    assert_eq!(one.stdout, "7  1\n");
    assert!(!one.stderr.contains("most frequent"), "{one:?}");
}

#[test]
fn many_values_are_not_all_printed() {
    let input: Vec<i32> = (0..300).flat_map(|i| [i, -i]).collect();
    let call = raw(&Folder::new(), &input, &["-q"]).says_nothing();
    let lines: Vec<_> = call.stdout.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[99]), (101, "-299  1", "-200  1"));
    let rest = lines[100];
    assert!(rest.contains("499 more values") && rest.contains("-o FILE"), "{rest}");
    let json = raw(&Folder::new(), &input, &["--json"]).json();
    assert_eq!(json["values"].as_array().map(Vec::len), Some(599));
}

#[test]
fn any_file_replaces_the_text() {
    let input = [3i64, 9, 3];
    for (flag, numbers) in [("-o", [3i64, 9]), ("--counts", [2, 1]), ("--indices", [0, 1])] {
        let folder = Folder::new();
        let call = raw(&folder, &input, &[flag, "out.npy"]).says(&["out.npy: 2 elements of i64"]);
        assert_eq!((call.stdout.as_str(), folder.names().len()), ("", 1));
        assert_eq!(folder.read("out.npy"), npy::of(&numbers), "{flag}");
    }
}

#[test]
fn an_array_of_any_shape_is_flattened() {
    for (shape, input, values) in [
        ("()", &[5i64][..], &[5i64][..]),
        ("(2, 2)", &[5, 7, 6, 5], &[5, 6, 7]),
        ("(0, 5)", &[], &[]),
    ] {
        for device in ["cpu", "emulator"] {
            let folder = Folder::new();
            let args = ["unique", "-", "-o", "out.npy", "--check", "-q", "--device", device];
            folder.call(&args, &npy::shaped(shape, input)).says_nothing();
            assert_eq!(folder.read("out.npy"), npy::of(values), "{shape}");
        }
    }
}

#[test]
fn invalid_calls_are_refused() {
    let folder = Folder::new();
    let refused = |args: &[&str], parts: &[&str]| {
        folder.call(&[&["unique", "-"], args].concat(), &[0; 8]).fails(WRONG_USAGE, parts);
    };
    refused(&[], &["--dtype"]);
    refused(&["--dtype", "f8"], &["f8", "f16, bf16, f32"]);
    refused(&["--dtype", "f32", "-k", "2"], &["-k"]);
    refused(&["--dtype", "f32", "-o", "-", "--json"], &["name a file"]);
    let one = ["--dtype", "f32", "--counts", "out.npy", "--indices", "out.npy"];
    refused(&one, &["--counts and --indices are both out.npy"]);
    let one = ["--dtype", "f32", "-o", "out.npy", "--counts", "./out.npy"];
    refused(&one, &["--output and --counts are one file"]);
    assert!(folder.names().is_empty());
    let folder = folder.with("x.npy", npy::of(&[1i32]));
    let same = ["unique", "x.npy", "--counts", "x.npy"];
    folder.call(&same, b"").fails(WRONG_USAGE, &["would replace it"]);
}
