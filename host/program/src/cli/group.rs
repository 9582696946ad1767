//! `gridsync group`: groups the elements of an array by keys, and reduces each group.

use super::Global;
use super::choice;
use super::comparisons::{Standard, compare, verdict};
use super::computed::{Fields, Grouped};
use super::exit::Usage;
use super::files::Files;
use super::job::{self, About, Done, Job, Verdict};
use super::output;
use super::segments::by_op::{self, By, Place, Reduced};
use super::sink::Sink;
use super::work::Cost;
use crate::data::{self, Array, Dtype, Stored};
use crate::number::Number;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::segments::Offsets;
use gridsync::primitives::segments::by_key::{
    Groups, GroupsOnCpu, Nans, RunKey, group_by, group_by_on_cpu, runs, runs_on_cpu,
};
use gridsync::primitives::sort::Order;
use std::ffi::OsString;

/// Group the elements of an array by keys, and reduce each group
///
/// The keys may have any order. As in gridsync sort, -0 equals +0, and all NaNs are one key, the last one.
/// Results are in ascending order of the keys, each with the first key of its group. Values are combined in
/// the order of the array, so the bits of a floating-point result depend on the keys and the values only.
/// With --adjacent, only neighbours with equal keys are a group, in the order of the array; this needs no
/// sort. Both arrays are flattened in C order, and have the same length. The results are as of gridsync
/// reduce. Integers are summed in 64 bits, and wrap around there; i64 and u64 have no mean. One device
/// computes, with both arrays in its memory, and 32 bytes for each element. Without -o the key, the number
/// of elements and the result of the first 100 groups are printed.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Group {
    /// The keys: a .npy file, an array of an archive as file.npz:NAME, or raw little-endian numbers
    /// (with --key-dtype); `-` is standard input.
    keys: OsString,
    /// The values, in the same form (with --dtype).
    values: OsString,
    /// Write the results to this .npy file, and print nothing; `-` is standard output.
    #[arg(short, long, alias = "out", value_name = "OUT")]
    output: Option<OsString>,
    /// Write the key of each group to this .npy file, and print nothing.
    #[arg(long = "keys", value_name = "KEYS")]
    distinct: Option<OsString>,
    /// Write the number of elements of each group to this .npy file, and print nothing.
    #[arg(long, value_name = "COUNTS")]
    counts: Option<OsString>,
    #[command(flatten)]
    by: By,
    /// Group only adjacent elements.
    #[arg(long)]
    adjacent: bool,
    /// Group again by a loop on the CPU, reduce each group there, and compare.
    #[arg(long)]
    check: bool,
    /// The type of raw keys: f16 bf16 f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16 bool, which are
    /// widened.
    #[arg(long)]
    key_dtype: Option<Stored>,
    /// The type of raw values: f32 f64 i32 u32 i64 u64, and i8 i16 u8 u16 bool, which are widened.
    #[arg(long)]
    dtype: Option<Stored>,
}

/// The groups of the elements, where they are reduced.
enum Members {
    Runs(Vec<u64>),
    Groups(GroupsOnCpu),
    RunsOnDevice(Offsets),
    GroupsOnDevice(Groups),
}

/// Offsets and indices of the elements of groups, or an error.
type Looped = Result<(Vec<u64>, Vec<u64>), String>;

/// Writes keys to a file.
type Write = dyn Fn(&OsString) -> anyhow::Result<Sink>;

/// The groups that were found by keys of any type.
struct Found {
    members: Members,
    counts: Vec<u64>,
    /// The key of each group.
    numbers: Vec<Number>,
    /// Time in µs.
    us: f64,
    /// Offsets and indices found by a loop, if asked for, or an error.
    looped: Option<Looped>,
    /// Writes the keys.
    write: Box<Write>,
}

impl Group {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let files = Files::default()
            .reads("KEYS", &self.keys)
            .reads("VALUES", &self.values)
            .writes("output", self.output.as_ref())
            .writes("keys", self.distinct.as_ref())
            .writes("counts", self.counts.as_ref());
        job::run(global, &files, "group fewer elements at a time", |job| {
            let keys = job.open(&self.keys, self.key_dtype)?;
            let values = job.open(&self.values, self.dtype)?;
            let about = About::of(&values);
            if keys.len() != values.len() {
                let (keys, values) = (keys.len(), values.len());
                let why =
                    format!("there are {keys} keys and {values} values: give as many of both");
                return Err(Usage(why).into());
            }
            let run = self.by.find("group", about.dtype())?;
            let cost = if self.adjacent { Cost::REDUCE } else { Cost::UNIQUE };
            job.choose(cost.of(about.len), &about.text("elements"))?;
            let (keys, values) = (keys.all()?, values.all()?);
            let found = self.dispatch(job, &keys)?;
            self.reduce(job, run, about, &values, found)
        })
    }

    fn dispatch(&self, job: &Job<'_>, keys: &Array) -> anyhow::Result<Found> {
        macro_rules! by_dtype {
            ($ty:ty, $($kernels:tt)*) => {
                if keys.dtype() == <$ty as data::Scalar>::DTYPE {
                    return self.find::<$ty>(job, keys.as_slice()?);
                }
            };
        }
        gridsync_entries::keyed_elements!(by_dtype);
        Err(Usage(format!("group does not support keys of {}", keys.dtype())).into())
    }

    /// Groups by keys of `K`.
    fn find<K>(&self, job: &Job<'_>, keys: &[K]) -> anyhow::Result<Found>
    where
        K: RunKey + Standard + data::Scalar + Into<Number>,
    {
        let (distinct, members, us) = if let Some(device) = job.place().device("group")? {
            self.on_device(device, keys)?
        } else {
            let bytes = 4 * size_of::<u64>() * keys.len();
            let ((distinct, members), us) = job::on_cpu(bytes, || {
                if self.adjacent {
                    let (distinct, offsets) = runs_on_cpu(keys, Nans::Together);
                    (distinct, Members::Runs(offsets))
                } else {
                    let (distinct, groups) = group_by_on_cpu(keys);
                    (distinct, Members::Groups(groups))
                }
            })?;
            (distinct, members, us)
        };
        let counts: Vec<u64> = match &members {
            Members::Runs(offsets) => offsets.windows(2).map(|pair| pair[1] - pair[0]).collect(),
            Members::Groups(groups) => groups.counts().collect(),
            Members::RunsOnDevice(offsets) => offsets.lengths().collect(),
            Members::GroupsOnDevice(groups) => groups.counts().collect(),
        };
        let looped = self.check.then(|| looped(keys, self.adjacent, &distinct, &counts));
        let numbers = distinct.iter().map(|&key| key.into()).collect();
        let write = move |path: &OsString| -> anyhow::Result<Sink> {
            let shape = [distinct.len() as u64];
            if K::DTYPE == Dtype::Bf16 {
                // `.npy` has no type for bf16, and f32 can represent all bf16 numbers.
                let keys: Vec<f32> = distinct.iter().map(|&key| key.to_f64() as f32).collect();
                return Sink::of_shape(path, Dtype::F32, &shape)?.with(&keys);
            }
            Sink::of_shape(path, K::DTYPE, &shape)?.with(&distinct)
        };
        Ok(Found { members, counts, numbers, us, looped, write: Box::new(write) })
    }

    /// The groups on a device, and the time in µs.
    fn on_device<K: RunKey>(
        &self,
        device: &Device,
        keys: &[K],
    ) -> anyhow::Result<(Vec<K>, Members, f64)> {
        let keys = device.upload(keys)?;
        let mut found = None;
        let mut group = || -> Result<(), gridsync::device::DeviceError> {
            found = Some(if self.adjacent {
                let (distinct, offsets) = runs(&keys, Nans::Together)?;
                (distinct, Members::RunsOnDevice(offsets))
            } else {
                let (distinct, groups) = group_by(&keys)?;
                (distinct, Members::GroupsOnDevice(groups))
            });
            Ok(())
        };
        // The first call allocates, and compiles the kernels.
        if !device.properties().is_emulated() {
            group()?;
        }
        let us = device.time(group)?;
        let (distinct, members) = found.expect("it has run");
        Ok((distinct, members, us))
    }

    /// Reduces the values of each group, and reports.
    fn reduce(
        &self,
        job: &Job<'_>,
        run: by_op::Run,
        about: About,
        values: &Array,
        found: Found,
    ) -> anyhow::Result<Done> {
        let place = match &found.members {
            Members::Runs(offsets) => Place::Cpu(offsets),
            Members::Groups(groups) => Place::GroupsOnCpu(groups),
            Members::RunsOnDevice(offsets) => Place::Segments(offsets),
            Members::GroupsOnDevice(groups) => Place::Groups(groups),
        };
        let looped = found.looped.as_ref().and_then(|looped| looped.as_ref().ok());
        let checked = looped.map(|(offsets, order)| (&offsets[..], Some(&order[..])));
        let device = job.place().device("group")?;
        let Reduced { results, us, check } = run(job, values, device, &place, checked)?;
        let check = match &found.looped {
            Some(Err(wrong)) => Some(verdict(Some(wrong.clone()))),
            _ => check,
        };
        let arrays = self.written(&found, &*results, &check)?;
        let is_printed = self.output.is_none() && self.distinct.is_none() && self.counts.is_none();
        let numbers = if is_printed { results.numbers() } else { Vec::new() };
        let groups = || found.numbers.iter().zip(&found.counts).zip(&numbers);
        let in_json = |((&key, &count), &result)| Grouped { key, count, result };
        let path = |given: &Option<OsString>, name| given.as_ref().map(|_| job.path(name, &check));
        let (op, count) = (self.by.op.clone(), found.counts.len());
        let fields = Fields::Group {
            op: op.clone(),
            groups: count,
            results: is_printed.then(|| groups().map(in_json).collect()),
            output: job.path("output", &check),
            keys: path(&self.distinct, "keys"),
            counts: path(&self.counts, "counts"),
        };
        let result = (is_printed && count > 0).then(|| table(&found, &numbers));
        let kind = if self.adjacent { "runs" } else { "groups" };
        let what = format!("{op} of {count} {kind} of {}", about.text("elements"));
        let variant = match (job.place(), self.adjacent) {
            (choice::Place::Cpu, _) => "rayon",
            (_, true) => "runs",
            (_, false) => "sorted",
        };
        let bytes = 2 * values.bytes().len();
        let us = us + found.us;
        Ok(Done { result, us, bytes, check, arrays, ..Done::of(fields, what, about, variant) })
    }

    /// The arrays that are asked for, unless the check found an error.
    fn written(
        &self,
        found: &Found,
        results: &dyn by_op::Results,
        check: &Option<Verdict>,
    ) -> anyhow::Result<Vec<Sink>> {
        let shape = [found.counts.len() as u64];
        let mut arrays = Vec::new();
        if let Some(path) = &self.output {
            let begin = |dtype| Sink::of_shape(path, dtype, &shape);
            arrays.extend(job::unless_wrong(check, || results.write(&begin))?);
        }
        if let Some(path) = &self.distinct {
            arrays.extend(job::unless_wrong(check, || (found.write)(path))?);
        }
        if let Some(path) = &self.counts {
            let counts: &[i64] = bytemuck::cast_slice(&found.counts);
            let write = || Sink::of_shape(path, Dtype::I64, &shape)?.with(counts);
            arrays.extend(job::unless_wrong(check, write)?);
        }
        Ok(arrays)
    }
}

/// A line with the key, the number of elements and the result of each of the first groups.
fn table(found: &Found, results: &[Number]) -> String {
    let first = output::MOST_PRINTED.min(results.len());
    let width = |texts: &mut dyn Iterator<Item = String>| texts.map(|text| text.len()).max();
    let keys = width(&mut found.numbers[..first].iter().map(|key| key.text())).unwrap_or(0);
    let counts = width(&mut found.counts[..first].iter().map(u64::to_string)).unwrap_or(0);
    let lines = (0..results.len()).map(|at| {
        let (key, count) = (found.numbers[at].text(), found.counts[at]);
        format!("{key:>keys$}  {count:>counts$}  {}", results[at].text())
    });
    output::first(lines, "groups")
}

/// The offsets of the groups and the indices of their elements, found by a loop, or an error if the
/// groups are others than those with these keys and counts.
fn looped<K: RunKey + Standard>(
    keys: &[K],
    adjacent: bool,
    distinct: &[K],
    counts: &[u64],
) -> Looped {
    let order = Order::ASCENDING;
    let is_same = |a: &K, b: &K| compare(order, a, b).is_eq();
    let mut members: Vec<Vec<u64>> = vec![Vec::new(); distinct.len()];
    let mut run = None::<usize>;
    for (index, key) in keys.iter().enumerate() {
        let group = if adjacent {
            let is_new = index == 0 || !is_same(key, &keys[index - 1]);
            let number = run.map_or(0, |run| run + usize::from(is_new));
            run = Some(number);
            (number < distinct.len() && is_same(&distinct[number], key)).then_some(number)
        } else {
            distinct.binary_search_by(|of| compare(order, of, key)).ok()
        };
        let Some(group) = group else {
            return Err(format!(
                "the group of element {index} is missing, and nothing was written"
            ));
        };
        members[group].push(index as u64);
    }
    let is_right = |group: &usize| {
        let own = &members[*group];
        let first = own.first().map(|&at| bytemuck::bytes_of(&keys[at as usize]));
        own.len() as u64 == counts[*group] && first == Some(bytemuck::bytes_of(&distinct[*group]))
    };
    if let Some(group) = (0..distinct.len()).find(|group| !is_right(group)) {
        let (found, right) = (counts[group], members[group].len());
        return Err(format!(
            "group {group} is wrong: {found} elements, not {right}, or another key, and nothing was written"
        ));
    }
    let mut offsets = vec![0];
    offsets.extend(members.iter().scan(0, |end, own| {
        *end += own.len() as u64;
        Some(*end)
    }));
    Ok((offsets, members.concat()))
}
