//! Damaged kernels run, or end with a fault that is not a panic of the interpreter.

use ptx_run::{Error, Program};
use simt::{Fault, LaunchConfig, Memory};

use crate::kernels::{block_sum, last_block};
use crate::support::{filled, pointers};

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

/// Whether the first kernel of a text could be launched. Checks that it did not panic.
fn runs(text: &str) -> bool {
    let Ok(module) = ptx::parse(text) else { return false };
    let Some(name) = module.kernels().next().map(|kernel| kernel.name.clone()) else {
        return false;
    };
    let mut memory = Memory::new(1 << 20);
    let Ok(kernel) = Program::new(&module, &name).and_then(|program| program.load(&mut memory))
    else {
        return false;
    };
    let (a, b) = (filled(&mut memory, &[1; 256]), filled(&mut memory, &[0; 256]));
    let config = LaunchConfig { step_limit: 200, races: true, ..LaunchConfig::new("k", 2, 64) };
    match kernel.launch(&mut memory, &config, &pointers(a, b)) {
        Err(Error::Fault(fault)) => {
            assert!(!matches!(*fault, Fault::Panicked { .. }), "{text}\n{fault}");
            true
        }
        result => result.is_ok(),
    }
}

#[test]
fn damaged_kernels_do_not_panic() {
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
    let kernels =
        [("", &*block_sum("bar.sync 0;")), ("", &*last_block("membar.gl;", "membar.gl;"))];
    let kernels = kernels.into_iter().chain([("", more), (calls, body)]);
    let texts = kernels.map(|(functions, body)| {
        let head = ".version 8.0\n.target sm_90\n.address_size 64\n";
        format!("{head}{functions}\n.entry k(.param .u64 a, .param .u64 b) {{\n{body}\n}}")
    });
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for text in texts {
        assert!(runs(&text), "{text}");
        let count = (0..600).filter(|_| runs(&damaged(&text, &mut random))).count();
        assert!(count > 60, "only {count} of 600 could be launched:\n{text}");
    }
}
