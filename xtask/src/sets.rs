//! The sets of kernels. Each set is a crate, with one image per target.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use cuda_builder::Arch;
use ptx_image::{Modules, PtxImage};

use crate::workspace::{root, walk};

/// A crate of kernels and its images.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KernelSet {
    /// The first part of the images' names.
    pub(crate) name: &'static str,
    /// The folder of the crate.
    pub(crate) folder: &'static str,
    /// The folder of the images.
    images: &'static str,
    /// Folders whose fingerprint is in the header of each image. The flags of `cuda_builder`, the
    /// compiler and the `half` crate change the PTX too, but only a rebuild reveals that.
    pub(crate) sources: &'static [&'static str],
}

/// The sources of a set.
macro_rules! sources {
    ($own:literal) => {
        &[
            $own,
            "kernels/Cargo.toml",
            "kernels/src",
            "toolchain/cuda_std",
            "toolchain/cuda_std_macros",
        ]
    };
}

/// Every set: the kernels that the library launches, those of the experiments, and those of the
/// examples.
pub(crate) const SETS: [KernelSet; 3] = [
    KernelSet {
        name: "kernels",
        folder: "kernels/entries",
        images: "host/ptx",
        sources: sources!("kernels/entries"),
    },
    KernelSet {
        name: "lab",
        folder: "kernels/lab",
        images: "host/lab/ptx",
        sources: sources!("kernels/lab"),
    },
    KernelSet {
        name: "examples",
        folder: "kernels/examples",
        images: "host/examples/ptx",
        sources: sources!("kernels/examples"),
    },
];

/// The committed targets: compute_75 for all GPUs since Turing, and compute_90 for Hopper's
/// additions.
pub(crate) const TARGETS: [Arch; 2] = [Arch::Compute75, Arch::Compute90];

impl KernelSet {
    /// The name of an image, without its extension.
    pub(crate) fn image_name(&self, compute: impl Display) -> String {
        format!("{}_compute_{compute}", self.name)
    }

    /// The path of a committed image.
    pub(crate) fn image(&self, arch: Arch) -> PathBuf {
        let file = format!("{}.ptxz", self.image_name(arch));
        root().join(self.images).join(file)
    }

    /// The committed images, by name.
    pub(crate) fn images(&self) -> Result<Vec<PathBuf>> {
        let begins = format!("{}_compute_", self.name);
        let dir = root().join(self.images);
        let found = walk(&dir, &|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            path.extension() == Some(OsStr::new("ptxz")) && name.starts_with(&begins)
        })?;
        ensure!(
            !found.is_empty(),
            "no image of {} in {}; run `cargo xtask build-kernels`",
            self.name,
            dir.display()
        );
        Ok(found)
    }

    /// The committed images, packed.
    pub(crate) fn read(&self) -> Result<Vec<Vec<u8>>> {
        let read = |path: PathBuf| fs::read(&path).with_context(|| path.display().to_string());
        self.images()?.into_iter().map(read).collect()
    }
}

/// The committed images of all sets, packed.
pub(crate) fn read_all() -> Result<Vec<Vec<u8>>> {
    let sets = SETS.iter().map(KernelSet::read);
    Ok(sets.collect::<Result<Vec<_>>>()?.concat())
}

/// The kernels of packed images on a device of compute capability `compute`.
pub(crate) fn modules(images: &[Vec<u8>], compute: u32) -> Result<Modules<'_>> {
    let images: Vec<_> = images.iter().map(|file| PtxImage::packed(file)).collect();
    Ok(Modules::of(&images, compute)?)
}

/// The whole image of a set for `compute` as text: the text outside of the kernels, and each
/// kernel.
pub(crate) fn whole(images: &[Vec<u8>], compute: u32) -> Result<String> {
    kernels_with(images, compute, |_| true)
}

/// As [`whole`], but only the kernels whose text `wanted` accepts, and those that they launch.
pub(crate) fn kernels_with(
    images: &[Vec<u8>],
    compute: u32,
    wanted: impl Fn(&str) -> bool,
) -> Result<String> {
    let modules = modules(images, compute)?;
    ensure!(
        modules.newest() == Some(compute),
        "there is no image for compute_{compute}, only for {:?}",
        modules.newest()
    );
    Ok(modules.newest_with(wanted)?.map_or_else(String::new, |module| module.text))
}

/// The kernels in the newest image, without those that only an older image has.
pub(crate) fn own<'m>(modules: &'m Modules<'_>) -> impl Iterator<Item = &'m str> {
    let newest = modules.newest();
    modules.kernels().filter(move |kernel| modules.built_for(kernel) == newest)
}
