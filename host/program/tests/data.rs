//! Files in and out, through the public interface: numpy's files, our files, and what must be
//! refused.

use std::fs;
use std::path::PathBuf;

use gridsync_program::data::{self, Array, DataError, Dtype, Input, Output, Scalar};
use half::{bf16, f16};
use proptest::prelude::*;

/// A file that numpy wrote: see `fixtures/npy/generate.py`.
fn numpy(name: &str) -> Result<Array, DataError> {
    let folder = PathBuf::from("tests/fixtures/npy");
    data::read(&Input::Path(folder.join(name).with_extension("npy")), None)
}

/// The array holds these elements in this shape.
#[track_caller]
fn holds<T: Scalar + PartialEq + std::fmt::Debug>(array: &Array, shape: &[u64], elements: &[T]) {
    assert_eq!(array.dtype(), T::DTYPE);
    assert_eq!(array.shape(), shape);
    assert_eq!(array.as_slice::<T>().unwrap(), elements);
}

/// The error is one line that has all of these parts.
#[track_caller]
fn says(result: Result<impl Sized, DataError>, parts: &[&str]) {
    let message = result.err().expect("this should be refused").to_string();
    assert!(!message.contains('\n'), "{message}");
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

#[test]
fn every_type_that_numpy_writes_reads_as_its_own() {
    let f2 = [-2.0, -1.0, 0.0, 1.0, 100.0].map(f16::from_f32);
    holds(&numpy("f2").unwrap(), &[5], &f2);
    holds(&numpy("f4").unwrap(), &[5], &[-2.0_f32, -1.0, 0.0, 1.0, 100.0]);
    holds(&numpy("f8").unwrap(), &[5], &[-2.0_f64, -1.0, 0.0, 1.0, 100.0]);
    holds(&numpy("i4").unwrap(), &[5], &[-2_i32, -1, 0, 1, 100]);
    holds(&numpy("i8").unwrap(), &[5], &[-2_i64, -1, 0, 1, 100]);
    holds(&numpy("u4").unwrap(), &[5], &[0, 1, 2, 100, u32::MAX]);
    holds(&numpy("u8").unwrap(), &[5], &[0, 1, 2, 100, u64::MAX]);
}

#[test]
fn every_rank_and_version_of_numpy_reads_flat() {
    holds(&numpy("scalar").unwrap(), &[], &[42.5_f32]);
    holds::<f32>(&numpy("empty").unwrap(), &[0], &[]);
    holds::<i32>(&numpy("empty_2d").unwrap(), &[3, 0, 2], &[]);
    for name in ["grid", "grid_version2", "grid_version3"] {
        holds(&numpy(name).unwrap(), &[2, 3], &[0_i32, 1, 2, 3, 4, 5]);
    }
}

#[test]
fn fortran_order_is_read_in_c_order() {
    holds(&numpy("fortran_1d").unwrap(), &[4], &[0.0_f32, 1.0, 2.0, 3.0]);
    holds(&numpy("fortran_column").unwrap(), &[4, 1], &[0.0_f32, 1.0, 2.0, 3.0]);
    holds(&numpy("fortran_2d").unwrap(), &[2, 3], &[0_i32, 1, 2, 3, 4, 5]);
    let all: Vec<i32> = (0..24).collect();
    holds(&numpy("fortran_3d").unwrap(), &[2, 3, 4], &all);
    holds(&numpy("fortran_queries").unwrap(), &[2, 2], &[0_u32, 3, 1, 2]);
}

/// An array of an archive that numpy wrote.
fn member(name: &str) -> Result<Array, DataError> {
    let folder = PathBuf::from("tests/fixtures/npy");
    data::read(&Input::Path(folder.join(name)), None)
}

#[test]
fn the_arrays_of_archives_are_read_by_their_names() {
    let ramp: Vec<f32> = (0..5000).map(|i| i as f32).collect();
    for path in [
        "archive.npz:ramp",
        "packed.npz:ramp",
        "packed.npz:ramp.npy",
        "single.npz:ramp",
        "single.npz",
    ] {
        holds(&member(path).unwrap(), &[5000], &ramp);
    }
    for path in ["archive.npz:grid", "archive.npz:fortran", "packed.npz:grid"] {
        holds(&member(path).unwrap(), &[2, 3], &[0_i32, 1, 2, 3, 4, 5]);
    }
    let narrow: Vec<u32> = (0..256).collect();
    holds(&member("packed.npz:narrow").unwrap(), &[256], &narrow);
    says(member("archive.npz"), &["grid, fortran, ramp", "file.npz:NAME"]);
    says(member("archive.npz:none"), &["no array \"none\"", "grid, fortran, ramp"]);
    says(member("absent.npz:ramp"), &["absent.npz:ramp", "no such file"]);
}

#[test]
fn the_arrays_of_archives_come_in_pieces() {
    for path in ["archive.npz:ramp", "packed.npz:ramp"] {
        let path = PathBuf::from("tests/fixtures/npy").join(path);
        let mut incoming = data::open(&Input::Path(path), None).unwrap();
        let mut ramp = vec![0_f32; incoming.len()];
        for piece in ramp.chunks_mut(999) {
            incoming.next(bytemuck::cast_slice_mut(piece)).unwrap();
        }
        assert!((0..5000).map(|i| i as f32).eq(ramp));
    }
}

#[test]
fn elements_that_are_passed_over_leave_those_that_follow() {
    let folder = tempfile::tempdir().unwrap();
    let raw = folder.path().join("raw");
    fs::write(&raw, (0..30_000_i16).flat_map(|x| (-x).to_le_bytes()).collect::<Vec<_>>()).unwrap();
    let widened: Vec<_> = (0..30_000_i32).map(|x| -x).collect();
    let plain = folder.path().join("plain.npy");
    let output = Output::parse(&plain);
    data::write_npy(&output, Dtype::I32, &[30_000], bytemuck::cast_slice(&widened)).unwrap();
    let fixtures = PathBuf::from("tests/fixtures/npy");
    let cases = [
        (raw, Some("i16".parse().unwrap())),
        (plain, None),
        (fixtures.join("fortran_2d.npy"), None),
        (fixtures.join("packed.npz:grid"), None),
        (fixtures.join("big_endian_i2.npy"), None),
    ];
    for (path, stored) in cases {
        let input = Input::Path(path);
        let open = || data::open_stored(&input, stored).unwrap();
        let (len, size) = (open().len(), open().dtype().size());
        let mut all = vec![0; len * size];
        open().next(&mut all).unwrap();
        // One element, and as many as are left; some are passed over before each.
        for (before, between) in [(0, 0), (1, 0), (0, 1), (1, len - 2), (len - 1, 0), (len / 2, 0)]
        {
            let mut array = open();
            let mut one = vec![0; size];
            array.skip(before).unwrap();
            array.next(&mut one).unwrap();
            array.skip(between).unwrap();
            let after = before + 1 + between;
            let mut rest = vec![0; (len - after) * size];
            array.next(&mut rest).unwrap();
            assert_eq!(one, all[before * size..][..size], "{input}: {before}");
            assert_eq!(rest, all[after * size..], "{input}: {before} and {between}");
        }
    }
}

#[test]
fn a_file_that_shrinks_while_elements_are_passed_over_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("raw");
    fs::write(&path, [7; 4000]).unwrap();
    let mut array = data::open(&Input::Path(path.clone()), Some(Dtype::F32)).unwrap();
    fs::write(&path, [7; 100]).unwrap();
    array.skip(500).unwrap();
    says(array.next(&mut [0; 2000]), &["cut short"]);
}

#[test]
fn an_archive_that_is_damaged_is_an_error_or_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    for name in ["archive.npz", "packed.npz"] {
        let whole = fs::read(PathBuf::from("tests/fixtures/npy").join(name)).unwrap();
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            data::read(&Input::Path(folder.path().join("a.npz:grid")), None)
        };
        // Damage is tried in the array itself and in the archive's directory. The bytes between do
        // not matter.
        let last = whole.len() - 600;
        for at in (0..1000.min(last)).chain(last..whole.len()) {
            let mut bad = whole.clone();
            bad[at] ^= 0x55;
            if let Ok(array) = read(&bad) {
                let right = [0_i32, 1, 2, 3, 4, 5];
                assert_eq!(array.as_slice::<i32>().ok(), Some(&right[..]), "{name}, byte {at}");
            }
        }
        for len in (0..whole.len()).step_by(97) {
            assert!(read(&whole[..len]).is_err(), "{name}, {len} bytes");
        }
    }
}

#[test]
fn narrow_and_big_endian_elements_are_read_as_those_that_there_are_kernels_for() {
    holds(&numpy("bool").unwrap(), &[2], &[1_u32, 0]);
    holds(&numpy("i1").unwrap(), &[3], &[0_i32, 1, 2]);
    holds(&numpy("i2").unwrap(), &[3], &[0_i32, 1, 2]);
    holds(&numpy("u1").unwrap(), &[3], &[0_u32, 1, 255]);
    holds(&numpy("u2").unwrap(), &[3], &[0_u32, 1, 65535]);
    holds(&numpy("big_endian").unwrap(), &[3], &[0.0_f32, 1.0, 2.0]);
    holds(&numpy("big_endian_i2").unwrap(), &[3], &[-2_i32, 1, 300]);
}

#[test]
fn a_type_without_kernels_is_refused_with_a_way_to_convert_it() {
    let supported = "f16, bf16, f32, f64, i32, u32, i64, u64, i8, i16, u8, u16, bool";
    says(numpy("complex"), &["<c8", supported, "a.real"]);
    says(numpy("text"), &["<U2", supported, "a.astype"]);
    says(numpy("dates"), &["<M8[D]", supported, "a.astype('<i8')"]);
    says(numpy("object"), &["|O", supported, "a.astype('<f8')"]);
    says(numpy("structured"), &["('x', '<f4')", supported, "a['name']"]);
    says(numpy("structured_unicode"), &["é€", supported, "a['name']"]);
    says(numpy("bf16"), &["<V2", "tofile", "--dtype bf16"]);
}

#[test]
fn a_contradicting_dtype_names_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    data::write_npy(&Output::parse(&path), Dtype::F32, &[1], &[0; 4]).unwrap();
    let input = Input::parse(&path);
    says(data::read(&input, Some(Dtype::I32)), &["f32", "i32", "a.npy", "leave --dtype out"]);
    holds(&data::read(&input, Some(Dtype::F32)).unwrap(), &[1], &[0.0_f32]);
}

#[test]
fn a_path_that_cannot_be_read_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.npy");
    says(data::read(&Input::parse(&missing), None), &["missing.npy", "no such file"]);
    says(data::read(&Input::parse(folder.path()), None), &["is a directory"]);
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    says(data::read(&Input::parse(file.join("below")), None), &["below", "reading failed"]);
}

#[test]
fn a_raw_file_needs_a_type_and_whole_elements() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    fs::write(&path, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).unwrap();
    let input = Input::parse(&path);
    says(data::read(&input, None), &["a.bin", "--dtype", "f16|bf16|f32"]);
    says(data::read(&input, Some(Dtype::F32)), &["10 bytes", "4-byte f32", "2 left over"]);
    let array = data::read(&input, Some(Dtype::Bf16)).unwrap();
    let bits = [0x0201, 0x0403, 0x0605, 0x0807, 0x0a09].map(bf16::from_bits);
    holds(&array, &[5], &bits);
}

#[test]
fn a_file_of_another_format_is_not_taken_for_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let npz = folder.path().join("a.npz");
    fs::write(&npz, b"PK\x03\x04 and so on").unwrap();
    says(data::read(&Input::parse(&npz), None), &["a.npz", "archive", "np.savez"]);
    let npy = folder.path().join("a.NPY");
    fs::write(&npy, [0; 16]).unwrap();
    says(data::read(&Input::parse(&npy), Some(Dtype::F32)), &["a.NPY", "x93NUMPY"]);
}

#[test]
fn a_file_of_the_wrong_length_is_refused_with_both_lengths() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    data::write_npy(&Output::parse(&path), Dtype::U32, &[2, 5], &[0; 40]).unwrap();
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 7]).unwrap();
    says(data::read(&Input::parse(&path), None), &["expected 40 bytes", "found 33"]);
    fs::write(&path, [&whole[..], b"more"].concat()).unwrap();
    says(data::read(&Input::parse(&path), None), &["expected 40 bytes", "at least 44"]);
    for len in 0..whole.len() {
        fs::write(&path, &whole[..len]).unwrap();
        assert!(data::read(&Input::parse(&path), None).is_err(), "{len} bytes");
    }
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_is() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::Path(folder.path().join("a.npy"));
    says(
        data::write_npy(&output, Dtype::Bf16, &[1], &[0; 2]),
        &["bf16", "convert the elements to f32"],
    );
    says(data::write_npy(&output, Dtype::F32, &[3], &[0; 8]), &["8 bytes", "[3]", "f32"]);
    says(data::write_npy(&output, Dtype::F32, &[u64::MAX], &[0; 8]), &["8 bytes", "f32"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_impossible_output_says_why_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: PathBuf| data::write_raw(&Output::Path(path), &[1, 2, 3]);
    says(write(folder.path().to_owned()), &["not written", "name a file in it"]);
    says(write(folder.path().join("none/a")), &["none/a", "create the folder first"]);
    fs::write(folder.path().join("file"), "old").unwrap();
    says(write(folder.path().join("file/a")), &["file/a", "a part of the path is a file"]);
    assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_reported_and_stays_a_device() {
    use std::os::unix::fs::FileTypeExt;
    let full = Output::parse("/dev/full");
    says(data::write_raw(&full, &[0; 64]), &["/dev/full", "free some space"]);
    let file_type = fs::metadata("/dev/full").unwrap().file_type();
    assert!(file_type.is_char_device());
}

#[cfg(unix)]
#[test]
fn a_link_and_permissions_survive_a_new_content() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("file", &link).unwrap();
    data::write_raw(&Output::parse(&link), b"new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_new_file_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |name: &str| {
        let metadata = fs::metadata(folder.path().join(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    fs::write(folder.path().join("theirs"), "").unwrap();
    data::write_raw(&Output::Path(folder.path().join("ours")), b"").unwrap();
    assert_eq!(mode("ours"), mode("theirs"));
}

proptest! {
    #[test]
    fn what_is_written_is_what_is_read(
        dtype in prop::sample::select(&Dtype::ALL[..]),
        shape in prop::collection::vec(0_u64..5, 0..4),
        seed: u8,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let len = dtype.size() * shape.iter().product::<u64>() as usize;
        let bytes: Vec<u8> = (0..len).map(|i| (i as u8).wrapping_mul(31) ^ seed).collect();

        let raw = folder.path().join("a.bin");
        data::write_raw(&Output::parse(&raw), &bytes).unwrap();
        // Raw bytes could start like .npy by chance. These do not, because byte 1 is byte 0 ^ 31.
        let array = data::read(&Input::parse(&raw), Some(dtype)).unwrap();
        prop_assert_eq!(array.bytes(), &bytes[..]);
        prop_assert_eq!(array.shape(), [(len / dtype.size()) as u64]);

        if dtype.npy_descr().is_some() {
            let npy = folder.path().join("a.npy");
            data::write_npy(&Output::parse(&npy), dtype, &shape, &bytes).unwrap();
            let array = data::read(&Input::parse(&npy), None).unwrap();
            prop_assert_eq!(array.dtype(), dtype);
            prop_assert_eq!(array.shape(), &shape[..]);
            prop_assert_eq!(array.bytes(), &bytes[..]);
        }
    }
}
