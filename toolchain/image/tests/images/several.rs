//! Several images together.

use super::{LOOP, add, entry, module, of, ptx};
use ptx_image::{ImageError, Modules, PackError, PtxImage, pack};

/// Images for 75, 80 and 90: `same` is equal in all, `newer` differs from 80 on, `new` is only in
/// 90.
fn three() -> [Vec<u8>; 3] {
    let (same, newer) = (add("same"), add("newer"));
    let turing = ptx(75, &[("same", &same), ("newer", &newer)]);
    let ampere = ptx(80, &[("newer", LOOP), ("same", &same)]);
    let hopper = ptx(90, &[("new", LOOP), ("newer", LOOP), ("same", &same)]);
    [
        pack("own", &turing, None),
        pack("own", &ampere, Some(&turing)),
        pack("own", &hopper, Some(&ampere)),
    ]
    .map(|packed| packed.expect("ordinary PTX"))
}

/// The whole module of one kernel, as a compiler would write it.
fn whole(target: u32, name: &str, body: &str) -> (u32, String) {
    let prelude = format!(".version 8.0\n.target sm_{target}\n.shared .b8 tile[16];\n");
    (target, prelude + &entry(name, body))
}

#[test]
fn a_kernel_as_below_has_the_prelude_of_the_chosen_image() {
    let files = three();
    let images = files.each_ref().map(|file| PtxImage::packed(file));
    for (device, image) in [(75, 75), (79, 75), (80, 80), (89, 80), (90, 90), (120, 90)] {
        let modules = of(&images, device);
        assert_eq!(modules.newest(), Some(image), "on {device}");
        assert_eq!(module(&modules, "same"), whole(image, "same", &add("same")));
        let newer = if image >= 80 { LOOP } else { &add("newer") };
        assert_eq!(module(&modules, "newer"), whole(image, "newer", newer));
        let new = (image >= 90).then(|| module(&modules, "new"));
        assert_eq!(new, (image >= 90).then(|| whole(90, "new", LOOP)));
    }
    let none = of(&images, 70);
    assert_eq!((none.newest(), none.module("same")), (None, Ok(None)));
}

#[test]
fn an_image_holds_what_differs_alone() {
    let [_, ampere, hopper] = three();
    let all = ptx(90, &[("new", LOOP), ("newer", LOOP), ("same", &add("same"))]);
    let all = pack("own", &all, None).expect("ordinary PTX");
    let head = |file: &[u8]| PtxImage::packed(file).head().expect("whole").to_owned();
    assert!(head(&ampere).ends_with("compute_80 above compute_75\n"));
    assert!(head(&hopper).ends_with("compute_90 above compute_80\n"));
    assert!(head(&all).ends_with("compute_90\n"));
}

#[test]
fn an_image_without_the_one_below_is_refused_with_both_numbers() {
    let [turing, _, hopper] = three();
    let images = [&turing, &hopper].map(|file| PtxImage::packed(file));
    let error = Modules::of(&images, 90).expect_err("80 is missing");
    let (set, compute, below) = ("own".into(), 90, 80);
    assert_eq!(error, ImageError::NoneBelow { set, compute, below });
    assert_eq!(of(&images, 75).newest(), Some(75));
}

#[test]
fn an_image_of_another_set_is_none_below() {
    let [turing, ampere, _] = three();
    let other = pack("other", &ptx(75, &[("same", LOOP)]), None).expect("ordinary PTX");
    let images = [&other, &ampere].map(|file| PtxImage::packed(file));
    assert!(matches!(Modules::of(&images, 80), Err(ImageError::NoneBelow { .. })));
    // With all three, `same` is found below, in its own set.
    let images = [&other, &turing, &ampere].map(|file| PtxImage::packed(file));
    assert_eq!(module(&of(&images, 80), "same"), whole(80, "same", &add("same")));
}

#[test]
fn an_image_above_another_build_is_refused_kernel_by_kernel() {
    let [_, ampere, _] = three();
    for lower in [ptx(75, &[("same", LOOP)]), ptx(75, &[])] {
        let lower = pack("own", &lower, None).expect("ordinary PTX");
        let images = [&lower, &ampere].map(|file| PtxImage::packed(file));
        let modules = of(&images, 80);
        let error = modules.module("same").expect_err("it was another");
        assert!(matches!(error, ImageError::Mismatch { .. }), "{error}");
        assert_eq!(module(&modules, "newer"), whole(80, "newer", LOOP));
    }
}

#[test]
fn a_kernel_is_taken_from_the_newest_image_of_any_source() {
    let [turing, ampere, _] = three();
    let own = ptx(86, &[("same", LOOP), ("mine", LOOP)]);
    let old = ptx(75, &[("same", LOOP), ("old", LOOP)]);
    let images = [
        PtxImage::packed(&turing),
        PtxImage::packed(&ampere),
        PtxImage::text(86, &own),
        PtxImage::text(75, &old),
    ];
    let from = |device, kernel: &str| {
        let module = of(&images, device).module(kernel).expect("whole images");
        module.map(|module| module.compute)
    };
    for device in [75, 80, 90] {
        for kernel in ["same", "mine", "old", "none"] {
            let built_for = of(&images, device).built_for(kernel);
            assert_eq!(built_for, from(device, kernel), "{kernel} on {device}");
        }
    }
    assert_eq!([75, 80, 90].map(|device| from(device, "same")), [Some(75), Some(80), Some(86)]);
    assert_eq!([75, 80, 90].map(|device| from(device, "mine")), [None, None, Some(86)]);
    assert_eq!([75, 80, 90].map(|device| from(device, "old")), [Some(75); 3]);
    // Of two images for the same capability, the first one given counts.
    assert_eq!(module(&of(&images, 75), "same"), whole(75, "same", &add("same")));
    let kernels = of(&images, 90);
    assert_eq!(kernels.kernels().collect::<Vec<_>>(), ["mine", "newer", "old", "same"]);
}

#[test]
fn an_image_is_packed_above_a_lower_one_only() {
    let text = ptx(80, &[]);
    for target in [80, 90] {
        let error = pack("own", &text, Some(&ptx(target, &[])));
        let (compute, below) = (80, target);
        assert_eq!(error, Err(PackError::NotBelow { compute, below }));
    }
}
