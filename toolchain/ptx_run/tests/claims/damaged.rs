//! Damaged kernels run, or end with a fault that is not a panic of the interpreter.

use std::io::Write as _;
use std::path::Path;

use ptx_run::{Error, Program};
use simt::{Fault, LaunchConfig, Memory};

use crate::kernels::{block_sum, last_block};
use crate::support::filled;

/// Numbers from a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// A text with some of its words and signs replaced by others of it.
fn damaged(text: &str, random: &mut Random) -> String {
    let is_part = |c: char| c.is_alphanumeric() || "%_$".contains(c);
    let mut tokens: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if is_part(first) {
            rest.find(|c| !is_part(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        tokens.push(&rest[..length]);
        rest = &rest[length..];
    }
    for _ in 0..=random.below(3) {
        let (to, from) = (random.below(tokens.len()), random.below(tokens.len()));
        if is_part(tokens[to].chars().next().unwrap_or(' ')) {
            tokens[to] = tokens[from];
        }
    }
    tokens.concat()
}

/// Whether the first kernel of a text could be launched. Checks that it did not panic and that a
/// fault of the interpreter names a line.
fn runs(text: &str, races: bool) -> bool {
    let Ok(module) = ptx::parse(text) else { return false };
    let Some(name) = module.kernels().next().map(|kernel| kernel.name.clone()) else {
        return false;
    };
    let mut memory = Memory::new(1 << 20);
    let Ok(program) = Program::new(&module, &name) else { return false };
    let (a, b) = (filled(&mut memory, &[1; 4096]), filled(&mut memory, &[0; 4096]));
    let mut arguments = vec![0; program.argument_bytes()];
    for (index, &(at, bytes)) in program.parameters().iter().enumerate() {
        let word = [a, b, 64][if bytes < 8 { 2 } else { index % 2 }].to_le_bytes();
        let bytes = bytes.min(8);
        arguments[at..at + bytes].copy_from_slice(&word[..bytes]);
    }
    let Ok(kernel) = program.load(&mut memory) else { return false };
    let config = LaunchConfig {
        step_limit: 1000,
        races,
        // Without races, a launch gets further than to the first store without a barrier.
        zeroed: true,
        dynamic_shared: 16384,
        ..LaunchConfig::new("k", 1, 64)
    };
    match kernel.launch(&mut memory, &config, &arguments) {
        Err(Error::Fault(fault)) => {
            let message = fault.to_string();
            assert!(!matches!(*fault, Fault::Panicked { .. }), "{text}\n{message}");
            if matches!(*fault, Fault::Trap { .. }) {
                assert!(message.contains(", at ") && message.contains(':'), "{text}\n{message}");
            }
            true
        }
        result => result.is_ok(),
    }
}

/// Damages each kernel so many times. Returns how often one could be launched.
fn damage_all(seed: u64, times: usize) -> usize {
    let mut random = Random(seed);
    let mut launched = 0;
    for text in texts() {
        let count = (0..times).filter(|at| runs(&damaged(&text, &mut random), at % 4 == 0)).count();
        assert!(count > times / 10, "only {count} of {times} could be launched:\n{text}");
        launched += count;
    }
    launched
}

#[test]
fn damaged_kernels_do_not_panic() {
    for text in texts() {
        assert!(runs(&text, true) && runs(&text, false), "{text}");
    }
    damage_all(0x9e37_79b9_7f4a_7c15, 200);
}

/// The variables with the number of damaged kernels and with the seed.
const TIMES: &str = "DAMAGED_TIMES";
const SEED: &str = "DAMAGED_SEED";

/// The number in a variable, or the default.
fn number(variable: &str, default: u64) -> u64 {
    let Ok(text) = std::env::var(variable) else { return default };
    text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`, not a number"))
}

#[test]
#[ignore = "takes long; run it with --release"]
fn a_hundred_thousand_damaged_kernels_do_not_panic() {
    let times = (number(TIMES, 100_000) as usize).div_ceil(texts().len());
    let seed = 2 * number(SEED, 0) + 1;
    let launched = damage_all(seed.wrapping_mul(0x2545_f491_4f6c_dd1d), times);
    let all = times * texts().len();
    writeln!(std::io::stderr(), "{launched} of {all} damaged kernels could be launched")
        .expect("stderr is open");
}

/// Kernels with instructions of all groups, and those of compilers.
fn texts() -> Vec<String> {
    let more = "
        .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<5>; .reg .f32 %f<5>; .reg .f64 %d<5>;
        .reg .pred %p<4>; .local .align 8 .b8 own[16]; .shared .align 8 .b8 tile[64];
        ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; cvt.u16.u32 %h1, %r1; mov.b32 %r2, {%h1, %h1};
        mov.b64 {%r3, %r4}, %rd1; cvt.rn.f32.u32 %f1, %r1; cvt.f64.f32 %d1, %f1;
        fma.rn.f32 %f2, %f1, %f1, 0f3F800000; setp.lt.f32 %p1|%p2, %f2, %f1;
        bfi.b32 %r5, %r1, %r2, 3, 7; prmt.b32 %r6, %r1, %r2, 0x5410; shl.b32 %r7, %r1, 2;
        st.local.v2.b32 [own+8], {%r5, %r6}; ld.local.v2.u32 {%r3, %r4}, [own+8];
        mov.u64 %rd2, tile; cvta.shared.u64 %rd3, %rd2; st.u32 [%rd3+4], %r1;
        add.cc.u32 %r3, %r1, %r2; addc.u32 %r4, %r3, 0; atom.global.add.u32 %r2, [%rd1], %r4;
        list: .branchtargets A, B; and.b32 %r8, %r1, 1; brx.idx %r8, list;
        A: vote.sync.ballot.b32 %r8, %p1, -1;
        B: bar.warp.sync -1; bar.red.popc.u32 %r8, 0, %p2; selp.b32 %r8, %r1, %r2, %p1;
        cvt.rn.f16.f32 %h2, %f2; div.rn.f64 %d2, %d1, %d1; lop3.b32 %r8, %r1, %r2, %r3, 0xe8;
        mad.wide.s32 %rd4, %r1, 4, %rd1; st.global.v2.u32 [%rd1+8], {%r1, %r8};";
    let calls = "
        .func (.param .b32 r) f(.param .b32 x, .param .b64 y) {
            .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r2, %r1, 1; st.param.b32 [r], %r2; ret; }";
    let body = "
        .reg .b32 %r<9>; .reg .b64 %rd<3>; .param .b32 x; .param .b64 y; .param .b32 z;
        ld.param.u64 %rd1, [a]; st.param.b32 [x], 4; st.param.b64 [y], %rd1;
        call (z), f, (x, y); ld.param.b32 %r1, [z]; mov.u64 %rd2, f; st.u32 [%rd1], %r1;";
    let floats = "
        .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<5>; .reg .f32 %f<7>; .reg .f64 %d<5>;
        .reg .pred %p<4>; .shared .align 16 .b8 tile[512];
        ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; add.rz.ftz.f32 %f2, %f1, %f1;
        fma.rm.sat.f32 %f3, %f1, %f2, %f1; div.rp.f32 %f4, %f1, 0f40400000; sqrt.approx.f32 %f5, %f4;
        ex2.approx.ftz.f32 %f1, %f5; div.full.f32 %f2, %f1, %f3; sin.approx.f32 %f3, %f2;
        cvt.rn.relu.f16.f32 %h1, %f3; mov.b32 %r2, {%h1, %h1}; fma.rn.relu.f16x2 %r3, %r2, %r2, %r2;
        min.xorsign.abs.bf16x2 %r4, %r2, %r3; add.sat.f16 %h2, %h1, %h1; neg.bf16 %h3, %h2;
        setp.lt.ftz.f16x2 %p1|%p2, %r2, %r3; set.ge.f16.f16 %h4, %h1, %h2; testp.normal.f32 %p3, %f1;
        cvt.f64.f32 %d1, %f1; fma.rp.f64 %d2, %d1, %d1, 0d3FF0000000000001; rcp.rm.f64 %d3, %d2;
        sqrt.rz.f64 %d4, %d3; rsqrt.approx.ftz.f64 %d1, %d4; copysign.f64 %d2, %d1, %d3;
        max.NaN.abs.f32 %f4, %f1, %f2, %f3; cvt.rna.tf32.f32 %r5, %f4; cvt.rpi.ftz.s32.f32 %r6, %f4;
        slct.b32.f32 %r7, %r5, %r6, %f1; dp4a.u32.s32 %r7, %r1, %r2, %r7; dp2a.hi.s32.u32 %r7, %r1, %r2, %r7;
        mul24.hi.s32 %r8, %r1, %r7; mad24.hi.sat.s32 %r8, %r1, %r7, %r8; bfind.shiftamt.s32 %r4, %r8;
        fns.b32 %r5, %r8, 3, -2; bmsk.clamp.b32 %r6, %r1, 40; szext.wrap.s32 %r7, %r8, %r1;
        cvt.pack.sat.s4.s32.b32 %r8, %r1, %r5, %r6; match.all.sync.b32 %r2|%p1, 7, -1;
        redux.sync.max.abs.f32 %f1, %f2, -1; mul.hi.u32 %r3, %r1, 3; mov.u32 %r4, tile;
        and.b32 %r5, %r1, 31; shl.b32 %r5, %r5, 4; add.u32 %r4, %r4, %r5;
        st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1};
        bar.sync 0; ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r5, %r6}, [%r4];
        mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r5, %r6}, {%r5},
            {%f1, %f1, %f1, %f1};
        bar.sync 0; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r5};
        red.global.v2.f32.add [%rd1+8], {%f1, %f2}; red.global.add.noftz.f16x2 [%rd1], %r2;
        atom.global.inc.u32 %r2, [%rd1+4], 17; atom.global.cas.b16 %h1, [%rd1+64], %h2, %h3;";
    let kernels =
        [("", &*block_sum("bar.sync 0;")), ("", &*last_block("membar.gl;", "membar.gl;"))];
    let kernels = kernels.into_iter().chain([("", more), ("", floats), (calls, body)]);
    let texts = kernels.map(|(functions, body)| {
        let head = ".version 8.0\n.target sm_90\n.address_size 64\n";
        format!("{head}{functions}\n.entry k(.param .u64 a, .param .u64 b) {{\n{body}\n}}")
    });
    let compiled =
        ["triton_softmax", "triton_chain", "triton_matmul", "numba_total", "numba_count"];
    let compiled = compiled.map(|name| {
        let file = format!("tests/compilers/{name}_sm_80.ptx");
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
        // Blocks of 64 threads.
        text.expect("it is in the repository").replace(".reqntid 128", "")
    });
    texts.chain(compiled).collect()
}
