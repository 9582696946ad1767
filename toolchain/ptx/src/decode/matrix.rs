//! Matrices in the registers of a warp.

use super::memory::{AddressSpace, SPACES};
use super::operation::Operation;
use super::words::Words;
use crate::variable::Type;

/// `mma`: a product of 16 rows and 8 columns, with sums in f32.
pub(super) fn product(words: &mut Words<'_>) -> Option<Operation> {
    let depth = words.choose(&[("m16n8k4", 4), ("m16n8k8", 8), ("m16n8k16", 16)])?;
    let placed = ["sync", "aligned", "row", "col"].iter().all(|word| words.take(word));
    let types = [words.ty()?, words.ty()?, words.ty()?, words.ty()?];
    let [Type::F32, ty, second, Type::F32] = types else { return None };
    let exists = match ty {
        Type::F16 | Type::Bf16 => depth > 4,
        Type::Tf32 => depth < 16,
        _ => false,
    };
    (placed && exists && ty == second).then_some(Operation::MatrixProduct { ty, depth })
}

/// `ldmatrix` or `stmatrix`, of matrices with 8 rows of 16 bytes.
pub(super) fn access(opcode: &str, words: &mut Words<'_>) -> Option<Operation> {
    let placed = ["sync", "aligned", "m8n8", "b16"].iter().all(|word| words.take(word));
    let count = words.choose(&[("x1", 1), ("x2", 2), ("x4", 4)])?;
    let transposes = words.take("trans");
    let space = words.choose(&SPACES).unwrap_or(AddressSpace::Generic);
    let loads = opcode == "ldmatrix";
    placed.then_some(Operation::MatrixAccess { loads, count, transposes, space })
}
