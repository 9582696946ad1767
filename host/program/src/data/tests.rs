//! Tests of reading that need a stream instead of a file, or bytes that no program writes.

use std::io::Cursor;

use proptest::prelude::*;

use super::read::Source;
use super::{Array, DataError, Dtype, Incoming, Input, Stored, npy};

/// A pipe with these bytes.
fn held(bytes: &[u8]) -> Cursor<Vec<u8>> {
    Cursor::new(bytes.to_vec())
}

/// Reads bytes as if they came through a pipe.
fn piped(bytes: &[u8], dtype: Option<Dtype>) -> Result<Array, DataError> {
    Source::new(&Input::Stdin, held(bytes), None).open(dtype.map(Stored::from))?.all()
}

/// A `.npy` file of zeroed elements.
fn zeros(dtype: Dtype, shape: &[u64]) -> Vec<u8> {
    let mut file = npy::header_bytes(dtype.npy_descr().expect("a type that npy names"), shape);
    let data_len = dtype.size() * shape.iter().product::<u64>() as usize;
    file.resize(file.len() + data_len, 0);
    file
}

/// A header of version 1.0 with this text, and no data.
fn header(text: &str) -> Vec<u8> {
    let mut file = npy::MAGIC.to_vec();
    file.extend([1, 0]);
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file
}

fn message(result: Result<Array, DataError>) -> String {
    let message = result.expect_err("the input is bad").to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

#[test]
fn a_pipe_is_recognised_by_its_first_bytes() {
    let array = piped(&zeros(Dtype::U64, &[2, 3]), None).unwrap();
    assert_eq!((array.dtype(), array.shape()), (Dtype::U64, &[2, 3][..]));

    let array = piped(&[1, 0, 2, 0, 3, 0, 4, 0], Some(Dtype::U32)).unwrap();
    assert_eq!(array.as_slice::<u32>().unwrap(), [0x0002_0001, 0x0004_0003]);
}

#[test]
fn an_empty_pipe_is_an_empty_array_of_the_requested_type() {
    let array = piped(&[], Some(Dtype::F64)).unwrap();
    assert_eq!((array.len(), array.shape()), (0, &[0][..]));
    assert!(matches!(piped(&[], None), Err(DataError::Foreign { .. })));
}

#[test]
fn an_endless_pipe_is_an_error_after_its_data() {
    use std::io::Read;
    let file = zeros(Dtype::F32, &[4]);
    let endless = held(&file).chain(std::io::repeat(1));
    let incoming = Source::new(&Input::Stdin, endless, None).open(None);
    assert_eq!(
        message(incoming.and_then(Incoming::all)),
        "standard input: expected 16 bytes of data, found at least 17; save one array per file, nothing after it"
    );
}

/// Reads an array from a pipe in pieces of `piece` bytes.
fn by_pieces(bytes: &[u8], dtype: Option<Dtype>, piece: usize) -> Result<Vec<u8>, DataError> {
    let mut incoming =
        Source::new(&Input::Stdin, held(bytes), None).open(dtype.map(Stored::from))?;
    let mut all = vec![0; incoming.len() * incoming.dtype().size()];
    for piece in all.chunks_mut(piece) {
        incoming.next(piece)?;
    }
    Ok(all)
}

#[test]
fn pieces_together_are_the_whole_array() {
    let mut file = npy::header_bytes("<u4", &[10]);
    let data: Vec<u8> = (0..40).collect();
    file.extend(&data);
    for piece in [4, 12, 36, 40, 44] {
        assert_eq!(by_pieces(&file, None, piece).unwrap(), data);
        assert_eq!(by_pieces(&data, Some(Dtype::I32), piece).unwrap(), data);
    }
}

#[test]
fn missing_and_extra_bytes_are_errors() {
    let mut file = zeros(Dtype::F32, &[4]);
    file.push(0);
    for piece in [4, 12, 16] {
        let more = by_pieces(&file, None, piece).expect_err("a byte too many");
        assert!(matches!(more, DataError::Trailing { expected: 16, found: 17, .. }));
        let less = by_pieces(&file[..file.len() - 3], None, piece).expect_err("two too few");
        assert!(matches!(less, DataError::Truncated { expected: 16, found: 14, .. }));
    }
}

#[test]
fn a_byte_after_an_empty_array_is_an_error() {
    let mut file = zeros(Dtype::F32, &[0]);
    let next = |file: &[u8]| {
        let incoming = Source::new(&Input::Stdin, held(file), None).open(None);
        incoming.and_then(|mut incoming| incoming.next(&mut []))
    };
    next(&file).expect("no bytes should follow them");
    file.push(0);
    assert!(matches!(next(&file), Err(DataError::Trailing { expected: 0, found: 1, .. })));
}

/// A `.npy` file of this type and these bytes, in Fortran order if `fortran`.
fn stored(descr: &str, fortran: bool, shape: &[u64], bytes: &[u8]) -> Vec<u8> {
    let header = npy::header_bytes(descr, shape);
    let mut file = if fortran {
        String::from_utf8_lossy(&header[10..]).replace("False", "True ").bytes().fold(
            header[..10].to_vec(),
            |mut file, byte| {
                file.push(byte);
                file
            },
        )
    } else {
        header
    };
    file.extend(bytes);
    file
}

#[test]
fn converted_elements_can_be_read_in_pieces() {
    let narrow: Vec<u8> = (0..200_003u32).map(|i| (i % 251) as u8).collect();
    let wide: Vec<u8> = narrow.iter().flat_map(|&x| u32::from(x).to_le_bytes()).collect();
    let file = stored("|u1", false, &[narrow.len() as u64], &narrow);
    let big: Vec<u8> = narrow.iter().flat_map(|&x| u32::from(x).to_be_bytes()).collect();
    let swapped = stored(">u4", false, &[narrow.len() as u64], &big);
    for piece in [4, 1000, 4 * 65_536, 4 * 200_003] {
        assert!(by_pieces(&file, None, piece).unwrap() == wide, "{piece}");
        assert!(by_pieces(&swapped, None, piece).unwrap() == wide, "{piece}");
    }
    assert!(piped(&file, None).unwrap().bytes() == wide);
    assert!(piped(&swapped, None).unwrap().bytes() == wide);
    let columns: Vec<u8> = (0..6u32).flat_map(u32::to_le_bytes).collect();
    let fortran = stored("<u4", true, &[2, 3], &columns);
    let rows: Vec<u8> = [0u32, 2, 4, 1, 3, 5].iter().flat_map(|x| x.to_le_bytes()).collect();
    for piece in [4, 8, 24] {
        assert_eq!(by_pieces(&fortran, None, piece).unwrap(), rows);
    }
    let incoming = Source::new(&Input::Stdin, held(&fortran), None).open(None);
    let array = incoming.unwrap().in_any_order().all().unwrap();
    assert_eq!(array.bytes(), columns, "in the order of the file");
}

#[test]
fn errors_of_converted_elements_count_bytes_of_the_file() {
    for (descr, size) in [("|i1", 1), ("<u2", 2), (">f4", 4)] {
        let bytes = vec![1; 100_000 * size];
        let whole = stored(descr, false, &[100_000], &bytes);
        let more = stored(descr, false, &[100_000], &[&bytes[..], &[0]].concat());
        let less = &whole[..whole.len() - 1];
        for piece in [4, 400_000] {
            assert!(by_pieces(&whole, None, piece).is_ok());
            let (more, less) = (by_pieces(&more, None, piece), by_pieces(less, None, piece));
            let (found, expected) = (100_000 * size as u64, 100_000 * size as u64);
            assert!(
                matches!(more, Err(DataError::Trailing { expected: e, found: f, .. }) if (e, f) == (expected, found + 1)),
                "{descr}: {more:?}"
            );
            assert!(
                matches!(less, Err(DataError::Truncated { expected: e, found: f, .. }) if (e, f) == (expected, found - 1)),
                "{descr}: {less:?}"
            );
        }
        assert!(piped(&more, None).is_err() && piped(less, None).is_err());
    }
}

#[test]
fn npy_cut_anywhere_is_an_error() {
    for shape in [&[3_u64, 2][..], &[7]] {
        let whole = zeros(Dtype::F32, shape);
        assert!(piped(&whole, None).is_ok());
        for len in 0..whole.len() {
            let error = piped(&whole[..len], None).expect_err("it is cut short");
            let cut = matches!(
                error,
                DataError::NeedsDtype { .. }
                    | DataError::Foreign { .. }
                    | DataError::Truncated { .. }
                    | DataError::Npy { problem: npy::NpyError::Truncated { .. }, .. }
            );
            assert!(cut, "{len} bytes: {error}");
        }
    }
}

#[test]
fn an_impossible_size_is_an_error_and_not_an_abort() {
    let claims = |shape: &str| {
        message(piped(
            &header(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}")),
            None,
        ))
    };
    assert!(claims("(2305843009213693952,)").contains("more than 2^64 - 1 bytes"));
    assert!(claims("(4294967296, 4294967296)").contains("[4294967296, 4294967296]"));
    assert!(claims("(18446744073709551616,)").contains("18446744073709551616"));
    assert!(
        claims("(2305843009213693951,)")
            .contains("18446744073709551608 bytes do not fit in memory")
    );
}

#[test]
fn an_overlong_header_is_refused_without_reading_it() {
    let mut file = npy::MAGIC.to_vec();
    file.extend([2, 0]);
    file.extend(u32::MAX.to_le_bytes());
    assert!(message(piped(&file, None)).contains("claims 4294967295 bytes, more than the 1048576"));
}

#[test]
fn an_unknown_version_is_named() {
    for version in [[0, 0], [1, 1], [4, 0], [255, 255]] {
        let mut file = zeros(Dtype::F32, &[1]);
        file[6..8].copy_from_slice(&version);
        let named = format!("version {}.{} is unknown", version[0], version[1]);
        assert!(message(piped(&file, None)).contains(&named));
    }
}

#[test]
fn a_failing_reader_is_reported_with_its_cause() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is on fire"))
        }
    }
    use std::io::Read;
    for good in [0, 4, 7, 30, 130] {
        let file = zeros(Dtype::F32, &[4]);
        let reader = held(&file[..good]).chain(Broken);
        let incoming = Source::new(&Input::Stdin, reader, None).open(Some(Dtype::F32.into()));
        assert!(
            message(incoming.and_then(Incoming::all)).contains("the disk is on fire"),
            "after {good} bytes"
        );
    }
}

#[test]
fn a_header_over_64_kib_uses_version_2() {
    let shape = vec![1_u64; 30_000];
    let file = zeros(Dtype::I32, &shape);
    assert_eq!(file[6..8], [2, 0]);
    assert_eq!(piped(&file, None).unwrap().shape(), shape);
}

#[test]
fn data_is_aligned_to_64_bytes_for_any_shape() {
    for rank in 0..200 {
        let header = npy::header_bytes("<f4", &vec![12_345_u64; rank]);
        assert_eq!(header.len() % 64, 0, "rank {rank}");
        assert_eq!(header.last(), Some(&b'\n'));
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = piped(&bytes, Some(Dtype::F16));
        let mut file = npy::MAGIC.to_vec();
        file.extend(&bytes);
        let _ = piped(&file, None);
    }

    #[test]
    fn random_header_text_never_panics(text in r#"[\[\](){}'",:\\ 0-9LTFadeflnorstue<>|\n]{0,120}"#) {
        let _ = piped(&header(&text), None);
        let _ = piped(&header(&format!("{{'descr': {text}")), None);
        let _ = piped(&header(&format!("{{'shape': ({text}")), None);
    }

    #[test]
    fn one_wrong_byte_in_a_header_never_panics(at in 0_usize..128, byte: u8) {
        let mut file = zeros(Dtype::F32, &[3, 4]);
        file[at] = byte;
        let _ = piped(&file, None);
    }

    #[test]
    fn every_header_written_is_read_back(
        dtype in prop::sample::select(vec![Dtype::F16, Dtype::F32, Dtype::F64, Dtype::I32, Dtype::U32, Dtype::I64, Dtype::U64]),
        shape in prop::collection::vec(0_u64..6, 0..5),
    ) {
        let array = piped(&zeros(dtype, &shape), None).unwrap();
        prop_assert_eq!(array.dtype(), dtype);
        prop_assert_eq!(array.shape(), &shape[..]);
        prop_assert_eq!(array.len() as u64, shape.iter().product::<u64>());
        prop_assert_eq!(array.bytes().as_ptr().align_offset(16), 0);
    }
}
