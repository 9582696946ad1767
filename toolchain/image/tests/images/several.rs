//! Several images together.

use super::{LOOP, add, module, of, ptx};
use ptx_image::{PtxImage, pack};

/// The whole module of one kernel, as a compiler would write it.
fn whole(target: u32, name: &str, body: &str) -> (u32, String) {
    let prelude = format!(".version 8.0\n.target sm_{target}\n.shared .b8 tile[16];\n");
    (target, prelude + &super::entry(name, body))
}

#[test]
fn a_kernel_is_of_the_newest_image_that_the_device_can_run() {
    let files = [75, 80, 90].map(|target| {
        let text = ptx(target, &[("same", &add("same")), (&format!("of_{target}"), LOOP)]);
        pack(&text).expect("ordinary PTX")
    });
    let images = files.each_ref().map(|file| PtxImage::packed(file));
    for (device, image) in [(75, 75), (79, 75), (80, 80), (89, 80), (90, 90), (120, 90)] {
        let modules = of(&images, device);
        assert_eq!(modules.newest(), Some(image), "on {device}");
        assert_eq!(module(&modules, "same"), whole(image, "same", &add("same")));
        assert_eq!(module(&modules, "of_75"), whole(75, "of_75", LOOP));
    }
    let none = of(&images, 70);
    assert_eq!((none.newest(), none.module("same")), (None, Ok(None)));
}

#[test]
fn a_kernel_is_taken_from_the_newest_image_of_any_source() {
    let same = add("same");
    let [turing, ampere] = [75, 80].map(|target| {
        let text = ptx(target, &[("same", &same), ("newer", LOOP)]);
        pack(&text).expect("ordinary PTX")
    });
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
