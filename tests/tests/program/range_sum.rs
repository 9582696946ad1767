//! `gridsync range-sum`: what it writes, its check, and which queries it refuses.

use crate::call::{Call, WRONG_USAGE, without_cuda};
use gridsync_program::verify::{Kind, sample, sample_ranges};
use gridsync_tests::npy;
use gridsync_tests::oracle::Plain;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// An array and queries, in a folder that also gets the output.
struct Files {
    folder: TempDir,
}

impl Files {
    /// Writes an array, and queries with the shape `shape` in the header of their file.
    fn of<T: Plain, Q: Plain>(array: &[T], shape: &str, queries: &[Q]) -> Self {
        let folder = tempfile::tempdir().expect("a folder should be there to write to");
        let files = Self { folder };
        let array = npy::of(array).expect("the type has a name");
        fs::write(files.path("data.npy"), array).expect("the array should be written");
        let header = npy::header(Q::NPY.expect("the type has a name"), false, shape);
        let queries = npy::raw(&header, bytemuck::cast_slice(queries));
        fs::write(files.path("queries.npy"), queries).expect("the queries should be written");
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Calls the program for the sums.
    fn call(&self, more: &[&str]) -> Call {
        let path = |name| {
            let path = self.path(name);
            path.to_str().expect("its path should be UTF-8").to_owned()
        };
        let (data, queries, out) = (path("data.npy"), path("queries.npy"), path("out.npy"));
        let args = ["range-sum", &data, &queries, "-o", &out];
        without_cuda(&[&args[..], more].concat(), b"")
    }

    /// The sums that were written.
    fn sums<A: Plain>(&self, len: usize) -> Vec<A> {
        let file = fs::read(self.path("out.npy")).expect("the output should be there");
        let empty = npy::of(&vec![A::zeroed(); len]).expect("the type has a name");
        let head = empty.len() - len * size_of::<A>();
        assert_eq!(&file[..head], &empty[..head], "the header");
        let values = file[head..].chunks_exact(size_of::<A>());
        values.map(bytemuck::pod_read_unaligned).collect()
    }

    /// Checks that the call fails with a line that contains `parts`, and writes nothing.
    #[track_caller]
    fn refuses(&self, parts: &[&str]) {
        for device in ["cpu", "emulator"] {
            self.call(&["--device", device]).fails(WRONG_USAGE, parts);
        }
        assert!(!self.path("out.npy").exists());
    }
}

#[test]
fn each_query_gets_the_sum_of_its_range() {
    for device in ["cpu", "emulator"] {
        let files = Files::of(&[3i32, -1, 4, 1, -5], "(4, 2)", &[0i64, 5, 1, 3, 2, 2, 4, 5]);
        let json = files.call(&["--check", "--json", "--device", device]).json();
        assert_eq!(files.sums::<i64>(4), [2, 3, 0, -5]);
        assert_eq!((&json["check"]["ok"], &json["queries"]), (&true.into(), &4.into()));
        assert_eq!((&json["n"], &json["dtype"]), (&5.into(), &"i32".into()));
    }
}

#[test]
fn floats_are_summed_in_f64_unless_told_otherwise() {
    let input = sample::<f32>(Kind::Values, 3003, 1);
    let queries = sample_ranges(3003, 500, 2);
    let files = Files::of(&input, "(500, 2)", queries.as_flattened());
    let sums = |device: &str, more: &[&str]| {
        let args = [&["--check", "--device", device][..], more].concat();
        files.call(&args).says(&["right"]);
        fs::read(files.path("out.npy")).expect("the output should be there")
    };
    assert_eq!(sums("cpu", &["--acc", "f32"]), sums("emulator", &["--acc", "f32"]));
    assert_eq!(files.sums::<f32>(500).len(), 500);
    assert_eq!(sums("cpu", &[]), sums("emulator", &[]));
    for (sum, [from, to]) in files.sums::<f64>(500).into_iter().zip(queries) {
        let range = &input[from as usize..to as usize];
        let expected: f64 = range.iter().map(|&x| f64::from(x)).sum();
        assert!((sum - expected).abs() < 1e-6, "{from}..{to}: {sum}, not {expected}");
    }
}

#[test]
fn no_queries_give_no_sums() {
    let files = Files::of(&[1u32; 3], "(0, 2)", &[0u32; 0]);
    files.call(&["-q"]).succeeds();
    assert_eq!(files.sums::<u64>(0), [0u64; 0]);
}

#[test]
fn the_first_query_that_is_no_range_is_named() {
    let array = [1.0f64; 10];
    let of = |queries: &[i64; 6]| Files::of(&array, "(3, 2)", queries);
    of(&[0, 5, 5, 3, 0, 99]).refuses(&["query 1: 5..3 is no range of 10 elements"]);
    of(&[0, 5, 3, 3, 10, 11]).refuses(&["query 2: 10..11", "10 elements"]);
    of(&[0, 5, -1, 3, 9, 8]).refuses(&["query 1: -1..3", "from 0"]);
}

#[test]
fn what_are_no_queries_is_refused() {
    let array = [1.0f64; 10];
    Files::of(&array, "(6,)", &[0i64; 6]).refuses(&["m × 2", "[6]"]);
    Files::of(&array, "(2, 3)", &[0i64; 6]).refuses(&["m × 2", "[2, 3]"]);
    Files::of(&array, "(3, 2)", &[0f32; 6]).refuses(&["integers", "f32"]);
    let files = Files::of(&[1i32; 10], "(1, 2)", &[0i64, 1]);
    files.call(&["--acc", "f64"]).fails(WRONG_USAGE, &["--acc", "i32"]);
    let files = Files::of(&array, "(1, 2)", &[0i64, 1]);
    files.call(&["--acc", "f32"]).fails(WRONG_USAGE, &["--acc f32", "f64"]);
}
