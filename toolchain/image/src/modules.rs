//! Finds kernels in several images.

use crate::error::ImageError;
use crate::image::{PtxImage, Source};
use crate::joined::{identifiers, joined};
use crate::packed::Packed;
use crate::text::Parts;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// The kernels of several images that one device can run.
///
/// A kernel comes from the newest image that has it. If two images have the same capability, the
/// first one given counts. So images of several crates can be given together.
pub struct Modules<'a> {
    /// The newest image is first.
    images: Vec<Opened<'a>>,
}

/// A kernel as a module of its own, with the kernels that it launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The compute capability that the kernel is compiled for.
    pub compute: u32,
    /// The text, with only this kernel and those that it mentions.
    pub text: String,
}

impl Module {
    /// Whether it launches kernels, and has to be linked with NVIDIA's device runtime
    /// (`libcudadevrt.a`) to be loaded.
    #[must_use]
    pub fn needs_device_runtime(&self) -> bool {
        self.text.contains(DEVICE_RUNTIME)
    }
}

/// The names of the device runtime's functions begin like this (`cuda_device_runtime_api.h`).
pub const DEVICE_RUNTIME: &str = "__cudaCDP2";

enum Opened<'a> {
    Text { compute: u32, parts: Parts<'a> },
    Packed(Packed<'a>),
}

impl<'a> Modules<'a> {
    /// The images that run on a device of compute capability `compute`. There may be none.
    ///
    /// # Errors
    /// If a packed image is damaged or of another format.
    pub fn of(images: &[PtxImage<'a>], compute: u32) -> Result<Self, ImageError> {
        let mut opened = Vec::new();
        for image in images {
            let of_image = image.compute()?;
            if of_image <= compute {
                opened.push(match image.0 {
                    Source::Text { compute, text } => {
                        Opened::Text { compute, parts: Parts::of(text) }
                    }
                    Source::Packed(bytes) => Opened::Packed(Packed::open(bytes)?),
                });
            }
        }
        opened.sort_by_key(|image| Reverse(image.compute()));
        Ok(Self { images: opened })
    }

    /// The compute capability of the newest image. None if there is no image.
    #[must_use]
    pub fn newest(&self) -> Option<u32> {
        self.images.first().map(Opened::compute)
    }

    /// The names of all kernels, in alphabetical order.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        let names = self.images.iter().flat_map(Opened::kernels);
        names.collect::<BTreeSet<_>>().into_iter()
    }

    /// The compute capability of the image that `kernel` is taken from. None if no image has it.
    #[must_use]
    pub fn built_for(&self, kernel: &str) -> Option<u32> {
        self.image_with(kernel).map(Opened::compute)
    }

    /// The text outside of the kernels in the newest image.
    #[must_use]
    pub fn prelude(&self) -> &str {
        self.images.first().map_or("", Opened::prelude)
    }

    /// The text of `kernel` alone. None if no image has it.
    ///
    /// # Errors
    /// If a packed image is damaged.
    pub fn entry(&self, kernel: &str) -> Result<Option<String>, ImageError> {
        let Some(image) = self.image_with(kernel) else {
            return Ok(None);
        };
        Self::entry_of(image, kernel).map(Some)
    }

    /// The module that has only `kernel` and the kernels that it launches. None if no image has it.
    ///
    /// # Errors
    /// As for [`entry`](Self::entry).
    pub fn module(&self, kernel: &str) -> Result<Option<Module>, ImageError> {
        let Some(image) = self.image_with(kernel) else {
            return Ok(None);
        };
        Self::with(image, vec![kernel.to_owned()]).map(Some)
    }

    /// The module of those kernels of the newest image that `wanted` takes, and the kernels that
    /// they launch. None if there is no image. `wanted` gets the text of each kernel.
    ///
    /// # Errors
    /// As for [`entry`](Self::entry).
    pub fn newest_with(&self, wanted: impl Fn(&str) -> bool) -> Result<Option<Module>, ImageError> {
        let Some(image) = self.images.first() else {
            return Ok(None);
        };
        let mut kernels = Vec::new();
        for kernel in image.kernels() {
            if wanted(&Self::entry_of(image, kernel)?) {
                kernels.push(kernel.to_owned());
            }
        }
        Self::with(image, kernels).map(Some)
    }

    /// The module of these kernels of an image, and the kernels that they launch.
    fn with(image: &Opened<'a>, mut kernels: Vec<String>) -> Result<Module, ImageError> {
        let mut entries = BTreeMap::new();
        while let Some(kernel) = kernels.pop() {
            if entries.contains_key(&kernel) {
                continue;
            }
            let entry = Self::entry_of(image, &kernel)?;
            let mentioned = identifiers(&entry).filter(|name| image.has(name) && *name != kernel);
            kernels.extend(mentioned.map(String::from));
            entries.insert(kernel, entry);
        }
        Ok(Module { compute: image.compute(), text: joined(image.prelude(), &entries) })
    }

    fn image_with(&self, kernel: &str) -> Option<&Opened<'a>> {
        self.images.iter().find(|image| image.has(kernel))
    }

    fn entry_of(image: &Opened<'a>, kernel: &str) -> Result<String, ImageError> {
        match image {
            Opened::Text { parts, .. } => Ok(parts.entries[kernel].to_owned()),
            Opened::Packed(image) => image.unpack(&image.entries[kernel]),
        }
    }
}

impl Opened<'_> {
    fn compute(&self) -> u32 {
        match self {
            Self::Text { compute, .. } => *compute,
            Self::Packed(image) => image.compute,
        }
    }

    fn prelude(&self) -> &str {
        match self {
            Self::Text { parts, .. } => &parts.prelude,
            Self::Packed(image) => &image.prelude,
        }
    }

    fn has(&self, kernel: &str) -> bool {
        match self {
            Self::Text { parts, .. } => parts.entries.contains_key(kernel),
            Self::Packed(image) => image.entries.contains_key(kernel),
        }
    }

    fn kernels(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match self {
            Self::Text { parts, .. } => Box::new(parts.entries.keys().copied()),
            Self::Packed(image) => Box::new(image.entries.keys().map(String::as_str)),
        }
    }
}

impl fmt::Debug for Modules<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let images: BTreeMap<_, _> =
            self.images.iter().map(|image| (image.compute(), image.kernels().count())).collect();
        write!(f, "Modules(kernels by compute capability: {images:?})")
    }
}
