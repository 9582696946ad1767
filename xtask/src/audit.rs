//! `audit`: checks the PTX without a GPU, and shows the resources of its kernels on each GPU.
//!
//! The PTX itself shows which functions are undefined, and how many block barriers each kernel has.
//! The barriers matter: if a compiler duplicates one after a branch, the kernel hangs or, worse,
//! seems to work. Only NVIDIA's assembler determines the registers, the stack, the spills and the
//! machine code. For one GPU of each image these are compared with the previous ones: after a small
//! change, the assembler may wait for each load of a loop, and the kernel takes twice as long but
//! its results are right. Kernels that launch kernels are separate, as for the driver: code that is
//! to be linked may get other registers.

mod expected;
mod machine_code;
mod ptx;
pub(crate) mod ptxas;
mod sass;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use ptx_image::PtxImage;

use crate::audit::expected::Expected;
use crate::audit::machine_code::MachineCode;
use crate::audit::ptx::Module;
use crate::audit::ptxas::{Job, Report, Usage};
use crate::outcome::{Outcome, Say};
use crate::sets::{SETS, kernels_with, whole};
use crate::workspace::root;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the barrier counts of the present PTX to kernels/audit.toml, and what ptxas makes of it to
    /// kernels/machine_code.toml
    #[arg(long)]
    bless: bool,

    /// Assemble for one GPU of each generation since Turing, not for those of the tables alone
    #[arg(long)]
    every_gpu: bool,

    /// Assemble nothing if the PTX is that of kernels/machine_code.toml
    #[arg(long, conflicts_with_all = ["bless", "every_gpu"])]
    if_changed: bool,
}

impl Args {
    /// Compares with the tables. Assembles for every GPU if `thorough`, and otherwise only PTX that is
    /// not in the tables.
    pub(crate) fn check(thorough: bool) -> Self {
        Self { bless: false, every_gpu: thorough, if_changed: !thorough }
    }
}

/// The table of the machine code.
const MACHINE_CODE: &str = "kernels/machine_code.toml";

/// One GPU of each generation since Turing. Each image is assembled for the GPUs that run it.
const GPUS: [u32; 6] = [75, 80, 86, 90, 100, 120];

/// The GPUs whose machine code is compared with the previous one: one for each image.
const COMPARED: [u32; 2] = [80, 90];

/// The number of parts in which an image is assembled, to use two cores.
const PARTS: usize = 2;

/// The functions that the driver provides to device code (PTX ISA, "System calls" in the CUDA ABI).
/// The functions of the device runtime are in the library that is linked into the module.
const SYSTEM_CALLS: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

pub(crate) fn run(args: &Args, say: Say<'_>) -> Result<Outcome> {
    let mut modules = BTreeMap::new();
    let unpacked = tempfile::tempdir()?;
    for set in &SETS {
        let images = set.read()?;
        let targets = images.iter().map(|image| PtxImage::packed(image).compute());
        let mut targets = targets.collect::<Result<Vec<_>, _>>()?;
        targets.sort_unstable();
        for (at, &compute) in targets.iter().enumerate() {
            // A GPU uses the newest image that it can run.
            let gpus = compute..targets.get(at + 1).copied().unwrap_or(u32::MAX);
            let is_wanted = |gpu: &u32| args.every_gpu || COMPARED.contains(gpu);
            let gpus: Vec<u32> =
                GPUS.into_iter().filter(|gpu| gpus.contains(gpu)).filter(is_wanted).collect();
            let name = set.image_name(compute);
            let text = whole(&images, compute).with_context(|| name.clone())?;
            let module = Module::parse(&text).with_context(|| name.clone())?;
            let mut paths = Vec::new();
            // The last part has the kernels that launch kernels, with those that they launch.
            for part in 0..=PARTS {
                let next = Cell::new(0);
                let text = kernels_with(&images, compute, |entry| {
                    if entry.contains(ptx_image::DEVICE_RUNTIME) {
                        return part == PARTS;
                    }
                    next.set(next.get() + 1);
                    next.get() % PARTS == part
                })?;
                if text.contains(".entry") {
                    paths.push(unpacked.path().join(format!("{name}_{part}.ptx")));
                    fs::write(&paths[paths.len() - 1], &text)?;
                }
            }
            let hash = machine_code::hash(&text);
            modules.insert(name, Audited { module, hash, paths, gpus });
        }
    }

    let table = root().join("kernels/audit.toml");
    if args.bless {
        let counts = modules.iter().map(|(name, audited)| (name.as_str(), &audited.module));
        fs::write(&table, Expected::of(counts).to_string())?;
    }
    let expected = Expected::read(&table)?;

    let mut findings = Vec::new();
    let mut jobs = Vec::new();
    for (name, Audited { module, paths, gpus, .. }) in &modules {
        findings.extend(look_at_ptx(name, module, &expected));
        for &gpu in gpus {
            let with_code = COMPARED.contains(&gpu);
            jobs.extend(paths.iter().map(|ptx| (name.as_str(), Job { ptx, gpu, with_code })));
        }
    }
    let before = MachineCode::read(&root().join(MACHINE_CODE))?;
    let is_known = |(name, audited): (&String, &Audited)| {
        before.image.get(name).is_some_and(|image| image.ptx == audited.hash)
    };
    if args.if_changed && modules.iter().all(is_known) {
        fail_if_any(&findings)?;
        let why = format!("the PTX is that of {MACHINE_CODE}; --thorough assembles it again");
        return Ok(Outcome::PassedAs(why));
    }
    let Some(ptxas) = ptxas::find() else {
        for (name, Audited { module, .. }) in &modules {
            say(&format!("{name} (sm_{})\n{}\n", module.target, show(module, &BTreeMap::new())));
        }
        fail_if_any(&findings)?;
        return Ok(Outcome::Skipped(ptxas::HOW_TO_GET.into()));
    };
    let only_jobs: Vec<Job<'_>> = jobs.iter().map(|(_, job)| *job).collect();
    let reports = ptxas::run_all(&ptxas, &only_jobs)?;
    let mut left_out = Vec::new();
    let mut now = MachineCode { ptxas: ptxas::version(&ptxas)?, ..MachineCode::default() };
    for (name, Audited { module, hash, .. }) in &modules {
        let mut usages: BTreeMap<u32, BTreeMap<String, Usage>> = BTreeMap::new();
        for ((_, job), report) in jobs.iter().zip(&reports).filter(|((of, _), _)| of == name) {
            match report {
                Report::Assembled { usages: found, code } => {
                    let all = usages.entry(job.gpu).or_default();
                    all.extend(found.iter().map(|(name, usage)| (name.clone(), usage.clone())));
                    let image = now.image.entry(name.clone()).or_default();
                    image.ptx.clone_from(hash);
                    image.add(job.gpu, found, code);
                }
                Report::Refused(why) => findings.push(format!("{name}, sm_{}: {why}", job.gpu)),
                Report::UnknownGpu => left_out.push(format!("sm_{}", job.gpu)),
            }
        }
        for (gpu, usage) in &usages {
            findings.extend(look_at_usage(name, *gpu, module, usage));
        }
        say(&format!("{name} (sm_{})\n{}\n", module.target, show(module, &usages)));
    }
    if args.bless {
        fail_if_any(&findings)?;
    }
    let not_compared = compare(now, &before, args.bless, &mut findings)?;
    fail_if_any(&findings)?;
    Ok(if let Some(why) = not_compared {
        Outcome::Skipped(why)
    } else if left_out.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Skipped(format!("{} is too old for {}", ptxas.display(), left_out.join(", ")))
    })
}

fn fail_if_any(findings: &[String]) -> Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    bail!("{} findings in the PTX:\n  {}", findings.len(), findings.join("\n  "));
}

/// Compares the machine code with that `before`, or replaces the table to `bless` it. If it was not
/// compared, returns the reason.
fn compare(
    now: MachineCode,
    before: &MachineCode,
    bless: bool,
    findings: &mut Vec<String>,
) -> Result<Option<String>> {
    if now.image.values().any(|image| image.kernel.is_empty()) {
        return Ok(Some("no nvdisasm next to ptxas, so the machine code was not compared".into()));
    }
    if bless {
        fs::write(root().join(MACHINE_CODE), now.to_string())?;
        return Ok(None);
    }
    if before.ptxas != now.ptxas {
        return Ok(Some(format!(
            "the machine code was not compared: {MACHINE_CODE} is of ptxas {}, this is {}",
            before.ptxas, now.ptxas
        )));
    }
    findings.extend(now.worse_than(before));
    Ok(None)
}

/// An image.
struct Audited {
    module: Module,
    hash: String,
    /// Its text, in files that are assembled separately.
    paths: Vec<PathBuf>,
    /// The GPUs that run it.
    gpus: Vec<u32>,
}

/// The findings that do not need the assembler.
fn look_at_ptx(name: &str, module: &Module, expected: &Expected) -> Vec<String> {
    let is_known =
        |name: &str| SYSTEM_CALLS.contains(&name) || name.starts_with(ptx_image::DEVICE_RUNTIME);
    let undefined = module.externs.iter().filter(|function| !is_known(function));
    let mut findings: Vec<String> = undefined
        .map(|function| format!("{name}: function {function} is called and defined nowhere"))
        .collect();
    for function in &module.functions_with_barriers {
        findings.push(format!(
            "{name}: a block barrier stands in {function}, which is not a kernel: inline it, so that it is counted where it runs"
        ));
    }
    findings.extend(expected.differences(name, module));
    findings
}

/// A GPU, and a prefix of kernels that it cannot run. Their spills on it do not matter.
// They need 192 KiB of shared memory per block, and these GPUs have 99 KiB (CUDA C++ Programming
// Guide, "Technical Specifications per Compute Capability").
const CANNOT_RUN: [(u32, &str); 2] = [(120, "scan_bulk_"), (120, "scan_spread_bulk_")];

/// Kernels that may use this many bytes of stack. The device runtime writes the handle of a stream
/// or an event, and the result of a query, through a pointer, which needs memory. Streams that a
/// kernel finds by a number must be in memory too.
const WITH_STACK: [(&str, u32); 12] = [
    ("dag_from_device_stream", 8),
    ("dag_from_device_streams", 72),
    ("device_launch_ask", 8),
    ("device_launch_ordered", 8),
    ("device_launch_two_streams", 8),
    ("device_launch_unordered", 8),
    // Where `libm::exp` stores a number to raise the flag of an underflow.
    ("reduce_log_sum_exp_f64", 8),
    ("reduce_long_rows_log_sum_exp_f64", 8),
    ("reduce_short_rows_log_sum_exp_f64", 8),
    ("scan_log_sum_exp_f64", 8),
    ("scan_spread_log_sum_exp_f64", 8),
    ("softmax_long_rows_f64", 8),
];

/// Kernels that may spill this many bytes, and use as much stack.
const WITH_SPILLS: [(&str, u32); 13] = [
    // Rows of 17 to 32 keys, and of floats also rows with a −0 or a NaN, so that six blocks are
    // resident.
    ("sort_short_rows_float_", 388),
    ("sort_short_rows_int_", 256),
    // A thread holds 40 keys. Three blocks with a few spills are faster than two without
    // (`kernels/src/grid/sort/tile.rs`).
    ("sort_", 96),
    // Addresses that are needed again only after the loop over the elements, and in it for elements
    // of 2 bytes, so that two blocks are resident.
    ("histogram_even_", 112),
    // On compute capability 8.0 only, where chunks are read again.
    ("rank_collect_int_8", 44),
    // Two blocks are resident. The cost of these spills was not measured.
    ("scan_spread_prod_mod_i32", 20),
    // So that five blocks are resident, or four for results of 8 bytes: for sums of f32, faster than
    // one block less without spills. The others were not measured.
    ("reduce_segments_", 76),
    // For sums of f32 four blocks with spills are faster than three without.
    ("scan_segments_", 108),
    // So that the block of a row has 32 warps. The cost was not measured.
    ("softmax_middle_rows_f64", 72),
    // For f32 six blocks with spills are faster than four without. The others were not measured.
    ("softmax_short_rows_", 160),
    // A pack of eight accumulators of three words each, for rows of f16 and bf16.
    ("reduce_short_rows_log_sum_exp_", 664),
    ("reduce_long_rows_log_sum_exp_", 216),
    // Packs of eight elements of each array. The cost was not measured.
    ("reduce_dot_", 128),
];

/// Parts of mangled names of functions that the compiler does not inline, and as much.
const NOT_INLINED: [(&str, u32); 1] = [
    // The run of a long row of f16 or bf16, in one of three ways to load it.
    ("16reduce_long_rowsINtNtNtBc_2op11log_sum_exp9LogSumExp", 276),
];

/// Findings in the assembler's report.
fn look_at_usage(
    name: &str,
    gpu: u32,
    module: &Module,
    usage: &BTreeMap<String, Usage>,
) -> Vec<String> {
    let mut findings = Vec::new();
    for kernel in module.kernels.keys().filter(|kernel| !usage.contains_key(*kernel)) {
        findings.push(format!("{name}, sm_{gpu}: ptxas reports nothing on {kernel}"));
    }
    let runs = |function: &str| {
        let cannot = |(on, begins): &(u32, &str)| *on == gpu && function.starts_with(begins);
        !CANNOT_RUN.iter().any(cannot)
    };
    for (function, usage) in usage.iter().filter(|(function, _)| runs(function)) {
        let spilling = WITH_SPILLS.iter().find(|(begins, _)| function.starts_with(begins));
        let is_of_pack = |(part, _): &&(&str, u32)| function.contains(part);
        let spilling = spilling.or_else(|| NOT_INLINED.iter().find(is_of_pack));
        let may_spill = spilling.map_or(0, |(_, bytes)| *bytes);
        if usage.spills > may_spill {
            findings.push(format!(
                "{name}, sm_{gpu}, {function}: {} bytes of registers spilled",
                usage.spills
            ));
        }
        let allowed = WITH_STACK.iter().find(|(kernel, _)| kernel == function);
        if usage.stack > allowed.map_or(may_spill, |(_, bytes)| *bytes) {
            findings.push(format!(
                "{name}, sm_{gpu}, {function}: {} bytes of stack, which is local memory",
                usage.stack
            ));
        }
    }
    findings
}

/// One row per kernel: its registers on each GPU, and the maximum of each other number.
fn show(module: &Module, usages: &BTreeMap<u32, BTreeMap<String, Usage>>) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    let mut head = vec!["kernel".to_owned(), "bar.sync".into()];
    head.extend(usages.keys().map(|gpu| format!("regs sm_{gpu}")));
    if !usages.is_empty() {
        head.extend(["barriers", "shared", "stack", "spills"].map(str::to_owned));
    }
    let columns = head.len();
    table.set_header(head);
    for (kernel, barriers) in &module.kernels {
        let mut row = vec![kernel.clone(), barriers.to_string()];
        let found: Vec<Option<&Usage>> = usages.values().map(|usage| usage.get(kernel)).collect();
        row.extend(
            found.iter().map(|usage| usage.map_or("?".into(), |usage| usage.registers.to_string())),
        );
        if !usages.is_empty() {
            let worst = |of: fn(&Usage) -> u32| found.iter().flatten().map(|usage| of(usage)).max();
            let worst = [
                worst(|usage| usage.barriers),
                worst(|usage| usage.shared),
                worst(|usage| usage.stack),
                worst(|usage| usage.spills),
            ];
            row.extend(worst.map(|number| number.map_or("?".into(), |number| number.to_string())));
        }
        table.add_row(row);
    }
    for column in table.column_iter_mut().take(columns).skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::TARGETS;
    use gridsync::device::KERNELS;
    use ptx_image::Modules;
    use std::io::{self, Write};

    const PTX: &str = "\
.version 8.0
.target sm_90
.extern .func (.param .b32 r) vprintf;
.extern .func cudaNobodyHasThis;
.func helper()
{
	bar.sync 0;
}
.visible .entry wait(
)
{
	bar.sync 0;
	ret;
}
";

    fn usage(stack: u32, spills: u32) -> BTreeMap<String, Usage> {
        let usage = Usage { stack, spills, ..Usage::default() };
        BTreeMap::from([("wait".to_owned(), usage)])
    }

    #[test]
    fn errors_in_the_ptx_are_found_by_name() {
        let module = Module::parse(PTX).unwrap();
        let expected = Expected::of([("m", &module)].into_iter());
        let findings = look_at_ptx("m", &module, &expected);
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(
            findings[0].contains("cudaNobodyHasThis") && findings[1].contains("helper"),
            "{findings:?}"
        );
    }

    #[test]
    fn functions_of_the_device_runtime_are_not_missing() {
        let calls = PTX.replace("vprintf", "__cudaCDP2LaunchDeviceV2");
        let module = Module::parse(&calls).unwrap();
        let expected = Expected::of([("m", &module)].into_iter());
        let findings = look_at_ptx("m", &module, &expected).join("\n");
        assert!(!findings.contains("__cudaCDP2"), "{findings}");
    }

    #[test]
    fn spills_stack_and_missing_reports_are_found() {
        let module = Module::parse(PTX).unwrap();
        let look =
            |usage: &BTreeMap<String, Usage>| look_at_usage("m", 90, &module, usage).join("\n");
        assert_eq!(look(&usage(0, 0)), "");
        assert!(look(&usage(16, 0)).contains("16 bytes of stack"));
        assert!(look(&usage(0, 8)).contains("8 bytes of registers spilled"));
        assert!(look(&BTreeMap::new()).contains("nothing on wait"));
        let sort =
            |spills| BTreeMap::from([("sort_int_32".into(), usage(8, spills)["wait"].clone())]);
        let on_90 = |spills| look_at_usage("m", 90, &module, &sort(spills)).join("\n");
        assert!(!on_90(96).contains("sort_int_32"));
        assert!(on_90(97).contains("sort_int_32: 97 bytes of registers spilled"));
        let bulk = BTreeMap::from([("scan_bulk_sum_f64".to_owned(), usage(8, 8)["wait"].clone())]);
        let on = |gpu| look_at_usage("m", gpu, &module, &bulk).join("\n");
        assert!(on(100).contains("scan_bulk_sum_f64: 8 bytes of stack"));
        let launches = |stack| {
            let usage = usage(stack, 0)["wait"].clone();
            let usage = BTreeMap::from([("device_launch_two_streams".to_owned(), usage)]);
            look_at_usage("m", 90, &module, &usage).join("\n")
        };
        assert!(!launches(8).contains("stack") && launches(16).contains("16 bytes of stack"));
        assert!(!on(120).contains("scan_bulk_sum_f64"));
    }

    #[test]
    fn the_table_has_a_row_per_kernel_and_a_column_per_gpu() {
        let module = Module::parse(PTX).unwrap();
        let usage = usage(0, 0);
        let text = show(&module, &BTreeMap::from([(90, usage.clone()), (120, usage)])).to_string();
        assert!(
            text.contains("regs sm_90") && text.contains("regs sm_120") && text.contains("wait"),
            "{text}"
        );
        assert!(!show(&module, &BTreeMap::new()).to_string().contains("spills"));
    }

    /// The driver gets one kernel and the text outside of kernels. Every sixteenth kernel is
    /// tested.
    #[test]
    fn a_kernel_assembles_alone_with_only_its_own_shared_memory() {
        let Some(ptxas) = ptxas::find() else {
            // The test harness would hide eprintln! of a test that passes.
            writeln!(io::stderr(), "SKIPPED: {}", ptxas::HOW_TO_GET).unwrap();
            return;
        };
        let dir = tempfile::tempdir().unwrap();
        let mut alone = Vec::new();
        for arch in TARGETS {
            let gpu = arch.capability();
            let modules = Modules::of(&KERNELS, gpu).unwrap();
            for kernel in modules.kernels().step_by(16) {
                let path = dir.path().join(format!("{kernel}_compute_{gpu}.ptx"));
                let module = modules.module(kernel).unwrap().unwrap();
                fs::write(&path, &module.text).unwrap();
                let entry = modules.entry(kernel).unwrap().unwrap();
                let shares = entry.contains("shared_gridsync_");
                alone.push((kernel.to_owned(), path, gpu, shares));
            }
        }
        let jobs: Vec<_> =
            alone.iter().map(|(_, ptx, gpu, _)| Job { ptx, gpu: *gpu, with_code: false }).collect();
        let reports = ptxas::run_all(&ptxas, &jobs).unwrap();
        for ((kernel, path, _, shares), report) in alone.iter().zip(reports) {
            let Report::Assembled { usages: usage, .. } = report else {
                panic!("{}: {report:?}", path.display())
            };
            let inlined = |name: &&String| NOT_INLINED.iter().all(|(part, _)| !name.contains(part));
            assert_eq!(usage.keys().filter(inlined).collect::<Vec<_>>(), [kernel]);
            assert_eq!(usage[kernel].shared > 0, *shares, "{}", path.display());
        }
    }
}
