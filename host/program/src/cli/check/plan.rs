//! The arrays and launches of a check, and the expected contents of the arrays.

use super::array::Array;
use super::element::Element;
use super::names;
use crate::cli::exit::Usage;
use anyhow::bail;
use gridsync::check::{Race, Wrong};
use gridsync::device::{Buffer, Device, DeviceError, Devices, Dim3, Geometry};
use gridsync::ptx::{Argument, Excuse, Kernel, Module, Parameter};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A plan as a call or a TOML file describes it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Described {
    /// Emulated GPUs, 1 unless given.
    pub(super) gpus: Option<u32>,
    /// The arrays by name: `u32[100]=iota` or a file, with `@GPU` behind it for another GPU than 0.
    #[serde(default)]
    pub(super) arrays: BTreeMap<String, String>,
    /// The launches, in order.
    pub(super) launch: Vec<DescribedLaunch>,
    /// The contents of arrays after the launches: a number, `iota` or a file.
    #[serde(default)]
    pub(super) expect: BTreeMap<String, String>,
}

/// A launch as described.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DescribedLaunch {
    /// The kernel. Not needed if the module has only one.
    pub(super) kernel: Option<String>,
    /// Blocks in x, y and z.
    pub(super) grid: Vec<u32>,
    /// Threads of a block in x, y and z.
    pub(super) block: Vec<u32>,
    /// Blocks of a cluster.
    pub(super) cluster: Option<u32>,
    /// Bytes of dynamic shared memory.
    #[serde(default)]
    pub(super) shared: u32,
    /// Whether all blocks must be resident.
    #[serde(default)]
    pub(super) cooperative: bool,
    /// Whether the grid may start before the previous one has ended: programmatic dependent launch.
    #[serde(default)]
    pub(super) overlapping: bool,
    /// Names of arrays, and numbers.
    #[serde(default)]
    pub(super) args: Vec<String>,
    /// For a launch on all GPUs: the arguments on each.
    #[serde(default)]
    pub(super) args_of_gpus: Vec<Vec<String>>,
}

/// What to run.
pub(super) struct Plan {
    pub(super) gpus: u32,
    arrays: Vec<(String, Array, usize)>,
    launches: Vec<Launch>,
    /// Indices of arrays, with their expected bytes.
    expected: Vec<(usize, Vec<u8>)>,
}

/// A launch of a kernel.
struct Launch {
    kernel: Kernel,
    geometry: Geometry,
    /// The arguments on each GPU, or on the first one only.
    arguments: Vec<Vec<Given>>,
}

/// An argument.
enum Given {
    /// The address of this array.
    Array(usize),
    /// The address and the length of this array, as kernels in Rust take it.
    View(usize),
    Bytes(Vec<u8>),
}

impl Plan {
    /// The plan with the kernels of `module`.
    pub(super) fn of(described: &Described, module: &Module) -> anyhow::Result<Self> {
        let gpus = described.gpus.unwrap_or(1);
        let mut arrays = Vec::new();
        for (name, text) in &described.arrays {
            let (text, gpu) = match text.rsplit_once('@') {
                Some((text, gpu)) if gpu.parse::<u32>().is_ok_and(|gpu| gpu < gpus) => {
                    (text, gpu.parse()?)
                }
                _ => (&**text, 0),
            };
            arrays.push((name.clone(), Array::parse(text.trim())?, gpu));
        }
        let find = |name: &str| arrays.iter().position(|(other, ..)| other == name);
        let launches = described.launch.iter().map(|launch| launch.of(module, find, gpus));
        let launches = launches.collect::<anyhow::Result<_>>()?;
        let mut expected = Vec::new();
        for (name, text) in &described.expect {
            let Some(at) = find(name) else {
                bail!(Usage(format!("no array is called {name}, whose contents are expected")));
            };
            expected.push((at, arrays[at].1.expected(text)?));
        }
        Ok(Self { gpus, arrays, launches, expected })
    }

    /// The kernels that are launched.
    pub(super) fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.launches.iter().map(|launch| &launch.kernel)
    }

    /// Why the race can do no harm, if it cannot.
    pub(super) fn excuse(&self, race: &Race) -> Option<Excuse> {
        self.kernels().find_map(|kernel| kernel.excuse(race))
    }

    /// Runs the launches on a new device, and compares the arrays with what is expected.
    pub(super) fn run(&self, device: &Device) -> Result<(), Wrong> {
        let devices = Devices::of(device);
        let put = |(_, array, gpu): &(String, Array, usize)| array.put(&devices[*gpu]);
        let buffers = self.arrays.iter().map(put).collect::<Result<Vec<_>, _>>()?;
        for launch in &self.launches {
            launch.run(&devices, &self.arrays, &buffers)?;
        }
        for (at, expected) in &self.expected {
            let (name, array, _) = &self.arrays[*at];
            let found = buffers[*at].download()?;
            if let Some(difference) = array.difference(&found, expected) {
                return Err(format!("array {name}: {difference}").into());
            }
        }
        Ok(())
    }
}

impl DescribedLaunch {
    fn of(
        &self,
        module: &Module,
        find: impl Fn(&str) -> Option<usize>,
        gpus: u32,
    ) -> anyhow::Result<Launch> {
        let kernel = kernel_of(module, self.kernel.as_deref())?;
        let mut geometry =
            Geometry::new(extent("the grid", &self.grid)?, extent("a block", &self.block)?);
        geometry.cluster = self.cluster;
        geometry.dynamic_shared = self.shared;
        geometry.cooperative = self.cooperative;
        geometry.overlapping = self.overlapping;
        if self.overlapping && !self.args_of_gpus.is_empty() {
            bail!(Usage("a launch on all GPUs cannot be overlapping: leave it out".to_owned()));
        }
        let lists = match (&*self.args_of_gpus, gpus) {
            ([], _) => vec![&self.args],
            (lists, gpus) if lists.len() == gpus as usize && self.args.is_empty() => {
                lists.iter().collect()
            }
            (lists, gpus) => bail!(Usage(format!(
                "a launch on all GPUs has a list of arguments for each of {gpus}, and no others: \
                 it has {} lists",
                lists.len()
            ))),
        };
        let given = |list: &Vec<String>| -> anyhow::Result<Vec<Given>> {
            let parameters = kernel.parameters();
            if list.len() != parameters.len() {
                let (name, takes) = (names::readable(kernel.name()), parameters.len());
                bail!(Usage(format!("{name} takes {takes} arguments, not {}", list.len())));
            }
            let each = parameters.iter().zip(list);
            each.map(|(parameter, text)| given(*parameter, text, &find)).collect()
        };
        let arguments = lists.into_iter().map(given).collect::<anyhow::Result<_>>()?;
        Ok(Launch { kernel, geometry, arguments })
    }
}

/// An argument for a parameter.
fn given(
    parameter: Parameter,
    text: &str,
    find: impl Fn(&str) -> Option<usize>,
) -> anyhow::Result<Given> {
    if let Some(at) = find(text) {
        return match parameter.bytes {
            8 => Ok(Given::Array(at)),
            16 => Ok(Given::View(at)),
            bytes => bail!(Usage(format!(
                "array {text} is given for a parameter of {bytes} bytes, but an address has 8"
            ))),
        };
    }
    let is_float = parameter.is_float || text.contains(['.', 'e', 'n']);
    let element = Element::of_parameter(parameter.bytes, is_float, text.starts_with('-'));
    let Some(element) = element else {
        bail!(Usage(format!("{text} is given for a parameter of {} bytes", parameter.bytes)));
    };
    Ok(Given::Bytes(element.parse(text).map_err(Usage)?))
}

/// The kernel of this name, in the source or in the PTX, or the only one.
fn kernel_of(module: &Module, name: Option<&str>) -> anyhow::Result<Kernel> {
    let kernels: Vec<&str> = module.kernels().collect();
    let found = name.map_or_else(|| kernels.clone(), |name| names::called(&kernels, name));
    let list = |kernels: &[&str]| {
        let both = kernels.iter().map(|kernel| match names::readable(kernel) {
            readable if readable == **kernel => readable,
            readable => format!("{readable} ({kernel})"),
        });
        both.collect::<Vec<_>>().join(", ")
    };
    match (&*found, name) {
        ([one], _) => Ok(module.kernel(one)?),
        ([], None) => bail!(Usage("the module has no kernel".to_owned())),
        ([], Some(name)) => {
            bail!(Usage(format!("there is no kernel {name}, but: {}", list(&kernels))))
        }
        (several, _) => bail!(Usage(format!("name one of the kernels: {}", list(several)))),
    }
}

/// One to three numbers.
fn extent(what: &str, numbers: &[u32]) -> anyhow::Result<Dim3> {
    match *numbers {
        [x] => Ok(Dim3::from(x)),
        [x, y] => Ok(Dim3::from((x, y))),
        [x, y, z] => Ok(Dim3::from((x, y, z))),
        _ => bail!(Usage(format!("{what} has one to three extents, not {}", numbers.len()))),
    }
}

impl Launch {
    fn run(
        &self,
        devices: &Devices,
        arrays: &[(String, Array, usize)],
        buffers: &[Buffer<u8>],
    ) -> Result<(), DeviceError> {
        let argument = |given: &Given| match given {
            Given::Array(at) => Argument::from(&buffers[*at]),
            Given::View(at) => Argument::view(&buffers[*at], arrays[*at].1.len),
            Given::Bytes(bytes) => Argument::bytes(bytes),
        };
        let lists = self.arguments.iter().map(|list| list.iter().map(argument).collect());
        let lists: Vec<Vec<Argument>> = lists.collect();
        if let [one] = &*lists {
            return self.kernel.launch(&devices[0], &self.geometry, one);
        }
        let lists: Vec<&[Argument]> = lists.iter().map(|list| &**list).collect();
        self.kernel.launch_on_all(devices, &self.geometry, &lists)
    }
}
