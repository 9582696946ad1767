//! The same probes as machine code, if NVIDIA's assembler and disassembler are installed.

use crate::probes::{self, ACCURATE, Probes};
use crate::skipped;
use cuda_builder::Arch;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first ptxas with an nvdisasm in the same folder, from `PTXAS`, the venv or toolkit in
/// `GRIDSYNC_CUDA_TOOLS`, the workspace's `target/cuda-tools`, `PATH`, `CUDA_HOME`, `CUDA_PATH`.
fn find() -> Option<(PathBuf, PathBuf)> {
    let variable = |name| env::var_os(name).map(PathBuf::from);
    let mut candidates: Vec<PathBuf> = variable("PTXAS").into_iter().collect();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/cuda-tools");
    for tools in variable("GRIDSYNC_CUDA_TOOLS").into_iter().chain([own]) {
        candidates.push(tools.join("bin/ptxas"));
        // A Python wheel installs it in lib/python3.X/site-packages/nvidia/cu13/bin.
        for python in folders(&tools.join("lib")) {
            let wheels = folders(&python.join("site-packages/nvidia"));
            candidates.extend(wheels.iter().map(|wheel| wheel.join("bin/ptxas")));
        }
    }
    let path = env::var_os("PATH").unwrap_or_default();
    candidates.extend(env::split_paths(&path).map(|dir| dir.join("ptxas")));
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable);
    candidates.extend(homes.map(|home| home.join("bin/ptxas")));
    let pairs =
        candidates.into_iter().map(|ptxas| (ptxas.clone(), ptxas.with_file_name("nvdisasm")));
    let mut complete = pairs.filter(|(ptxas, nvdisasm)| ptxas.is_file() && nvdisasm.is_file());
    complete.next()
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The output of a tool. If the tool fails, so does the test.
fn run(command: &mut Command) -> String {
    let output = command.output().expect("the tool was found just now");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Calls `check` with each kernel's opcodes, such as `LDG.E.128`, for each architecture.
fn for_each_arch(check: impl Fn(&Probes, &BTreeMap<String, Vec<String>>)) {
    let all = probes::all();
    if all.is_empty() {
        return;
    }
    let Some((ptxas, nvdisasm)) = find() else {
        skipped("no ptxas with an nvdisasm next to it, so the machine code was not looked at");
        return;
    };
    for probes in all {
        // Tests run in parallel, so each assembles into its own file.
        let dir = tempfile::tempdir().expect("a temporary folder");
        let cubin = dir.path().join("probes.cubin");
        let gpu = format!("-arch=sm_{}", probes.arch);
        run(Command::new(&ptxas).arg(gpu).arg("-o").arg(&cubin).arg(&probes.built.ptx));
        let sass = run(Command::new(&nvdisasm).arg("-c").arg(&cubin));
        check(probes, &opcodes(&sass));
    }
}

/// The opcodes of each kernel in the output of nvdisasm.
fn opcodes(sass: &str) -> BTreeMap<String, Vec<String>> {
    let mut kernels = BTreeMap::new();
    for section in sass.split("\n.text.").skip(1) {
        let (name, body) = section.split_once(':').unwrap_or_default();
        let instructions = body.split("//----").next().unwrap_or_default().lines();
        let opcodes = instructions.filter_map(|line| {
            let (_, text) = line.split_once("*/")?;
            let mut words = text.split_whitespace().skip_while(|word| word.starts_with('@'));
            Some(words.next()?.trim_end_matches(';').to_owned())
        });
        kernels.insert(name.to_owned(), opcodes.collect());
    }
    kernels
}

#[test]
fn no_access_is_generic() {
    for_each_arch(|probes, kernels| {
        assert_eq!(kernels.len(), probes.built.kernels.len());
        // Some functions of `libm` have a stack frame, which generic addresses access.
        let may_be = |kernel: &str| kernel.starts_with(ACCURATE) || kernel.starts_with(IN_CLUSTER);
        for (kernel, opcodes) in kernels.iter().filter(|(kernel, _)| !may_be(kernel)) {
            let generic = opcodes.iter().find(|opcode| is_generic(opcode));
            assert_eq!(generic, None, "in {kernel} on sm_{}", probes.arch);
        }
    });
}

/// The prefix of probes that access the shared memory of other blocks.
const IN_CLUSTER: &str = "cluster_shared_";

fn is_generic(opcode: &str) -> bool {
    let root = opcode.split('.').next().unwrap_or_default();
    ["LD", "ST", "ATOM"].contains(&root)
}

/// The machine has no separate instructions for it. The address distinguishes it from the block's
/// own shared memory and from device memory.
#[test]
fn shared_memory_of_another_block_uses_generic_accesses() {
    for_each_arch(|probes, kernels| {
        let of_cluster = kernels.iter().filter(|(kernel, _)| kernel.starts_with(IN_CLUSTER));
        let mut found = 0;
        for (kernel, opcodes) in of_cluster {
            assert!(opcodes.iter().any(|opcode| is_generic(opcode)), "{kernel}: {opcodes:?}");
            found += 1;
        }
        assert_eq!(found > 0, probes.arch >= Arch::Compute90, "{found} on sm_{}", probes.arch);
    });
}

#[test]
fn shared_memory_uses_lds_sts_and_atoms() {
    for_each_arch(|probes, kernels| {
        for kernel in ["static_shared", "copy_shared_u16", "copy_shared_f32", "copy_shared_u64"] {
            for root in ["STS", "LDS"] {
                let found = kernels[kernel].iter().filter(|opcode| opcode.starts_with(root));
                assert_eq!(found.count(), 1, "{root} in {kernel} on sm_{}", probes.arch);
            }
        }
        let atomics = &kernels["atomics_shared_u32"];
        assert!(atomics.iter().any(|opcode| opcode.starts_with("ATOMS")), "{atomics:?}");
        assert!(!atomics.iter().any(|opcode| opcode.starts_with("ATOMG")), "{atomics:?}");
    });
}

#[test]
fn a_pack_is_one_access_of_128_bits() {
    for_each_arch(|probes, kernels| {
        for hint in ["default", "l2_only", "streaming", "read_only"] {
            let kernel = format!("copy_pack_{hint}");
            for root in ["LDG", "STG"] {
                let found: Vec<_> =
                    kernels[&kernel].iter().filter(|opcode| opcode.starts_with(root)).collect();
                assert_eq!(found.len(), 1, "{root} in {kernel} on sm_{}", probes.arch);
                assert!(found[0].contains(".128"), "{found:?} in {kernel}");
            }
        }
        let wide = |root: &str| {
            let opcodes = kernels["pack_shared"].iter();
            opcodes.filter(|opcode| opcode.starts_with(root) && opcode.contains(".128")).count()
        };
        assert_eq!((wide("LDS"), wide("STS")), (4, 4), "on sm_{}", probes.arch);
    });
}

#[test]
fn the_assembler_does_not_duplicate_barriers() {
    for_each_arch(|probes, kernels| {
        for kernel in [
            "barrier_between_equal_branches",
            "barrier_after_divergent_branch",
            "barrier_after_early_loop",
        ] {
            let found = kernels[kernel].iter().filter(|opcode| opcode.starts_with("BAR."));
            assert_eq!(found.count(), 1, "in {kernel} on sm_{}", probes.arch);
        }
    });
}
