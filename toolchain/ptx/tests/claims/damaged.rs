//! Damaged modules: an error with a line, or a module, and never a panic.

use ptx::decode::decode;
use ptx::{Module, Operand, parse};

use crate::SAMPLES;

/// The xorshift generator of Marsaglia, "Xorshift RNGs", 2003, with the triple 13, 7, 17.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// A range of at most `longest` bytes.
    fn range(&mut self, length: usize, longest: usize) -> std::ops::Range<usize> {
        let start = self.below(length);
        start..(start + 1 + self.below(longest)).min(length)
    }
}

/// Words and signs that mean something in many places.
const WORDS: [&str; 24] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<4000000000>",
    ";",
    ",",
    "|",
    "@",
    "!",
    ".reg .b32 %r<9>;",
    ".loc 1 2 3",
    "/*",
    "\"",
    ".func",
    ".entry",
    ".global .b8 x[9] = {1}",
    "0x",
    "-",
    "%r",
    "_",
    ":",
];

/// Changes a text in one to four places.
fn damage(text: &[u8], random: &mut Random) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..=random.below(4) {
        let (at, other) = (random.range(text.len(), 40), random.range(text.len(), 40));
        match random.below(7) {
            0 => {
                if let Some(byte) = text.get_mut(at.start) {
                    *byte ^= 1 << random.below(8);
                }
            }
            1 => drop(text.drain(at)),
            2 => {
                let copy = text[at].to_vec();
                text.splice(other.start..other.start, copy);
            }
            3 => text.truncate(at.end),
            4 => {
                let copy = text[other].to_vec();
                text.splice(at, copy);
            }
            _ => {
                let word = WORDS[random.below(WORDS.len())];
                let end = if random.below(2) == 0 { at.start } else { at.end };
                text.splice(at.start..end, word.bytes());
            }
        }
    }
    text
}

/// Uses all indices of a module: each must be in its table.
fn visit(module: &Module, text: &str) {
    for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
        for instruction in &body.instructions {
            let _decoded = decode(&instruction.mnemonic);
            assert!(instruction.text(text).contains(instruction.mnemonic.opcode()));
            if let Some(guard) = instruction.guard {
                assert!(!body.registers.name(guard.register).is_empty());
            }
            if let Some(location) = instruction.location {
                let _name = module.inlined_function(&body.locations[location as usize]);
            }
            for operand in &instruction.operands {
                match *operand {
                    Operand::Register(register) | Operand::Not(register) => {
                        assert!(!body.registers.name(register).is_empty());
                    }
                    Operand::Label(label) => {
                        assert!(body.labels[label.0 as usize].at <= body.instructions.len());
                    }
                    Operand::Targets(table) => assert!(!body.targets[table as usize].is_empty()),
                    Operand::Prototype(table) => assert!(body.prototypes.len() > table as usize),
                    _ => {}
                }
            }
        }
    }
}

/// Parses damaged samples, and checks that an error is one line at a place of the text.
fn survive(rounds: usize, seed: u64) {
    let mut random = Random(seed);
    let mut refused = 0;
    for round in 0..rounds {
        let (name, sample) = SAMPLES[round % SAMPLES.len()];
        let text = damage(sample.as_bytes(), &mut random);
        let text = String::from_utf8_lossy(&text);
        match parse(&text) {
            Ok(module) => visit(&module, &text),
            Err(error) => {
                refused += 1;
                let lines = text.split('\n').count() as u32;
                assert!((1..=lines).contains(&error.line), "{name}, round {round}: {error}");
                assert_eq!(error.to_string().lines().count(), 1, "{name}, round {round}");
            }
        }
    }
    assert!(refused > rounds / 4 && refused < rounds, "{refused} of {rounds}");
}

#[test]
fn twenty_thousand_damaged_modules_are_parsed_or_refused() {
    survive(20_000, 0x9e37_79b9_7f4a_7c15);
}

#[test]
#[ignore = "takes long; run it with --release"]
fn a_million_damaged_modules_are_parsed_or_refused() {
    survive(1_000_000, 0x2545_f491_4f6c_dd1d);
}
