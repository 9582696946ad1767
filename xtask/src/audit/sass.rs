//! Counts the instructions and the loads in flight of each kernel in nvdisasm's listing.

use std::collections::{BTreeMap, BTreeSet};

/// The machine code of a kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Code {
    /// Instructions, including the padding at the end.
    pub(super) instructions: u32,
    /// The most loads of 16 bytes from device memory that are in flight together.
    pub(super) loads: u32,
}

/// Parses the output of `nvdisasm -c`: the code of each kernel.
pub(super) fn read(listing: &str) -> BTreeMap<String, Code> {
    let mut kernels = BTreeMap::new();
    let mut current: Option<(String, Reader)> = None;
    for line in listing.lines() {
        if let Some(name) = line.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
            kernels.extend(current.replace((name.to_owned(), Reader::default())));
        } else if let Some((_, reader)) = &mut current {
            reader.line(line);
        }
    }
    kernels.extend(current);
    kernels.into_iter().map(|(name, reader)| (name, reader.code)).collect()
}

/// Counts the loads that are issued before the first use of any of their results.
///
/// A label that other code jumps to ends the count, and so does a block barrier. A branch does not:
/// if it is not taken, the loads before it are still in flight.
#[derive(Default)]
struct Reader {
    code: Code,
    in_flight: u32,
    /// The registers that the loads in flight will write.
    pending: BTreeSet<u32>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if line.starts_with('.') {
            return self.wait();
        }
        let Some((opcode, operands)) = instruction(line) else { return };
        self.code.instructions += 1;
        let sources = operands.split_once(',').map_or("", |(_, sources)| sources);
        if opcode.starts_with("BAR") || registers(sources).any(|r| self.pending.contains(&r)) {
            self.wait();
        }
        if opcode.starts_with("LDG") && opcode.contains(".128") {
            if let Some(first) = registers(operands).next() {
                self.pending.extend(first..first + 4);
            }
            self.in_flight += 1;
            self.code.loads = self.code.loads.max(self.in_flight);
        }
    }

    fn wait(&mut self) {
        self.in_flight = 0;
        self.pending.clear();
    }
}

/// The opcode and the operands in `    /*0080*/    @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;`.
fn instruction(line: &str) -> Option<(&str, &str)> {
    let (address, rest) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    u32::from_str_radix(address, 16).ok()?;
    let mut text = rest.trim().trim_end_matches(';').trim_end();
    if text.starts_with('@') {
        text = text.split_once(' ')?.1.trim_start();
    }
    if text.is_empty() {
        return None;
    }
    Some(text.split_once(' ').unwrap_or((text, "")))
}

/// The numbers of the registers in operands: 2 and 3 of `R2.64, R3, UR4`.
fn registers(operands: &str) -> impl Iterator<Item = u32> {
    let words = operands.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|word| word.strip_prefix('R')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of a kernel with these instructions and labels.
    fn code(lines: &[&str]) -> Code {
        let mut listing = ".text.k:\n".to_owned();
        for (at, line) in lines.iter().enumerate() {
            if line.starts_with('.') {
                listing += &format!("{line}\n");
            } else {
                listing += &format!("        /*{:04x}*/                   {line} ;\n", 16 * at);
            }
        }
        read(&listing)["k"]
    }

    const LOADS: [&str; 2] =
        ["LDG.E.NA.128.CONSTANT R4, desc[UR4][R2.64]", "@!P0 LDG.E.128 R8, desc[UR4][R2.64+0x200]"];

    #[test]
    fn loads_without_a_use_between_them_are_in_flight_together() {
        let [first, second] = LOADS;
        assert_eq!(code(&[first, second, "FADD R4, R4, R8", "EXIT"]).loads, 2);
        assert_eq!(code(&[first, "FADD R0, R7, R1", second, "EXIT"]).loads, 1);
        assert_eq!(code(&[first, "FADD R0, R1, R2", second, "EXIT"]).loads, 2);
        let waits_for_its_address = "LDG.E.128 R8, desc[UR4][R4.64]";
        assert_eq!(code(&[first, waits_for_its_address]).loads, 1);
    }

    #[test]
    fn barriers_and_labels_end_the_count_but_branches_do_not() {
        let [first, second] = LOADS;
        assert_eq!(code(&[first, "BAR.SYNC.DEFER_BLOCKING 0x0", second]).loads, 1);
        assert_eq!(code(&[first, ".L_x_1:", second]).loads, 1);
        assert_eq!(code(&[first, "@!P3 BRA `(.L_x_5)", second]).loads, 2);
    }

    #[test]
    fn each_kernel_has_its_own_instructions() {
        let listing = "\
\t.headerflags\t@\"EF_CUDA_SM90\"
.text.a:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   LDG.E.64 R2, desc[UR4][R2.64] ;
.L_x_0:
        /*0020*/                   BRA `(.L_x_0);
.text.b:
        /*0000*/              @!PT EXIT ;
";
        let found = read(listing);
        assert_eq!(found["a"], Code { instructions: 3, loads: 0 });
        assert_eq!(found["b"], Code { instructions: 1, loads: 0 });
    }
}
