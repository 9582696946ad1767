//! Packed images with changed bytes.

use super::{LOOP, add, of, ptx};
use ptx_image::{ImageError, Modules, PtxImage, pack};

fn whole() -> Vec<u8> {
    let text = ptx(90, &[("add", &add("add")), ("loops", LOOP), ("same", LOOP)]);
    pack("own", &text, None).expect("ordinary PTX")
}

/// The module of each kernel, or the first error.
fn all(file: &[u8]) -> Result<Vec<String>, ImageError> {
    let modules = Modules::of(&[PtxImage::packed(file)], u32::MAX)?;
    let mut texts = Vec::new();
    for kernel in ["add", "loops", "same"] {
        texts.extend(modules.module(kernel)?.map(|module| module.text));
    }
    Ok(texts)
}

/// Where the index begins: after the head and an empty line.
fn after_head(file: &[u8]) -> usize {
    PtxImage::packed(file).head().expect("a whole file").len() + 1
}

#[test]
fn each_damaged_byte_is_an_error() {
    let file = whole();
    for at in 0..file.len() {
        for flip in [1, 0x10, 0x80, 0xff] {
            let mut damaged = file.clone();
            damaged[at] ^= flip;
            let error = all(&damaged).expect_err("a byte is another");
            let said = error.to_string();
            assert!(said.contains("packed image"), "byte {at}: {said}");
        }
    }
}

#[test]
fn no_file_cut_short_is_whole() {
    let file = whole();
    for length in 0..file.len() {
        let error = all(&file[..length]).expect_err("it is cut short");
        assert!(matches!(error, ImageError::Damaged { .. }), "{length}: {error}");
    }
}

#[test]
fn bytes_after_the_last_group_are_refused() {
    let mut file = whole();
    file.extend(b"more");
    let error = all(&file).expect_err("there is more");
    let text = error.to_string();
    assert!(text.contains("4 bytes are left") && text.contains("build it again"), "{text}");
}

#[test]
fn no_length_makes_a_reader_allocate_more_than_the_format_allows() {
    let file = whole();
    let mut damaged = file.clone();
    let unpacked = after_head(&file) + 4;
    damaged[unpacked..unpacked + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let text = all(&damaged).expect_err("too long").to_string();
    assert!(text.contains("4294967295") && text.contains("16777216"), "{text}");
}

#[test]
fn another_format_is_told_from_damage() {
    let file = whole();
    let at = file.windows(8).position(|word| word == b"format 1").expect("it says so");
    let mut newer = file;
    newer[at + 7] = b'2';
    assert_eq!(all(&newer), Err(ImageError::Format { found: 2, known: 1 }));
}

#[test]
fn a_head_that_makes_no_sense_is_quoted() {
    let file = String::from("// some kernels\n// packed: format 1, set own, compute_x\n\n");
    let error = PtxImage::packed(file.as_bytes()).compute().expect_err("no number");
    assert!(error.to_string().contains("compute_x"), "{error}");
    let file = "// packed: format 1, set own, compute_75 above compute_75\n\n";
    assert!(PtxImage::packed(file.as_bytes()).head().is_err());
    assert!(PtxImage::packed(b"").head().is_err());
}

#[test]
fn a_damaged_image_that_the_device_cannot_run_does_no_harm() {
    let mut file = whole();
    file.pop();
    assert_eq!(of(&[PtxImage::packed(&file)], 75).newest(), None);
}
