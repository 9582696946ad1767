//! Arrays in the forms that NumPy writes: narrow, big-endian, in Fortran order, in archives. The
//! results must be the same as for the plain array.

use crate::call::{Call, WRONG_USAGE, without_cuda};
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_tests::program::workspace;
use serde_json::Value;
use std::fs;

/// Rows and columns of the arrays.
const SHAPE: (usize, usize) = (300, 7);

/// The element at an index: both signs, and ties.
fn element(index: usize) -> i64 {
    (index * 37 % 101) as i64 - 20
}

/// A file of the elements, in C order or in Fortran order; `bytes` converts each element.
fn file(descr: &str, fortran: bool, bytes: impl Fn(i64) -> Vec<u8>) -> Vec<u8> {
    let (rows, columns) = SHAPE;
    let in_c_order =
        |place: usize| if fortran { place % rows * columns + place / rows } else { place };
    let places = 0..rows * columns;
    let data: Vec<u8> = places.flat_map(|place| bytes(element(in_c_order(place)))).collect();
    let header = npy::header(descr, fortran, &format!("({rows}, {columns})"));
    npy::raw(&header, &data)
}

/// The name of a form, an array in that form, and the plain array with the same elements.
fn pairs() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let i32s = |x: i64| (x as i32).to_le_bytes().to_vec();
    // Unsigned types have no sign.
    let positive = |x: i64| x.max(0);
    let signed = file("<i4", false, i32s);
    let unsigned = file("<u4", false, |x| i32s(positive(x)));
    let bits = file("<u4", false, |x| i32s(i64::from(x > 0)));
    let floats = file("<f4", false, |x| (x as f32).to_le_bytes().to_vec());
    let doubles = file("<f8", false, |x| (x as f64).to_le_bytes().to_vec());
    let i8s = |x: i64| vec![x as u8];
    let i16s = |x: i64| (x as i16).to_le_bytes().to_vec();
    let swapped = |mut bytes: Vec<u8>| {
        bytes.reverse();
        bytes
    };
    let f32s = |x: i64| (x as f32).to_le_bytes().to_vec();
    let f64s = |x: i64| (x as f64).to_le_bytes().to_vec();
    vec![
        ("i8", file("|i1", false, i8s), signed.clone()),
        ("i8", file("|i1", true, i8s), signed.clone()),
        ("i16", file("<i2", false, i16s), signed.clone()),
        ("big-endian i16", file(">i2", false, |x| swapped(i16s(x))), signed),
        ("u8", file("|u1", false, |x| i8s(positive(x))), unsigned.clone()),
        ("u16", file("u2", false, |x| i16s(positive(x))), unsigned),
        ("bool", file("|b1", false, |x| vec![u8::from(x > 0)]), bits),
        ("big-endian f32", file(">f4", false, |x| swapped(f32s(x))), floats.clone()),
        ("f32", file("=f4", false, f32s), floats.clone()),
        ("f32", file("float32", false, f32s), floats),
        ("f64", file("f8", true, f64s), doubles.clone()),
        ("big-endian f64", file(">f8", true, |x| swapped(f64s(x))), doubles),
    ]
}

/// Calls the program in `folder` with the arguments in `line`.
fn call(folder: &Folder, line: &str) -> Call {
    folder.call(&line.split(' ').collect::<Vec<_>>(), b"")
}

/// The JSON of a call, without the fields that differ from run to run, and the output file, if any.
fn outcome(folder: &Folder, line: &str) -> (Value, Option<Vec<u8>>) {
    let mut json = call(folder, &format!("{line} --json")).json();
    for key in ["median_us", "total_us", "gb_per_s"] {
        json[key].take();
    }
    let out = folder.path("out.npy");
    let written = fs::read(&out).ok();
    let _none = fs::remove_file(&out);
    (json, written)
}

#[test]
fn an_array_in_any_layout_gives_the_results_of_the_plain_one() {
    for (name, other, plain) in pairs() {
        let folder = Folder::new()
            .with("x.npy", other)
            .with("plain.npy", plain)
            .with("s.npy", npy::of(&[0i64, 7, 7, 2100]))
            .with("q.npy", npy::shaped("(2, 2)", &[0i64, 2100, 7, 700]));
        for line in [
            "reduce x.npy --op sum --check",
            "reduce x.npy --op argmax --check",
            "reduce x.npy --op max --rows",
            "scan x.npy --op sum -o out.npy --check",
            "scan x.npy --op max --rows -o out.npy",
            "select x.npy --where >3 -o out.npy",
            "select x.npy --unique -o out.npy --part 100",
            "segments x.npy s.npy -o out.npy --check",
            "group x.npy x.npy --op max -o out.npy --check",
            "sort x.npy --argsort -o out.npy --check",
            "unique x.npy --counts out.npy --check",
            "top x.npy -k 100 -o out.npy --check",
            "quantile x.npy 0.1 0.5 --check",
            "histogram x.npy -o out.npy --check",
            "describe x.npy --check",
            "range-sum x.npy q.npy -o out.npy",
            "kendall x.npy x.npy",
        ] {
            let (mut json, written) = outcome(&folder, line);
            let plain = line.replace("x.npy", "plain.npy");
            let (mut expected, expected_file) = outcome(&folder, &plain);
            assert_eq!(json["stored"].take(), name, "{line}");
            assert_eq!(expected["stored"].take(), expected["dtype"], "{line}");
            if line.starts_with("sort") || line.starts_with("unique") {
                // Narrow integers are sorted as they are.
                json["dtype"].take();
                expected["dtype"].take();
            }
            assert_eq!(json, expected, "{name}: {line}");
            assert_eq!(written, expected_file, "{name}: {line}");
            assert_eq!(json["part"] == 100, line.contains("--part"), "{json}");
        }
    }
}

#[test]
fn raw_elements_may_be_narrow() {
    let bytes: Vec<u8> = (0..200).collect();
    for (dtype, sum) in
        [("u8", 19_900), ("i8", 19_900 - 256 * 72), ("bool", 199), ("uint8", 19_900)]
    {
        let args = ["reduce", "-", "--op", "sum", "--dtype", dtype, "-q"];
        let call = without_cuda(&args, &bytes).succeeds();
        assert_eq!(call.stdout, format!("{sum}\n"), "{dtype}");
    }
    let folder = Folder::new().with("raw.np", &bytes);
    let told = call(&folder, "reduce raw.np --op max --dtype u16 -q").succeeds();
    assert_eq!(told.stdout, format!("{}\n", 199 << 8 | 198));
    let none = call(&folder, "reduce raw.np --op max --dtype f8");
    none.fails(WRONG_USAGE, &["f8", "i8, i16, u8, u16, bool"]);
}

#[test]
fn queries_may_be_in_fortran_order() {
    let queries = |fortran, ends: [u16; 6]| {
        let header = npy::header("<u2", fortran, "(3, 2)");
        npy::raw(&header, bytemuck::cast_slice(&ends))
    };
    let folder = Folder::new()
        .with("x.npy", npy::of(&[1i32, 2, 3, 4]))
        .with("f.npy", queries(true, [0, 1, 2, 4, 3, 2]))
        .with("c.npy", queries(false, [0, 4, 1, 3, 2, 2]));
    let (_, of_columns) = outcome(&folder, "range-sum x.npy f.npy -o out.npy");
    let (_, of_rows) = outcome(&folder, "range-sum x.npy c.npy -o out.npy");
    assert_eq!(of_columns, of_rows);
    assert_eq!(of_rows, Some(npy::of(&[10i64, 5, 0])));
}

#[test]
fn an_array_of_an_archive_is_selected_after_a_colon() {
    let fixtures = workspace().join("host/program/tests/fixtures/npy");
    let copied = |folder: Folder, name| {
        folder.with(name, fs::read(fixtures.join(name)).expect("it is there"))
    };
    let names = ["archive.npz", "packed.npz", "single.npz"];
    let folder = names.into_iter().fold(Folder::new(), copied);
    let prints = |line: &str| call(&folder, line).succeeds().stdout;
    for path in ["archive.npz:ramp", "packed.npz:ramp", "single.npz"] {
        let sum = prints(&format!("reduce {path} --op sum -q"));
        assert_eq!(sum, "12497500.0\n", "{path}");
        let last = prints(&format!("reduce {path} --op argmax -q --part 100"));
        assert_eq!(last, "4999\n", "{path}");
    }
    let tau = prints("kendall archive.npz:ramp packed.npz:ramp -q");
    assert_eq!(tau, "1.0\n");
    let which = call(&folder, "reduce archive.npz --op sum");
    which.fails(WRONG_USAGE, &["grid, fortran, ramp", "file.npz:NAME"]);
    let none = call(&folder, "reduce packed.npz:x --op sum");
    none.fails(WRONG_USAGE, &["no array \"x\"", "grid, ramp, narrow"]);
    // This would overwrite the archive.
    let replaced = call(&folder, "scan single.npz:ramp --op sum -o single.npz");
    replaced.fails(WRONG_USAGE, &["would replace it"]);
}
