//! The kernels of the images that a device can run.

use crate::device::DeviceError;
use ptx_image::Modules;

/// The kernels for one virtual architecture, as PTX text or packed.
///
/// It is borrowed for the whole run of the program: from `include_str!` or `include_bytes!`, or
/// from the contents of a file through `Vec::leak`.
pub type PtxImage = ptx_image::PtxImage<'static>;

/// Merges the kernels of those of `images` that a device of compute capability `compute` can run,
/// and returns the target of the newest of them.
pub(super) fn usable(
    images: &[PtxImage],
    compute: u32,
) -> Result<(Modules<'static>, u32), DeviceError> {
    let modules = Modules::of(images, compute)?;
    match modules.newest() {
        Some(newest) => Ok((modules, newest)),
        None => Err(DeviceError::NoImage {
            compute,
            offered: images.iter().map(PtxImage::compute).collect::<Result<_, _>>()?,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::KERNELS;

    fn images() -> [PtxImage; 3] {
        [75, 90, 80].map(|compute| PtxImage::text(compute, ""))
    }

    /// The kernels of both of gridsync's images, each with its target.
    fn own() -> [(u32, Modules<'static>); 2] {
        KERNELS.each_ref().map(|image| {
            let compute = image.compute().expect("a whole image");
            let (modules, newest) = usable(&KERNELS, compute).expect("whole images");
            assert_eq!(newest, compute);
            (compute, modules)
        })
    }

    fn entry(modules: &Modules<'_>, kernel: &str) -> String {
        let entry = modules.entry(kernel).expect("whole images");
        entry.expect("a kernel that is listed")
    }

    #[test]
    fn the_highest_image_that_the_device_can_run_is_chosen() {
        for (compute, chosen) in [(75, 75), (79, 75), (86, 80), (90, 90), (121, 90)] {
            let (_, newest) = usable(&images(), compute).expect("75 and newer have one");
            assert_eq!(newest, chosen, "compute capability {compute}");
        }
    }

    #[test]
    fn a_device_too_old_for_all_images_is_an_error() {
        let error = usable(&images(), 70).expect_err("70 is below 75");
        assert_eq!(error, DeviceError::NoImage { compute: 70, offered: vec![75, 90, 80] });
    }

    #[test]
    fn a_corrupt_image_is_a_device_error() {
        let error = usable(&[PtxImage::packed(b"// no image\n\n")], 90).expect_err("no image");
        assert!(matches!(error, DeviceError::Image(_)), "{error}");
    }

    #[test]
    fn kernels_of_both_images_are_separate_and_complete() {
        for (compute, modules) in own() {
            assert!(modules.kernels().count() > 200, "compute_{compute}");
            for kernel in modules.kernels() {
                let module = modules.module(kernel).expect("whole images");
                let module = module.expect("a kernel that is listed");
                assert_eq!(module.compute, compute, "{kernel}");
                let entry = entry(&modules, kernel);
                assert!(module.text.ends_with(&entry), "compute_{compute}: {kernel}");
                // The driver would compile a function that no kernel calls.
                let calls = entry.contains("call.uni");
                assert_eq!(module.text.contains(".func"), calls, "compute_{compute}: {kernel}");
                let head = format!(".visible .entry {kernel}(");
                assert!(entry.starts_with(&head), "compute_{compute}: {kernel}");
                assert!(entry.ends_with("\n}\n"), "compute_{compute}: {kernel}");
                assert_eq!(entry.matches(".entry ").count(), 1, "compute_{compute}: {kernel}");
            }
        }
    }

    #[test]
    fn kernels_of_an_image_do_not_share_module_scope_memory() {
        for (compute, modules) in own() {
            let prelude = ptx::parse(modules.prelude()).expect("declarations");
            for variable in prelude.variables {
                let each = format!("compute_{compute}: each kernel would get another {variable:?}");
                // The compiler's own names are those of constants, which are equal in each.
                let is_constant = variable.name.starts_with("anon_");
                assert!(is_constant || variable.space == ptx::Space::Shared, "{each}");
            }
        }
    }
}
