//! `gridsync histogram`: its counts, its text, its JSON, its check, and its refusals.

use crate::call::{Call, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::npy;
use gridsync_tests::oracle::{Number, Plain};
use half::{bf16, f16};
use serde_json::{Value, json};

/// Counts `bytes`, raw on standard input, in `folder`.
fn raw(folder: &Folder, dtype: &str, bytes: &[u8], more: &[&str]) -> Call {
    folder.call(&[&["histogram", "-", "--dtype", dtype], more].concat(), bytes)
}

/// Checks that `bytes` give these counts on the CPU and in the emulator, as JSON and in a file.
/// Returns the JSON.
#[track_caller]
fn everywhere(dtype: &str, bytes: &[u8], more: &[&str], counts: &[i64]) -> Value {
    let on = |device| {
        let folder = Folder::new();
        let more = [more, &["--check", "--device", device]].concat();
        let json = raw(&folder, dtype, bytes, &[&more[..], &["--json"]].concat()).json();
        assert_eq!((&json["check"]["ok"], &json["device"]), (&true.into(), &device.into()));
        assert_eq!((&json["op"], &json["bins"]), (&"histogram".into(), &counts.len().into()));
        assert_eq!(json["counts"], json!(counts), "{dtype} {more:?}");
        let inside: i64 = counts.iter().sum();
        let outside = json["n"].as_i64().expect("a number") - inside;
        assert_eq!(json["outside"], outside, "{dtype} {more:?}");
        assert!(json["output"].is_null(), "{json}");
        let file = raw(&folder, dtype, bytes, &[&more[..], &["-o", "out.npy", "-q"]].concat());
        assert_eq!(file.says_nothing().stdout, "");
        assert!(folder.read("out.npy") == npy::of(counts), "{dtype} {more:?}");
        json
    };
    on("cpu");
    on("emulator")
}

/// The number of elements between each two neighbours of `edges`, the last included.
fn between<T: Plain>(input: &[T], edges: &[f64]) -> Vec<i64> {
    let numbers = input.iter().map(|&element| match element.number() {
        Number::Int(number) => number as f64,
        Number::Float(number) => number,
    });
    let numbers: Vec<f64> = numbers.collect();
    let bins = edges.len() - 1;
    let count = |bin: usize| {
        let (low, high) = (edges[bin], edges[bin + 1]);
        let is_last = bin + 1 == bins;
        let is_in = |x: &&f64| low <= **x && (**x < high || is_last && **x == high);
        numbers.iter().filter(is_in).count() as i64
    };
    (0..bins).map(count).collect()
}

/// 1003 numbers from −80 to 80.
fn numbers() -> impl Iterator<Item = i8> {
    (0..1003).map(|i| (i * 37 % 161 - 80) as i8)
}

/// Counts `input` in bins of the same width, which all types represent exactly, and between edges.
/// `low` is the least element.
fn is_counted<T: Plain>(input: &[T], low: i32) {
    let bytes = bytemuck::cast_slice(input);
    let at = |offset: i32| f64::from(low + offset);
    let edges: Vec<f64> = (0..=16).map(|bin| at(16 + 8 * bin)).collect();
    let [first, last] = [low + 16, low + 144].map(|edge| edge.to_string());
    let even = ["--bins", "16", "--range", &first, &last];
    let json = everywhere(T::NAME, bytes, &even, &between(input, &edges));
    assert_eq!((&json["low"], &json["high"]), (&edges[0].into(), &edges[16].into()));
    assert_eq!(json["dtype"], T::NAME);

    let edges = [at(-10), at(3), at(3) + 0.5, at(50), at(120)];
    let list = edges.map(|edge| edge.to_string()).join(",");
    let json = everywhere(T::NAME, bytes, &["--edges", &list], &between(input, &edges));
    assert_eq!((&json["low"], &json["high"]), (&edges[0].into(), &edges[4].into()));

    // The greatest element is 160 more than the least.
    let edges: Vec<f64> = (0..=10).map(|bin| at(16 * bin)).collect();
    everywhere(T::NAME, bytes, &[], &between(input, &edges));
}

#[test]
fn elements_of_every_type_are_counted() {
    is_counted::<f16>(&numbers().map(f16::from).collect::<Vec<_>>(), -80);
    is_counted::<bf16>(&numbers().map(bf16::from).collect::<Vec<_>>(), -80);
    is_counted::<f32>(&numbers().map(f32::from).collect::<Vec<_>>(), -80);
    is_counted::<f64>(&numbers().map(f64::from).collect::<Vec<_>>(), -80);
    is_counted::<i32>(&numbers().map(i32::from).collect::<Vec<_>>(), -80);
    is_counted::<i64>(&numbers().map(i64::from).collect::<Vec<_>>(), -80);
    let unsigned = || numbers().map(|number| (i32::from(number) + 80) as u32);
    is_counted::<u32>(&unsigned().collect::<Vec<_>>(), 0);
    is_counted::<u64>(&unsigned().map(u64::from).collect::<Vec<_>>(), 0);
}

#[test]
fn each_integer_may_have_a_bin() {
    let input: Vec<i32> = numbers().map(i32::from).collect();
    let count = |number: i32| input.iter().filter(|&&element| element == number).count() as i64;
    let counts: Vec<i64> = (-5..=90).map(count).collect();
    let bytes = bytemuck::cast_slice(&input);
    let json = everywhere("i32", bytes, &["--numbers", "-5..90"], &counts);
    assert_eq!((&json["low"], &json["high"]), (&(-5).into(), &90.into()));
    let most = [u64::MAX, 3, u64::MAX - 1, u64::MAX];
    let last = "18446744073709551614..18446744073709551615";
    let json = everywhere("u64", bytemuck::cast_slice(&most), &["--numbers", last], &[1, 2]);
    assert_eq!(json["high"], u64::MAX);
}

#[test]
fn narrow_elements_are_counted() {
    let mut counts = [0; 256];
    let bytes: Vec<u8> = numbers().map(|number| number as u8).collect();
    bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    let json = everywhere("u8", &bytes, &["--numbers", "0..255"], &counts);
    assert_eq!((&json["stored"], &json["dtype"]), (&"u8".into(), &"u32".into()));
    everywhere("i8", &[255, 2, 3, 254], &["--numbers", "-1..3"], &[1, 0, 0, 1, 1]);
    everywhere("bool", &[1, 0, 1, 1], &["--bins", "2"], &[1, 3]);
    let short = [-300i16, 7, 300];
    everywhere("i16", bytemuck::cast_slice(&short), &["--edges", "-300,0,300"], &[1, 2]);
}

#[test]
fn the_default_range_is_that_of_the_elements() {
    let range = |input: &[f32], counts: &[i64]| {
        let json = everywhere("f32", bytemuck::cast_slice(input), &[], counts);
        [&json["low"], &json["high"]].map(|edge| edge.as_f64().expect("a number"))
    };
    assert_eq!(range(&[1.0, 11.0, 2.5, 10.0], &[1, 1, 0, 0, 0, 0, 0, 0, 0, 2]), [1.0, 11.0]);
    assert_eq!(range(&[3.0; 4], &[0, 0, 0, 0, 0, 4, 0, 0, 0, 0]), [2.5, 3.5]);
    assert_eq!(range(&[], &[0; 10]), [0.0, 1.0]);
}

#[test]
fn edges_of_f32_are_short_in_the_json() {
    let json = everywhere("f32", &[0; 8], &["--range", "-0.1", "0.7", "--bins", "2"], &[2, 0]);
    assert_eq!((&json["low"], &json["high"]), (&(-0.1).into(), &0.7.into()));
}

#[test]
fn weights_of_each_bin_are_added_with_the_same_bits_everywhere() {
    let input: Vec<f32> = (0..9001u32).map(|i| (i * 40_503 % 1009) as f32).collect();
    let weights: Vec<f32> = (0..input.len()).map(|i| 1.0 / (i + 1) as f32).collect();
    let folder = Folder::new().with("x.npy", npy::of(&input)).with("w.npy", npy::of(&weights));
    let run = |device| {
        let args = ["histogram", "x.npy", "--weights", "w.npy", "--check", "--device", device];
        let json = folder.call(&[&args[..], &["--json", "--bins", "3"]].concat(), b"").json();
        assert_eq!((&json["check"]["ok"], &json["counts"]), (&true.into(), &Value::Null));
        let more = ["--bins", "3000", "--range", "100", "900", "-o", "sums.npy"];
        folder.call(&[&args[..], &more].concat(), b"").says(&[
            "sums of weights of 9001 f32 elements in 3000 bins",
            "elements in no bin:",
            "added again on one core: right",
            "sums.npy: 3000 elements of f64",
        ]);
        (json["sums"].clone(), folder.read("sums.npy"))
    };
    let (cpu, emulator) = (run("cpu"), run("emulator"));
    assert!(cpu == emulator, "{} {}", cpu.0, emulator.0);
    let sums: Vec<f64> = serde_json::from_value(cpu.0).expect("three numbers");
    let all: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    assert!((sums.iter().sum::<f64>() - all).abs() < 1e-12, "{sums:?}");
}

#[test]
fn weights_have_to_be_floats_and_as_many_as_elements() {
    let refused = |weights: Vec<u8>, more: &[&str], parts: &[&str]| {
        let folder = Folder::new().with("x.npy", npy::of(&[3i32, 1])).with("w.npy", weights);
        let args = ["histogram", "x.npy", "--weights", "w.npy"];
        folder.call(&[&args, more].concat(), b"").fails(WRONG_USAGE, parts);
    };
    refused(npy::of(&[1.0f32]), &[], &["w.npy: 1 weights for 2 elements"]);
    refused(npy::of(&[1i64, 2]), &[], &["w.npy", "f32 or f64, not i64"]);
    refused(npy::of(&[1.0f64, 2.0]), &["--part", "1"], &["--weights", "--part"]);
    refused(npy::of(&[1.0f64, 2.0]), &["--svg", "x.svg"], &["--weights", "--svg"]);
}

#[test]
fn elements_that_are_not_finite_need_a_range_and_are_in_no_bin() {
    for (special, ends) in [
        (f32::NAN, "from NaN to NaN"),
        (f32::INFINITY, "from 0 to inf"),
        (f32::NEG_INFINITY, "from -inf to 1"),
    ] {
        let input = [0.0, special, 1.0];
        let bytes = bytemuck::cast_slice(&input);
        for device in ["cpu", "emulator"] {
            let call = raw(&Folder::new(), "f32", bytes, &["--device", device]);
            call.fails(WRONG_USAGE, &[ends, "is not finite", "--range LOW HIGH"]);
        }
        everywhere("f32", bytes, &["--range", "0", "1", "--bins", "2"], &[1, 1]);
    }
    let infinite = [f64::INFINITY, 0.0, f64::NEG_INFINITY, f64::NAN];
    everywhere("f64", bytemuck::cast_slice(&infinite), &["--edges", "-inf,0,inf"], &[1, 2]);
}

#[test]
fn an_array_of_any_shape_is_counted() {
    for (shape, input) in [("()", &[5i64][..]), ("(2, 2)", &[5, 6, 7, 5]), ("(0, 5)", &[])] {
        for device in ["cpu", "emulator"] {
            let folder = Folder::new();
            let args = ["histogram", "-", "--numbers", "5..6", "-o", "out.npy", "--check", "-q"];
            let args = [&args[..], &["--device", device]].concat();
            folder.call(&args, &npy::shaped(shape, input)).says_nothing();
            let count = |number| input.iter().filter(|&&x| x == number).count() as i64;
            assert_eq!(folder.read("out.npy"), npy::of(&[5, 6].map(count)), "{shape}");
        }
    }
}

#[test]
fn the_text_is_a_table_of_few_bins() {
    let folder = Folder::new();
    let input = [0i32, 1, 1, 1, 7];
    let text = |more: &[&str]| raw(&folder, "i32", bytemuck::cast_slice(&input), more);
    let call = text(&["--numbers", "-1..2", "--check"]).says(&[
        "histogram of 5 i32 elements in 4 bins",
        "elements in no bin: 1",
        "counted again on one core: right",
    ]);
    let [third, whole] = [14, 40].map(|width| "#".repeat(width));
    assert_eq!(call.stdout, format!("-1  0\n 0  1 {third}\n 1  3 {whole}\n 2  0\n"));

    let call = text(&["--edges", "-10,0.5,1e2"]).succeeds();
    let quarter = "#".repeat(10);
    assert_eq!(call.stdout, format!("-10.0 ..   0.5  1 {quarter}\n  0.5 .. 100.0  4 {whole}\n"));
    assert!(!call.stderr.contains("in no bin"), "{call:?}");

    let call = text(&["--bins", "33"]).says(&["33 bins are too many to print: use -o or --json"]);
    assert_eq!(call.stdout, "");
    let call = text(&["-o", "out.npy"]).says(&["out.npy: 10 elements of i64"]);
    assert_eq!(call.stdout, "", "the result is in the file");
}

#[test]
fn the_counts_are_drawn_as_a_bar_chart() {
    let folder = Folder::new();
    let input: Vec<u32> = (0..900).map(|i| i % 300).collect();
    let draw = |more: &[&str]| raw(&folder, "u32", bytemuck::cast_slice(&input), more);
    let svg = |name| String::from_utf8(folder.read(name)).expect("it is text");
    let bars = |svg: &str| svg.matches("</title></rect>").count();

    let call = draw(&["--edges", "0,100,250", "--svg", "few.svg"]);
    let call = call.says(&["few.svg: a chart of 2 bars", "elements in no bin: 147"]);
    assert!(call.stdout.contains("453 ####"), "the counts are printed too: {call:?}");
    let few = svg("few.svg");
    assert_eq!(bars(&few), 2);
    for text in [
        ">Histogram of 900 u32 elements in 2 bins</text>",
        ">edges of the bins</text>",
        ">elements</text>",
        ">0</text>",
        ">100</text>",
        ">250</text>",
        "<title>0 to 100: 300</title>",
        "all bars are drawn equally wide; elements in no bin: 147",
    ] {
        assert!(few.contains(text), "{text:?} is not in {few}");
    }

    draw(&["--numbers", "0..299", "--svg", "many.svg", "-o", "n.npy", "--check"])
        .says(&["many.svg: a chart of 150 bars", "n.npy: 300 elements of i64"]);
    let many = svg("many.svg");
    assert_eq!(bars(&many), 150);
    for text in ["each bar has 2 bins", "<title>298..299: 6</title>", ">number</text>"] {
        assert!(many.contains(text), "{text:?} is not in {many}");
    }
    let piped = draw(&["--numbers", "0..299", "--svg", "-", "-q"]).says_nothing().stdout;
    assert!(piped == many, "only the chart is on standard output");

    draw(&["--svg", "-", "--json"]).fails(WRONG_USAGE, &["--svg or the JSON", "name a file"]);
    draw(&["--svg", "n.npy", "-o", "n.npy"]).fails(WRONG_USAGE, &["each needs its own file"]);
    raw(&folder, "f32", &[], &["--svg", "empty.svg"]).succeeds();
    assert_eq!(bars(&svg("empty.svg")), 0, "no element has a bar");
}

#[test]
fn invalid_calls_are_refused() {
    let folder = Folder::new();
    let refused = |args: &[&str], parts: &[&str]| {
        folder.call(&[&["histogram", "-"], args].concat(), &[0; 4]).fails(WRONG_USAGE, parts);
    };
    refused(&[], &["--dtype"]);
    refused(&["--dtype", "f8"], &["f8", "f16, bf16, f32"]);
    refused(&["--dtype", "f32", "--bins", "0"], &["--bins", "from 1 to 1073741824"]);
    refused(&["--dtype", "f32", "--range", "1"], &["--range"]);
    refused(&["--dtype", "f32", "--range", "1", "0"], &["bins from 1 to 0"]);
    refused(&["--dtype", "f32", "--range", "0", "nan"], &["bins from 0 to NaN"]);
    refused(&["--dtype", "f32", "--edges", "0,1,1"], &["--edges", "edge 2 is 1 after 1"]);
    refused(&["--dtype", "f32", "--edges", "0"], &["--edges", "0 bins"]);
    refused(&["--dtype", "f32", "--edges", "0,x"], &["--edges", "x"]);
    refused(&["--dtype", "f32", "--edges", "0,1", "--bins", "3"], &["--edges", "--bins"]);
    refused(&["--dtype", "i32", "--numbers", "0..1", "--bins", "2"], &["--numbers", "--bins"]);
    refused(&["--dtype", "f32", "--numbers", "0..5"], &["--numbers needs integers, got f32"]);
    refused(&["--dtype", "i32", "--numbers", "5"], &["FIRST..LAST", "0..255"]);
    refused(&["--dtype", "i32", "--numbers", "5..0"], &["--numbers", "-4 bins"]);
    refused(&["--dtype", "u32", "--numbers", "-1..5"], &["u32 elements are from 0 to 4294967295"]);
    refused(&["--dtype", "f32", "-o", "-", "--json"], &["name a file"]);
    assert!(folder.names().is_empty());
}
