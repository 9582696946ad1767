//! Packed images with changed bytes.

use super::{LOOP, add, of, ptx};
use ptx_image::{ImageError, Modules, PtxImage, pack};

fn whole() -> Vec<u8> {
    let text = ptx(90, &[("add", &add("add")), ("loops", LOOP), ("same", LOOP)]);
    pack(&text).expect("ordinary PTX")
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

#[test]
fn a_damaged_byte_is_an_error_or_changes_nothing() {
    let file = whole();
    let expected = all(&file);
    let mut harmless = 0;
    for at in 0..file.len() {
        for flip in [1, 0x10, 0x80, 0xff] {
            let mut damaged = file.clone();
            damaged[at] ^= flip;
            match all(&damaged) {
                Err(error) => assert!(error.to_string().contains("packed image"), "{at}: {error}"),
                // The time in the head of a gzip member, and the bits after the end of its stream.
                same => {
                    assert_eq!(same, expected, "byte {at}");
                    harmless += 1;
                }
            }
        }
    }
    assert!(harmless < 4 * 16 * 2, "{harmless} changes in {} bytes went unnoticed", file.len());
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
    file.extend(b"end");
    let error = all(&file).expect_err("there is more");
    let text = error.to_string();
    assert!(text.contains("3 bytes are left") && text.contains("build it again"), "{text}");
}

#[test]
fn bytes_after_a_gzip_member_are_refused() {
    let mut file = whole();
    let frame = PtxImage::packed(&file).head().expect("a whole file").len() + 1;
    let bytes = file[frame..frame + 4].try_into().expect("a length");
    let length = u32::from_le_bytes(bytes) + 1;
    file[frame..frame + 4].copy_from_slice(&length.to_le_bytes());
    file.insert(frame + 3 + length as usize, 0);
    let text = all(&file).expect_err("a frame is too long").to_string();
    assert!(text.contains("1 bytes are left after a frame"), "{text}");
}

#[test]
fn a_head_of_another_image_is_refused() {
    let file = whole();
    let at = file.windows(7).position(|word| word == b"by hand").expect("the head has it");
    let mut other = file;
    other[at..at + 7].copy_from_slice(b"by tool");
    let text = all(&other).expect_err("the head differs").to_string();
    assert!(text.contains("another head"), "{text}");
}

#[test]
fn another_format_is_told_from_damage() {
    let file = whole();
    let at = file.windows(8).position(|word| word == b"format 2").expect("it says so");
    let mut newer = file;
    newer[at + 7] = b'3';
    assert_eq!(all(&newer), Err(ImageError::Format { found: 3, known: 2 }));
}

#[test]
fn a_head_that_makes_no_sense_is_quoted() {
    let file = b"// some kernels\n// packed: format 2, compute_x\n\n";
    let error = PtxImage::packed(file).compute().expect_err("no number");
    assert!(error.to_string().contains("compute_x"), "{error}");
    assert!(PtxImage::packed(b"").head().is_err());
}

#[test]
fn a_damaged_image_that_the_device_cannot_run_does_no_harm() {
    let mut file = whole();
    file.pop();
    assert_eq!(of(&[PtxImage::packed(&file)], 75).newest(), None);
}
