//! Modules of every kind are parsed, and texts that are not modules are refused with a line.

mod bodies;
mod compilers;
mod damaged;
mod decoded;
mod errors;
mod modules;
mod nvcc;
mod shipped;

use ptx::{Body, Module, parse};

/// Modules in the manner of four compilers.
const SAMPLES: [(&str, &str); 4] = [
    ("nvcc -O3", include_str!("../samples/nvcc_o3.ptx")),
    ("nvcc -G", include_str!("../samples/nvcc_g.ptx")),
    ("Triton", include_str!("../samples/triton.ptx")),
    ("numba", include_str!("../samples/numba.ptx")),
];

/// A module of these declarations.
fn module(declarations: &str) -> String {
    format!(".version 8.0\n.target sm_90\n.address_size 64\n{declarations}\n")
}

/// The module of these declarations, parsed. The first is in line 4.
fn parsed(declarations: &str) -> Module {
    parse(&module(declarations)).unwrap_or_else(|error| panic!("{declarations}\n{error}"))
}

/// The body of a kernel with these statements. The first is in line 6.
fn body(statements: &str) -> Body {
    let module = parsed(&format!(".entry k(.param .u64 param)\n{{\n{statements}\n}}"));
    module.functions.into_iter().next().and_then(|kernel| kernel.body).expect("a body")
}

/// The message of the error about these declarations.
fn refused(declarations: &str) -> String {
    match parse(&module(declarations)) {
        Ok(_) => panic!("parsed: {declarations}"),
        Err(error) => error.to_string(),
    }
}
