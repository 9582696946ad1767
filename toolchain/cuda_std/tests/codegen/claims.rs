//! The claims, and tests that the probes meet them.

mod atomic;

use crate::probes::{self, ACCURATE, Probes};
use crate::ptx::{bodies, effects, parameters};
use cuda_builder::Arch;
use std::collections::BTreeMap;

/// The claims as text: a kernel's name at the start of a line, optionally with the one architecture
/// that the claim applies to, then its effects as [`effects`] returns them. `#` begins a comment.
const THREAD: &str = include_str!("claims/thread.txt");
const WARP: &str = include_str!("claims/warp.txt");
const ACCESS: &str = include_str!("claims/access.txt");
const ATOMIC: &str = include_str!("claims/atomic.txt");
const SHARED: &str = include_str!("claims/shared.txt");
const CLUSTER: &str = include_str!("claims/cluster.txt");
const BULK: &str = include_str!("claims/bulk.txt");
const MATH: &str = include_str!("claims/math.txt");
const FLOW: &str = include_str!("claims/flow.txt");

/// The required effects of each kernel.
type Claims = BTreeMap<String, Vec<String>>;

/// Reads the claims in `text` that apply to `arch`.
fn read(text: &str, arch: &str) -> Claims {
    let mut claims = Claims::new();
    let mut kernel = None;
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if let Some(effect) = line.strip_prefix("    ") {
            if let Some(kernel) = &kernel {
                let claim: &mut Vec<String> = claims.entry(String::clone(kernel)).or_default();
                claim.push(effect.to_owned());
            }
        } else {
            let (name, only) = line.split_once(' ').unwrap_or((line, arch));
            kernel = (only == arch).then(|| name.to_owned());
            if let Some(kernel) = &kernel {
                let before = claims.insert(kernel.clone(), Vec::new());
                assert_eq!(before, None, "{kernel} has two claims for {arch}");
            }
        }
    }
    claims
}

/// Compares the effects of the probes with `claims`, and lists every kernel that differs.
fn check(probes: &Probes, claims: &Claims) {
    assert!(!claims.is_empty(), "no claims were read");
    let bodies = bodies(&probes.ptx);
    let mut broken = String::new();
    for (kernel, claimed) in claims {
        let Some(body) = bodies.get(kernel.as_str()) else {
            broken += &format!("\n{kernel}: no such probe\n");
            continue;
        };
        let found = effects(kernel, body);
        if found != *claimed {
            broken += &format!(
                "\n{kernel}\n  claimed:\n    {}\n  found:\n    {}\n",
                claimed.join("\n    "),
                found.join("\n    ")
            );
        }
    }
    assert!(broken.is_empty(), "on sm_{}:\n{broken}", probes.arch);
}

fn check_text(text: &str) {
    check_text_since(Arch::Compute75, text);
}

fn check_text_since(first: Arch, text: &str) {
    for probes in probes::all().iter().filter(|probes| probes.arch >= first) {
        check(probes, &read(text, &format!("sm_{}", probes.arch)));
    }
}

#[test]
fn positions_barriers_fences_and_clocks_compile_to_their_instructions() {
    check_text(THREAD);
}

#[test]
fn lane_exchanges_use_one_instruction_per_word_and_the_given_mask() {
    check_text(WARP);
}

#[test]
fn loads_and_stores_name_their_space_width_ordering_and_scope() {
    check_text(ACCESS);
}

#[test]
fn shared_arrays_use_shared_addresses() {
    check_text(SHARED);
}

#[test]
fn barriers_are_not_duplicated_and_spins_keep_their_load() {
    check_text(FLOW);
}

#[test]
fn exact_and_approximate_functions_compile_to_their_instructions() {
    check_text(MATH);
}

/// The emulator has the device's bits only under this condition. Without `.rn`, ptxas may fuse a
/// product and a sum into one `fma`, and an approximation has different bits.
#[test]
fn accurate_functions_round_all_arithmetic_to_nearest() {
    for probes in probes::all() {
        // Functions that kernels call are outside of the kernels, and are from `libm`.
        let accurate = probes.ptx.split_inclusive("\n}\n").filter(|part| {
            part.contains(&format!(".visible .entry {ACCURATE}")) || !part.contains(".entry")
        });
        let arithmetic = accurate.flat_map(str::lines).filter(|line| {
            let opcode = line.trim().split(char::is_whitespace).next().unwrap_or_default();
            let mut parts = opcode.split('.');
            let rounds = [
                "add", "sub", "mul", "mad", "fma", "div", "rcp", "sqrt", "rsqrt", "ex2", "lg2",
                "sin", "cos", "tanh",
            ];
            rounds.contains(&parts.next().unwrap_or_default())
                && parts.any(|part| ["f32", "f64"].contains(&part))
        });
        let (rounded, other): (Vec<_>, Vec<_>) = arithmetic.partition(|line| line.contains(".rn."));
        assert!(rounded.len() > 1000, "{} instructions", rounded.len());
        assert_eq!(other, [""; 0], "on sm_{}", probes.arch);
        let missing = probes.ptx.lines().find(|line| line.contains(".extern .func"));
        assert_eq!(missing, None, "on sm_{}: nobody defines it", probes.arch);
    }
}

#[test]
fn the_usual_functions_of_f32_have_no_stack_frame_and_little_f64() {
    for probes in probes::all() {
        let bodies = bodies(&probes.ptx);
        for function in ["exp", "exp2", "ln", "log2", "sin", "cos", "tan", "tanh"] {
            let kernel = format!("{ACCURATE}{function}_f32");
            let wide = bodies[kernel.as_str()].iter().filter(|line| line.contains(".f64"));
            assert_eq!(wide.count(), 0, "{kernel} on sm_{}", probes.arch);
            let (_, text) = probes.ptx.split_once(&format!(".entry {kernel}(")).expect("a probe");
            let text = text.split("\n}\n").next().unwrap_or_default();
            assert!(!text.contains(".local"), "{kernel} on sm_{}:\n{text}", probes.arch);
        }
    }
}

#[test]
fn cluster_positions_are_special_registers_and_its_barrier_is_two_instructions() {
    check_text_since(Arch::Compute90, CLUSTER);
}

#[test]
fn bulk_copies_and_their_barriers_compile_to_their_instructions() {
    check_text_since(Arch::Compute90, BULK);
}

#[test]
fn read_modify_write_keeps_its_ordering_scope_and_type() {
    check_text(ATOMIC);
    for probes in probes::all() {
        check(probes, &atomic::of_each_type());
        check(probes, &atomic::of_each_order_and_scope());
    }
}

#[test]
fn every_probe_has_exactly_one_claim() {
    for probes in probes::all() {
        let arch = format!("sm_{}", probes.arch);
        let texts = [THREAD, WARP, ACCESS, ATOMIC, SHARED, CLUSTER, BULK, MATH, FLOW]
            .map(|text| read(text, &arch));
        let made = [atomic::of_each_type(), atomic::of_each_order_and_scope()];
        let mut claimed: Vec<String> =
            texts.into_iter().chain(made).flat_map(Claims::into_keys).collect();
        claimed.sort();
        let mut built = probes.built.kernels.clone();
        built.retain(|name| !name.starts_with(ACCURATE));
        built.sort();
        assert_eq!(claimed, built, "on {arch}");
    }
}

#[test]
fn kernel_parameters_are_passed_by_value_and_the_entry_is_visible() {
    for Probes { built, ptx, .. } in probes::all() {
        assert!(built.kernels.iter().any(|name| name == "shuffle_up_u64"));
        let view = ".align 8 .b8[16]";
        assert_eq!(parameters(ptx, "shuffle_up_u64"), [view, ".u32", ".u64", ".u32"]);
        assert_eq!(parameters(ptx, "shuffle_down_f16"), [view, ".u32", ".u16", ".u32"]);
        assert_eq!(parameters(ptx, "sync_threads"), [""; 0]);
        assert!(ptx.contains(".visible .entry sync_threads()"));
    }
}

#[test]
fn shared_memory_is_declared_once_with_its_size_and_alignment() {
    for Probes { ptx, .. } in probes::all() {
        for declaration in [
            ".shared .align 16 .b8 shared_tens[40];",
            ".shared .align 16 .b8 shared_longs[512];",
            ".extern .shared .align 128 .b8 gridsync_dynamic_shared[];",
        ] {
            let found = ptx.lines().filter(|line| *line == declaration).count();
            assert_eq!(found, 1, "{declaration}");
        }
    }
}

#[test]
fn probes_compile_without_warnings() {
    for Probes { built, .. } in probes::all() {
        assert_eq!(built.warnings, [""; 0]);
    }
}
