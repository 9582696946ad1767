//! A packed kernel comes back, from any image that has it. A damaged image is refused.

mod damaged;
mod packed;
mod several;
mod text;

use ptx_image::{Modules, PtxImage};
use std::fmt::Write as _;

/// PTX for a target as a compiler would write it, with kernels by name and body.
fn ptx(target: u32, kernels: &[(&str, &str)]) -> String {
    let mut text = format!(
        "// some kernels\n// by hand\n\n.version 8.0\n.target sm_{target}\n\n.shared .b8 tile[16];\n"
    );
    for (name, body) in kernels {
        let entry =
            format!(".visible .entry {name}(\n\t.param .b64 {name}_param_0\n)\n{{\n{body}}}");
        write!(text, "\n\t// .globl\t{name}\n{entry}\n").expect("a string takes everything");
    }
    text
}

const PRELUDE_90: &str = ".version 8.0\n.target sm_90\n.shared .b8 tile[16];\n";

/// A kernel after unpacking.
fn entry(name: &str, body: &str) -> String {
    format!(".visible .entry {name}(\n\t.param .b64 {name}_param_0\n)\n{{\n{body}}}\n")
}

const ADD: &str = "\tld.param.b64 \t%rd1, [NAME_param_0];\n\tadd.s64 \t%rd2, %rd1, 8;\n\tret;\n";
const LOOP: &str = "$L1:\n\tsetp.eq.u32 \t%p1, %tid.x, 3;\n\t@%p1 bra \t$L1;\n\tret;\n";

fn add(name: &str) -> String {
    ADD.replace("NAME", name)
}

/// The module of a kernel that must be there.
fn module(modules: &Modules<'_>, kernel: &str) -> (u32, String) {
    let module = modules.module(kernel).expect("whole").expect("there");
    (module.compute, module.text)
}

fn of<'a>(images: &[PtxImage<'a>], compute: u32) -> Modules<'a> {
    Modules::of(images, compute).expect("whole images")
}
