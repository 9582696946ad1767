//! `gridsync reduce --ranks`: several processes reduce one array together.

use super::shown::Shown;
use super::{Found, Given, Reduce};
use crate::cli::Global;
use crate::cli::choice::Place;
use crate::cli::computed::Fields;
use crate::cli::exit::{self, Usage};
use crate::cli::files::Files;
use crate::cli::job::{self, About, Done, Job};
use crate::cli::output;
use crate::data::{self, Incoming, Input, Stored};
use bytemuck::Pod;
use clap::ValueEnum;
use gridsync::primitives::parts::{Cut, Leaves};
use gridsync::primitives::{Checked, PartReducible};
use gridsync::{memory, reference};
use gridsync_lab::count::within;
use gridsync_ranks::{self as ranks, Borders, Environment, Ranks, Task, Transport};
use std::ffi::OsString;
use std::time::Duration;

/// Seconds to wait for other ranks, by default. A rank that computes or reads still sends a
/// heartbeat every second, so that this can be shorter than the work.
const TIMEOUT: u64 = 60;

/// How long a rank has to exit normally after another one is lost. It cannot while it reads from a
/// pipe without data, or while a kernel runs.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Clone, clap::Args)]
pub(super) struct ByRanks {
    /// Reduce the array together with other processes, the ranks, which a launcher (torchrun,
    /// mpirun, srun) has started with the same arguments. Each reads its part of INPUT, which all
    /// must be able to open, and rank 0 prints the result: the same bits as from one process. Ranks
    /// meet at MASTER_ADDR and MASTER_PORT (or GRIDSYNC_PORT; without both at a port that follows
    /// from the job). Ranks of another job (GRIDSYNC_JOB, or the name from the launcher), version,
    /// call or input are refused. With --device auto each rank uses the GPU of its LOCAL_RANK.
    /// Ranks do not share rows: give each its own rows, and call it without --ranks.
    #[arg(long, conflicts_with = "lines")]
    ranks: bool,
    /// Each rank has its own file; the array is all files in the order of the ranks. {rank} in INPUT
    /// is the number of the rank.
    #[arg(long, requires = "ranks", conflicts_with = "check")]
    shard: bool,
    /// How the ranks send each other their results; auto uses NCCL if all ranks have their own GPU
    /// and find the library, else TCP.
    #[arg(long, requires = "ranks", value_enum)]
    transport: Option<Way>,
    /// Seconds to wait at the start for all ranks, and later for a heartbeat of each; 60 if not
    /// given. A rank that is alive may take longer: rank 0 then names the ranks that it waits for,
    /// every time that many seconds have passed.
    #[arg(long, requires = "ranks", value_name = "SECONDS", value_parser = within::<u64>(1..=1_000_000))]
    rank_timeout: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Way {
    Auto,
    Nccl,
    Tcp,
}

impl From<Way> for Transport {
    fn from(way: Way) -> Self {
        match way {
            Way::Auto => Self::Auto,
            Way::Nccl => Self::Nccl,
            Way::Tcp => Self::Tcp,
        }
    }
}

impl ByRanks {
    pub(super) fn is_asked(&self) -> bool {
        self.ranks
    }

    /// The file of rank `rank`.
    fn file_of(&self, input: &OsString, rank: u32) -> OsString {
        match input.to_str() {
            Some(text) if self.shard => text.replace("{rank}", &rank.to_string()).into(),
            _ => input.clone(),
        }
    }
}

/// A rank's share of an array.
pub(super) struct Share<'a> {
    ranks: &'a mut Ranks,
    transport: Transport,
    /// The whole array.
    about: About,
    /// The lengths of the ranks' files, if each rank has a file.
    shards: Option<Vec<usize>>,
    path: &'a OsString,
}

impl Share<'_> {
    /// The report, with the ranks added. Only rank 0 prints the result.
    pub(super) fn report(&self, mut done: Done) -> Done {
        let (size, by) = (self.ranks.size(), self.transport.name());
        if let Fields::Reduce { ranks, transport, .. } = &mut done.fields {
            (*ranks, *transport) = (Some(size), Some(by));
        }
        done.what = format!("{} by {size} ranks over {by}", done.what);
        done.result = done.result.filter(|_| self.ranks.rank() == 0);
        done
    }
}

impl Reduce {
    /// Describes the reduction, the same on all ranks.
    fn words(&self) -> String {
        let flag = |name: &str, value: Option<String>| {
            value.map_or(String::new(), |value| format!(" --{name} {value}"))
        };
        format!(
            "reduce --op {}{}{}{}{}{}{}",
            self.op(),
            flag("acc", self.acc.map(|acc| format!("{acc:?}").to_lowercase())),
            flag("modulus", self.modulus.map(|modulus| modulus.to_string())),
            flag("ddof", self.ddof.map(|ddof| ddof.to_string())),
            if self.skip_nan { " --skip-nan" } else { "" },
            flag("dtype", self.dtype.map(|dtype| dtype.to_string())),
            if self.by.shard { " --shard" } else { "" }
        )
    }

    pub(super) fn run_by_ranks(&self, global: &Global) -> anyhow::Result<()> {
        let environment = Environment::of_process()?;
        let speaks = environment.rank == 0;
        let global = Global {
            device: global.device.clone(),
            json: speaks && global.json,
            quiet: !speaks || global.quiet,
            verbose: speaks && global.verbose,
        };
        let path = self.by.file_of(&self.input, environment.rank);
        let files = Files::default().reads("INPUT", &path);
        job::run(&global, &files, self.remedy(), |job| {
            let timeout = Duration::from_secs(self.by.rank_timeout.unwrap_or(TIMEOUT));
            // A rank that cannot read its input joins the others anyway, so that they exit too.
            let opened = self.open_common(job, &path, environment.size);
            let common = opened.as_ref().ok().and_then(Option::as_ref);
            let task = Task { call: self.words(), input: common.map(|(_, about)| about.clone()) };
            let mut ranks = match Ranks::join(&environment, task, timeout) {
                Ok(ranks) => ranks,
                Err(error) => return Err(opened.err().unwrap_or(error.into())),
            };
            ranks.when_lost(|error| exit::after(GRACE, &error.into()));
            if !global.quiet {
                ranks.report_waiting(|waiting| {
                    output::say(format_args!("gridsync: rank 0 {waiting}"))
                });
            }
            let done = opened.and_then(|common| {
                let input = common.map(|(input, _)| input);
                self.share(job, &environment, input, &path, &mut ranks)
            });
            if let Err(error) = &done {
                ranks.fail(&format!("{error:#}"));
            }
            done
        })
    }

    /// Opens the file that all ranks read, and describes it so that ranks can compare it. With
    /// --shard, returns `None`.
    fn open_common(
        &self,
        job: &Job<'_>,
        path: &OsString,
        size: u32,
    ) -> anyhow::Result<Option<(Incoming, String)>> {
        if self.by.shard {
            return Ok(None);
        }
        let is_read_once = self.refuse_what_is_read_once(path, size)?;
        let input = job.open(path, self.dtype)?;
        let (len, stored) = (input.len(), input.stored());
        let sample = if is_read_once { 0 } else { Input::parse(path).sample()? };
        Ok(Some((input, format!("{len} elements of {stored}, sample {sample:08x}"))))
    }

    /// Agrees with the other ranks on what is reduced, and reduces this rank's share.
    fn share(
        &self,
        job: &Job<'_>,
        environment: &Environment,
        input: Option<Incoming>,
        path: &OsString,
        ranks: &mut Ranks,
    ) -> anyhow::Result<Done> {
        let (input, shards) = match input {
            Some(input) => (input, None),
            None => {
                let input = job.open(path, self.dtype)?;
                let lens = compare(&input, ranks)?;
                (input, Some(lens))
            }
        };
        let len = match &shards {
            None => input.len(),
            Some(lens) => {
                let sum = lens.iter().try_fold(0usize, |sum, &len| sum.checked_add(len));
                let too_many = "the shards have more than 2^64 elements: leave some out";
                sum.ok_or_else(|| Usage(too_many.into()))?
            }
        };
        let about = About { stored: input.stored(), len };
        self.refuse_what_makes_no_sense(about.dtype(), about.len)?;
        let place = job.global.device.place_of_rank(environment.local_rank)?;
        self.variant(&place)?;
        let device = place.device("a rank")?.cloned();
        job.compute_on(place, &about.text("elements"));
        let wanted = self.by.transport.unwrap_or(Way::Auto).into();
        let transport = ranks.choose(wanted, device.as_ref())?;
        let share = Share { ranks, transport, about, shards, path };
        self.dispatch(job, Given { input, share: Some(share) })
    }

    /// Without --shard, all ranks read one file, each from where its part begins, so that several
    /// ranks refuse a file that can be read only once. Returns whether it can be read only once.
    fn refuse_what_is_read_once(&self, path: &OsString, size: u32) -> anyhow::Result<bool> {
        let input = Input::parse(path);
        let identity = input.identity();
        let is_read_once =
            input == Input::Stdin || identity.as_ref().is_some_and(data::Identity::is_read_once);
        if size == 1 || !is_read_once {
            return Ok(is_read_once);
        }
        let message = format!(
            "{input} can be read only once, but each of {size} ranks must read its own part of it: save it to a file, or give each rank its own file with --shard"
        );
        Err(Usage(message).into())
    }

    /// Reduces this rank's share. All ranks get the result.
    pub(super) fn reduce_share<O>(
        &self,
        op: O,
        job: &Job<'_>,
        input: Incoming,
        share: &mut Share<'_>,
    ) -> anyhow::Result<Found<O::Output>>
    where
        O: PartReducible + Checked,
        O::Element: Pod + data::Scalar,
        O::Output: Shown,
    {
        let (about, ranks) = (share.about, &mut *share.ranks);
        let cut = Cut::of::<O>(about.len);
        let size = size_of::<O::Element>();
        let (run, mut feed) = match &share.shards {
            None => {
                let run = cut.run(ranks.rank() as usize, ranks.size() as usize);
                let feed = Feed::part_of(input, &run)?;
                (run, feed)
            }
            Some(lens) => {
                let borders = Borders::of(cut, lens, ranks.rank());
                let feed = Feed::of_shard(input, &borders, size, ranks)?;
                (borders.run, feed)
            }
        };
        let part = self.parts.of(job, run.len(), size)?;
        let place = job.place();
        let mut leaves = match place {
            Place::Cpu => Leaves::on_cpu(op, about.len, run.clone(), part),
            Place::Devices(devices) => Leaves::new(op, devices, about.len, run.clone(), part)?,
        };
        let part = leaves.part();
        let taken = self.parts.taken(job, part, run.len());
        let mut elements = memory::zeroed::<O::Element>(part)?;
        let mut done = 0;
        while done < run.len() {
            let elements = &mut elements[..part.min(run.len() - done)];
            feed.fill(bytemuck::cast_slice_mut(elements), size)?;
            leaves.next(elements)?;
            done += elements.len();
            job.step(done, run.len());
            ranks.check()?;
        }
        job.doing("waiting for the other ranks");
        // All ranks compute at the same time, so that the slowest one determines the time.
        let mut us = leaves.us();
        for bytes in ranks.tell_all(&us.to_le_bytes())? {
            us = us.max(bytes.try_into().map_or(0.0, f64::from_le_bytes));
        }
        let output = ranks::reduce(ranks, leaves)?;
        ranks.leave();
        let mut check = None;
        if self.check && ranks.rank() == 0 {
            let input = self.in_order(job.open(share.path, self.dtype)?);
            let mut checking = op.checking(about.len);
            job.doing("checking");
            job.each_part(input, part, |elements| {
                checking.next(elements);
                Ok(())
            })?;
            check = Some(checking.check(output, reference::reduce_depth::<O>(about.len)));
        }
        let variant = self.variant(place)?;
        Ok(Found { output, check, about, variant, us, part: taken })
    }
}

/// Checks that the shards of all ranks have the same element type. Returns their lengths.
fn compare(input: &Incoming, ranks: &mut Ranks) -> anyhow::Result<Vec<usize>> {
    let own = format!("{} {}", input.len(), input.stored());
    let mut lens = Vec::new();
    let mut first = None;
    for (rank, bytes) in ranks.tell_all(own.as_bytes())?.into_iter().enumerate() {
        let text = str::from_utf8(&bytes).ok().and_then(|text| text.split_once(' '));
        let read = text.and_then(|(len, stored)| {
            let stored = stored.strip_prefix("big-endian ").unwrap_or(stored);
            Some((len.parse::<usize>().ok()?, stored.parse::<Stored>().ok()?))
        });
        let Some((len, stored)) = read else {
            anyhow::bail!(
                "rank {rank} did not describe its shard: run the same gridsync everywhere"
            );
        };
        let first = *first.get_or_insert(stored);
        if stored.dtype() != first.dtype() {
            return Err(Usage(format!(
                "rank 0 has {first} elements and rank {rank} {stored}: use one element type on all ranks"
            ))
            .into());
        }
        lens.push(len);
    }
    Ok(lens)
}

/// Reads the elements of a rank's run.
struct Feed {
    input: Incoming,
    /// Elements left in the file.
    left: usize,
    /// Data that other ranks have sent from their files. It follows the elements of this file.
    more: Vec<u8>,
    /// Bytes of `more` already used.
    taken: usize,
}

impl Feed {
    /// The elements `run` of a file that all ranks read.
    fn part_of(mut input: Incoming, run: &std::ops::Range<usize>) -> anyhow::Result<Self> {
        input.skip(run.start)?;
        if run.start == input.len() {
            // Reading zero elements still checks that no bytes follow.
            input.next(&mut [])?;
        }
        Ok(Self { input, left: run.len(), more: Vec::new(), taken: 0 })
    }

    /// The elements of a rank's own file, without the head, which goes to another rank, and with
    /// the elements that others send.
    fn of_shard(
        mut input: Incoming,
        borders: &Borders,
        size: usize,
        ranks: &mut Ranks,
    ) -> anyhow::Result<Self> {
        let len = input.len();
        let mut to = vec![Vec::new(); ranks.size() as usize];
        let mut sent = 0;
        if let Some((head, owner)) = borders.head {
            let mut bytes = memory::zeroed::<u8>(head * size)?;
            input.next(&mut bytes)?;
            to[owner as usize] = bytes;
            sent = head;
        }
        if sent == len {
            // Reading zero elements still checks that no bytes follow.
            input.next(&mut [])?;
        }
        let more = ranks.exchange(to, borders.tail * size)?.concat();
        if more.len() != borders.tail * size {
            anyhow::bail!(
                "the other ranks sent {} bytes of their files, but {} were expected: run the same gridsync everywhere",
                more.len(),
                borders.tail * size
            );
        }
        Ok(Self { input, left: len - sent, more, taken: 0 })
    }

    /// Fills `into` with the next elements of `size` bytes each.
    fn fill(&mut self, into: &mut [u8], size: usize) -> anyhow::Result<()> {
        let here = self.left.min(into.len() / size);
        let (from_file, from_others) = into.split_at_mut(here * size);
        if here > 0 {
            self.input.next(from_file)?;
        }
        self.left -= here;
        let end = self.taken + from_others.len();
        from_others.copy_from_slice(&self.more[self.taken..end]);
        self.taken = end;
        Ok(())
    }
}
