//! Products of matrices in the registers of a warp, and their loads and stores.
//!
//! A register has adjacent elements of one row or column. Lane 4 g + t has elements t of row or column
//! g (PTX ISA, "Matrix Fragments for mma.m16n8k16" and others).

use ptx::Type;
use ptx::decode::Rounding;
use simt::WarpValues;

use super::Thread;
use crate::arithmetic::round::Format;
use crate::arithmetic::{lane, low_bits};
use crate::code::{Instruction, MovingMatrices, Multiplying, Slot};

/// All lanes take part.
const ALL: u32 = u32::MAX;

impl Thread<'_> {
    /// `mma.sync`: the sum of the products of rows of `a` with columns of `b`, and of `c`. GPUs add in
    /// another order, and cut bits. Here they are added in f64 and rounded once.
    pub(super) fn multiply(&mut self, it: &Multiplying, instruction: &Instruction) {
        let a = simt::warp_exchange(ALL, "mma.sync", self.fragment(&it.a, instruction));
        let b = simt::warp_exchange(ALL, "mma.sync", self.fragment(&it.b, instruction));
        let (group, part) = (self.position.lane() / 4, self.position.lane() % 4);
        let single = Format::of(Type::F32).expect("a format");
        for (index, (&to, &c)) in it.to.iter().zip(&it.c).enumerate() {
            let (half, column) = (index as u32 / 2, part * 2 + index as u32 % 2);
            let mut sum = single.value(low_bits(self.used(c, 4, instruction, "added"), 32));
            for k in 0..it.depth {
                // The upper eight rows have every second register.
                sum += it.element(&a, group, k, half, 2) * it.element(&b, column, k, 0, 1);
            }
            self.write(to, single.round(sum, Rounding::Nearest), 0);
        }
    }

    /// Up to four registers as one number.
    fn fragment(&self, slots: &[Slot], instruction: &Instruction) -> u128 {
        let values = slots.iter().map(|&slot| self.used(slot, 4, instruction, "multiplied"));
        values.rev().fold(0, |all, value| all << 32 | u128::from(value as u32))
    }

    /// `ldmatrix` or `stmatrix`. Lane 8 m + r has the address of row r of matrix m.
    pub(super) fn move_matrices(&mut self, it: &MovingMatrices, instruction: &Instruction) {
        let kind = if it.loads { "ldmatrix.sync" } else { "stmatrix.sync" };
        let (base, undefined) = self.register(it.address.base);
        let address = base.wrapping_add_signed(it.address.offset);
        let given = u128::from(address) | u128::from(undefined) << 64;
        let rows = simt::warp_exchange(ALL, kind, given);
        let (group, part) = (self.position.lane() / 4, self.position.lane() % 4);
        let (bytes, elements) = (it.access.ty.bytes(), 4 / it.access.ty.bytes());
        for (matrix, &slot) in it.slots.iter().enumerate() {
            let mut value = if it.loads { 0 } else { self.used(slot, 4, instruction, "stored") };
            for element in 0..elements {
                // Transposed, a register has two rows of one column.
                let (row, at) =
                    if elements == 2 { (part * 2 + element, group * 2) } else { (group, part * 4) };
                let given = rows.values[matrix * 8 + row as usize];
                let row = given as u64;
                if given >> 64 != 0 || !row.is_multiple_of(16) {
                    let message =
                        format!("a row at {row:#x}: not written, or not at a multiple of 16");
                    self.trap(instruction, &message);
                }
                let (address, shift) = (row.wrapping_add(at.into()), element * 16);
                if it.loads {
                    value |= self.read_one(&it.access, address, instruction) << shift;
                } else {
                    let part = lane(value, element, bytes * 8);
                    self.write_one(&it.access, address, part, instruction);
                }
            }
            if it.loads {
                self.write(slot, value, 0);
            }
        }
    }
}

impl Multiplying {
    /// Element `k` of a row or column, whose register is at `first` and then at every `step`-th one.
    fn element(&self, of: &WarpValues, line: u32, k: u32, first: u32, step: u32) -> f64 {
        let bits = self.ty.bytes() * 8;
        // A register has one or two elements, and four lanes share a line.
        let (elements, shared) = (32 / bits, 4 * (32 / bits));
        let from = line * 4 + k % shared / elements;
        let register = first + step * (k / shared);
        let word = (of.values[from as usize] >> (32 * register)) as u32;
        match self.ty {
            // The lowest bits are ignored.
            Type::Tf32 => f32::from_bits(word & !0x1fff).into(),
            ty => Format::of(ty).expect("halves").value(lane(word.into(), k % elements, bits)),
        }
    }
}
