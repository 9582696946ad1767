//! Runs litmus tests on a GPU: the instructions of each test, given to the driver as PTX.

mod ptx;

use gridsync::device::cuda::{DeviceSummary, PtxImage, probe};
use gridsync::device::{Buffer, Device, DeviceError, Geometry, KernelInfo};
use litmus::{Instruction, Judgement, Statement, Term, Test};
use ptx::{ADDRESSES, NUMBERS, Shape};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::from_ref;

/// Number of bits that number the runs of one launch.
const BITS: u32 = 16;

/// Words of memory that only the disturbing blocks use.
const SCRATCH: usize = 1 << 16;

/// Iterations of a backward jump after which a thread counts as endless.
const FUEL: u32 = 1 << 12;

/// Results of a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// The final states, and how often each was reached.
    pub(super) states: BTreeMap<Vec<i32>, u64>,
    /// Runs that ended.
    pub(super) runs: u64,
    /// Runs in which a thread iterated a loop 4096 times.
    pub(super) endless: u64,
}

/// A way to run a test: memory layout, placement and disturbance.
#[derive(Clone, Copy, Debug)]
struct Setting {
    /// The locations of a run are next to each other, or far apart.
    is_near: bool,
    /// Adjacent runs have memory far apart.
    is_scattered: bool,
    /// The blocks of a group are as many blocks apart as the GPU has multiprocessors, and so
    /// probably on the same one. Otherwise they are adjacent, on different ones.
    is_same_multiprocessor: bool,
    /// Other blocks use the memory system during the runs.
    is_disturbed: bool,
}

impl Setting {
    /// The setting with this number.
    fn of(number: u64) -> Self {
        let bit = |at: u32| number >> at & 1 == 1;
        Self {
            is_near: bit(0),
            is_scattered: bit(1),
            is_same_multiprocessor: bit(2),
            is_disturbed: bit(3),
        }
    }
}

/// A GPU with the tests as kernels.
pub(super) struct Gpu {
    device: Device,
    /// The name and shape of each test's kernel, or the reason why it has no kernel.
    kernels: Vec<Result<(&'static str, Shape), &'static str>>,
    meeting: Buffer<u32>,
    scratch: Buffer<u32>,
}

impl Gpu {
    /// Builds a kernel for each test, for the same GPU as `opened`. The kernels stay in memory until
    /// the program ends.
    ///
    /// # Errors
    /// If the device fails.
    pub(super) fn new(opened: &Device, tests: &[&Test]) -> Result<Self, DeviceError> {
        let properties = opened.properties();
        let compute = properties.compute;
        let is_it = |summary: &DeviceSummary| summary.properties.pci == properties.pci;
        let ordinal = probe()?.into_iter().find(is_it).map_or(0, |summary| summary.ordinal);
        let mut text = head(compute);
        let kernels = tests
            .iter()
            .enumerate()
            .map(|(at, test)| {
                let name: &'static str = Box::leak(format!("litmus_{at}").into_boxed_str());
                let (shape, kernel) = ptx::kernel(name, test, &test.asked(), compute)?;
                text += &kernel;
                Ok((name, shape))
            })
            .collect();
        let image = PtxImage::text(compute.min(90), Box::leak(text.into_boxed_str()));
        let device = Device::cuda(ordinal, &[image])?;
        let groups = device.properties().multiprocessors as usize;
        let (meeting, scratch) = (device.zeroed(32 * groups)?, device.zeroed(SCRATCH)?);
        Ok(Self { device, kernels, meeting, scratch })
    }

    /// Runs the test with this number at least `runs` times, under all settings.
    ///
    /// # Errors
    /// The reason why it cannot run on one GPU, or an error of the device.
    pub(super) fn run(
        &self,
        at: usize,
        test: &Test,
        model: &Judgement,
        runs: u64,
    ) -> Result<Result<Seen, &'static str>, DeviceError> {
        let (name, shape) = match self.kernels[at] {
            Ok(kernel) => kernel,
            Err(why) => return Ok(Err(why)),
        };
        let is_barrier = |it: &Statement| matches!(it.instruction, Instruction::Barrier { .. });
        let has_barrier = test.threads.iter().flat_map(|it| &it.statements).any(is_barrier);
        if has_barrier && !model.terminates {
            return Ok(Err("it may wait at a barrier for ever"));
        }
        let mut seen = Seen::default();
        let mut number = 0;
        while seen.runs + seen.endless < runs {
            self.launch(name, shape, test, &model.columns, number, &mut seen)?;
            number += 1;
            // Endless runs are slow and not informative.
            if seen.endless > seen.runs {
                break;
            }
        }
        Ok(Ok(seen))
    }

    /// One launch, whose results are added to `seen`.
    fn launch(
        &self,
        name: &'static str,
        shape: Shape,
        test: &Test,
        columns: &[Term],
        number: u64,
        seen: &mut Seen,
    ) -> Result<(), DeviceError> {
        let setting = Setting::of(number);
        let total = 1usize << BITS;
        let groups = self.device.properties().multiprocessors;
        let rounds = (total as u32 / 32 / groups).max(1);
        let locations = test.locations.len().max(1);
        let (location_words, run_words) =
            if setting.is_near { (1, locations as u32) } else { (total as u32, 1) };
        let spread = if setting.is_same_multiprocessor { groups } else { 1 };
        // Odd, so that no two runs share memory.
        let factor = if setting.is_scattered { 0x9e37_79b1 } else { 1 };
        let place = |run: usize| (run as u32).wrapping_mul(factor) as usize & (total - 1);
        let mut initial = vec![0i32; locations * total];
        let word = |location: usize, run: usize| {
            location * location_words as usize + place(run) * run_words as usize
        };
        for (location, it) in test.locations.iter().enumerate() {
            (0..total).for_each(|run| initial[word(location, run)] = it.initial);
        }
        let memory = self.device.upload(&initial)?;
        let out = self.device.zeroed::<i32>((columns.len() + 1) * total)?;
        let addresses: [u64; ADDRESSES.len()] =
            [memory.address(), out.address(), self.meeting.address(), self.scratch.address()];
        let seed = (number as u32).wrapping_mul(0x9e37_79b9);
        let numbers: [u32; NUMBERS.len()] = [
            groups,
            spread,
            rounds,
            total as u32 - 1,
            factor,
            location_words,
            run_words,
            seed,
            // Each setting gets another delay after 16 launches.
            [0, 255, 1023, 4095][(number + number / 4 + number / 16) as usize % 4],
            FUEL,
        ];
        let players = groups * shape.ctas;
        let others = if setting.is_disturbed { groups } else { 0 };
        let geometry = Geometry::new(players + others, 32 * shape.warps);
        let kernel =
            KernelInfo { name, cooperative: false, args: &SIZES, parameters: &[], run: |_| {} };
        let args: Vec<*const c_void> = addresses
            .iter()
            .map(|it| from_ref(it).cast())
            .chain(numbers.iter().map(|it| from_ref(it).cast()))
            .collect();
        // SAFETY: these are the arguments that the kernel declares. Each run has its own word for
        // each location and result, the meeting point has a line for each group, and the scratch
        // memory has 2^16 words. All of them live until the downloads have waited.
        unsafe {
            let backend = self.device.backend();
            backend.zero(self.meeting.address(), 4 * self.meeting.len())?;
            backend.launch(&kernel, &geometry, &args)?;
        }
        let (memory, out) = (memory.download()?, out.download()?);
        let mut found: Vec<(Vec<i32>, u64)> = Vec::new();
        let mut state = vec![0; columns.len()];
        for run in 0..(32 * groups * rounds) as usize {
            if out[columns.len() * total + run] != 0 {
                seen.endless += 1;
                continue;
            }
            for (at, term) in columns.iter().enumerate() {
                state[at] = match term {
                    Term::Register(..) => out[at * total + run],
                    Term::Location(location) => memory[word(location.0, run)],
                    Term::Constant(constant) => *constant,
                };
            }
            seen.runs += 1;
            match found.iter_mut().find(|(known, _)| *known == state) {
                Some((_, count)) => *count += 1,
                None => found.push((state.clone(), 1)),
            }
        }
        for (state, count) in found {
            let value = |term| columns.iter().position(|&it| it == term).map_or(0, |at| state[at]);
            if test.filter.as_ref().is_none_or(|filter| filter.holds(&value)) {
                *seen.states.entry(state).or_default() += count;
            }
        }
        Ok(())
    }
}

/// The bytes of each argument of the kernels.
const SIZES: [usize; ADDRESSES.len() + NUMBERS.len()] = {
    let (mut sizes, mut at) = ([8; ADDRESSES.len() + NUMBERS.len()], ADDRESSES.len());
    while at < sizes.len() {
        sizes[at] = 4;
        at += 1;
    }
    sizes
};

/// The first lines of the module.
fn head(compute: u32) -> String {
    // Version 8.6 has `fence.acquire` and `fence.release`, and needs CUDA 12.7.
    let (version, target) = if compute >= 90 { ("8.6", 90) } else { ("8.0", compute) };
    format!(".version {version}\n.target sm_{target}\n.address_size 64\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::cuda::Modules;
    use litmus::{parse, shapes};

    fn of(text: &str) -> Result<String, &'static str> {
        let test = parse(text).expect("a litmus test");
        ptx::kernel("litmus_0", &test, &test.asked(), 90).map(|(_, text)| head(90) + &text)
    }

    #[test]
    fn the_kernel_contains_the_instructions_of_the_test() {
        let message_passing = of("PTX MP
            { x=0; y=0; }
             P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
             st.weak x, 1        | ld.acquire.gpu r0, y ;
             st.release.gpu y, 1 | ld.weak r1, x        ;
            exists (P1:r0 == 1 /\\ P1:r1 == 0)");
        let text = message_passing.expect("it has one GPU");
        for instruction in [
            "st.weak.global.u32 [%m0], %a14",
            "st.release.gpu.global.u32 [%m1], %a14",
            "ld.acquire.gpu.global.u32 %t1r0, [%m1]",
            "ld.weak.global.u32 %t1r1, [%m0]",
        ] {
            assert_eq!(text.matches(instruction).count(), 1, "{instruction} in\n{text}");
        }
    }

    #[test]
    fn a_test_that_one_gpu_cannot_run_is_refused_with_the_reason() {
        let two = |places: &str, space: &str| {
            of(&format!(
                "PTX two
                {{ x=0; }}
                 {places} ;
                 st.weak{space} x, 1 | ld.weak{space} r0, x ;
                exists (P1:r0 == 1)"
            ))
        };
        let several = two("P0@cta 0,gpu 0 | P1@cta 0,gpu 1", "");
        assert_eq!(several.err(), Some("it has several GPUs"));
        let shared = two("P0@cta 0,gpu 0 | P1@cta 0,gpu 0", ".shared");
        assert_eq!(shared.err(), Some("it has shared memory"));
    }

    #[test]
    fn all_classic_shapes_on_one_gpu_become_kernels_of_one_image() {
        let mut text = head(90);
        let mut count = 0;
        for (at, shape) in shapes::all().iter().enumerate() {
            let test = parse(&shape.text).expect("a litmus test");
            match ptx::kernel(&format!("litmus_{at}"), &test, &test.asked(), 90) {
                Ok((_, kernel)) => {
                    text += &kernel;
                    count += 1;
                }
                Err(why) => assert_eq!(why, "it has several GPUs", "{}", shape.name),
            }
        }
        assert!(count > 500, "{count}");
        let image = PtxImage::text(90, Box::leak(text.into_boxed_str()));
        let modules = Modules::of(&[image], 90).expect("an image");
        assert!(modules.entry("litmus_0").expect("text").is_some());
    }
}
