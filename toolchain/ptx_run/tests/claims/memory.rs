//! Loads and stores of all widths, generic addresses, variables of the module.

use simt::LaunchConfig;

use crate::support::{EDGES, check, filled, kernel, load, numbers, pairs, pointers, results};

#[test]
fn loads_extend_to_their_register_and_stores_cut() {
    let row = [[0xfedc_ba98_8685_8483, 0, 0]];
    let loads = [
        ("u8", 0x83),
        ("s8", 0xffff_ffff_ffff_ff83),
        ("u16", 0x8483),
        ("s16", 0xffff_ffff_ffff_8483),
        ("b32", 0x8685_8483),
        ("s32", 0xffff_ffff_8685_8483),
        ("u64", row[0][0]),
    ];
    for (ty, expected) in loads {
        let text = format!("ld.global.{ty} %d, [%rd3];");
        assert_eq!(results(&text, ["b64"; 4], &row), [expected], "{ty}");
    }
    assert_eq!(results("ld.s8 %d, [%rd3];", ["b32", "b64", "b64", "b64"], &row), [0xffff_ff83]);
    for (ty, expected) in [("u8", 0x83), ("b16", 0x8483), ("u32", 0x8685_8483)] {
        let text = format!("st.global.b64 [%rd4], %b; st.{ty} [%rd4], %a; ld.b64 %d, [%rd4];");
        assert_eq!(results(&text, ["b64"; 4], &row), [expected], "{ty}");
    }
}

#[test]
fn vectors_are_loaded_and_stored_by_elements() {
    let (kernel, mut memory) = kernel(
        ".reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .b16 %h<5>;
        ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
        ld.global.v4.u32 {%r1, %r2, _, %r4}, [%rd1];
        st.global.v2.u32 [%rd2], {%r4, %r1};
        ld.relaxed.gpu.global.v2.u32 {%r1, %r2}, [%rd1+8];
        st.relaxed.gpu.global.v2.u32 [%rd2+8], {%r2, %r1};
        ld.global.nc.v2.u64 {%rd3, %rd4}, [%rd1];
        st.global.v2.u64 [%rd2+16], {%rd4, %rd3};
        ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%rd1];
        st.global.v4.u8 [%rd2+32], {%h4, %h3, %h2, %h1};",
    );
    let a = filled(&mut memory, &[0x0403_0201, 2, 3, 4]);
    let b = filled(&mut memory, &[0; 12]);
    let config = LaunchConfig { races: true, ..LaunchConfig::new("k", 1, 1) };
    kernel.launch(&mut memory, &config, &pointers(a, b)).expect("no fault");
    let one = 0x0403_0201;
    assert_eq!(numbers(&memory, b, 9), [4, one, 4, 3, 3, 4, one, 2, 0x0102_0304]);
}

#[test]
fn generic_addresses_reach_all_spaces() {
    let (kernel, mut memory) = kernel(
        ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;
        .shared .b32 word; .local .b32 own;
        ld.param.u64 %rd1, [a];
        mov.u64 %rd2, word; cvta.shared.u64 %rd3, %rd2; st.u32 [%rd3], 7; ld.shared.u32 %r1, [word];
        mov.u64 %rd4, own; cvta.local.u64 %rd5, %rd4; st.u32 [%rd5], 8; ld.local.u32 %r2, [own];
        isspacep.shared %p1, %rd3; isspacep.local %p2, %rd5; isspacep.global %p3, %rd1;
        isspacep.global %p4, %rd3;
        selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2; selp.u32 %r5, 4, 0, %p3;
        selp.u32 %r6, 8, 0, %p4;
        or.b32 %r3, %r3, %r4; or.b32 %r3, %r3, %r5; or.b32 %r3, %r3, %r6;
        mov.u64 %rd6, b; cvta.param.u64 %rd7, %rd6; ld.u64 %rd8, [%rd7];
        cvta.to.shared.u64 %rd3, %rd3; ld.shared.u32 %r7, [%rd3];
        st.v4.u32 [%rd1], {%r1, %r2, %r3, %r7}; st.u64 [%rd1+16], %rd8;",
    );
    let a = filled(&mut memory, &[0; 6]);
    let launch = kernel.launch(&mut memory, &LaunchConfig::new("k", 2, 1), &pointers(a, 5));
    launch.expect("no fault");
    assert_eq!(numbers(&memory, a, 6), [7, 8, 7, 7, 5, 0]);
}

#[test]
fn dynamic_shared_memory_has_the_size_of_the_launch() {
    let (kernel, mut memory) = load(
        ".extern .shared .align 16 .b8 dynamic[];
        .shared .align 8 .b64 before;
        .entry k(.param .u64 a) {
            .reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .pred %p1;
            ld.param.u64 %rd1, [a];
            mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, dynamic; add.u32 %r2, %r2, %r3;
            st.shared.u32 [%r2], %r1;
            bar.sync 0;
            sub.u32 %r4, 31, %r1; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r3;
            ld.shared.u32 %r4, [%r4];
            mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r4;
        }",
        "k",
    );
    let a = filled(&mut memory, &[0; 32]);
    let config = LaunchConfig { dynamic_shared: 128, races: true, ..LaunchConfig::new("k", 1, 32) };
    kernel.launch(&mut memory, &config, &a.to_le_bytes()).expect("no fault");
    assert_eq!(numbers(&memory, a, 32), (0..32).rev().collect::<Vec<_>>());
    let small = LaunchConfig { dynamic_shared: 64, ..config };
    let found = crate::support::fault(kernel.launch(&mut memory, &small, &a.to_le_bytes()));
    assert!(found.to_string().contains("offset 64 of dynamic shared memory (64 bytes)"), "{found}");
}

#[test]
fn variables_of_the_module_are_initialised_and_keep_their_values() {
    let (kernel, mut memory) = load(
        ".const .align 4 .u32 table[3] = {10, 20, 30};
        .global .align 4 .u32 counter = 5;
        .global .align 8 .u64 place = generic(counter);
        .entry k(.param .u64 a) {
            .reg .b32 %r<5>; .reg .b64 %rd<5>;
            ld.param.u64 %rd1, [a];
            ld.const.u32 %r1, [table+4];
            ld.global.u64 %rd2, [place];
            atom.add.u32 %r2, [%rd2], %r1;
            ld.global.u32 %r3, [counter];
            st.global.v2.u32 [%rd1], {%r2, %r3};
        }",
        "k",
    );
    let a = filled(&mut memory, &[0; 2]);
    for expected in [[5, 25], [25, 45]] {
        let launch = kernel.launch(&mut memory, &LaunchConfig::new("k", 1, 1), &a.to_le_bytes());
        launch.expect("no fault");
        assert_eq!(numbers(&memory, a, 2), expected);
    }
    let counter = kernel.address("counter").expect("it is in the module");
    assert_eq!(numbers(&memory, counter, 1), [45]);
    assert_eq!(kernel.address("missing"), None);
}

#[test]
fn special_registers_describe_the_thread() {
    let (kernel, mut memory) = kernel(
        ".reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p1;
        ld.param.u64 %rd1, [a];
        mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
        mul.wide.u32 %rd2, %r4, 48; add.s64 %rd3, %rd1, %rd2;
        mov.u32 %r5, %laneid; mov.u32 %r6, %warpid; mov.u32 %r7, %lanemask_lt; mov.u32 %r8, %lanemask_ge;
        st.global.v4.u32 [%rd3], {%r5, %r6, %r7, %r8};
        mov.u32 %r9, %ntid.y; mov.u32 %r10, %nctaid.x; mov.u32 %r11, %ctaid.x; mov.u32 %r12, %nwarpid;
        st.global.v4.u32 [%rd3+16], {%r9, %r10, %r11, %r12};
        mov.u64 %rd4, %clock64; mov.u64 %rd5, %clock64; sub.u64 %rd6, %rd5, %rd4;
        mov.u32 %r13, WARP_SZ; mov.u32 %r14, %lanemask_eq;
        st.global.u64 [%rd3+32], %rd6; st.global.v2.u32 [%rd3+40], {%r13, %r14};",
    );
    let a = filled(&mut memory, &[0; 40 * 12]);
    let config = LaunchConfig::new("k", 1, (20, 2));
    kernel.launch(&mut memory, &config, &pointers(a, a)).expect("no fault");
    for (thread, found) in numbers(&memory, a, 480).chunks(12).enumerate() {
        let (lane, warp) = (thread as u32 % 32, thread as u32 / 32);
        let below = (1u32 << lane) - 1;
        assert_eq!(found[..8], [lane, warp, below, !below, 2, 1, 0, 2]);
        assert!(found[8] > 0 && found[9] == 0);
        assert_eq!(found[10..], [32, 1 << lane]);
    }
}

#[test]
fn atomics_return_the_old_value_and_store_the_new_one() {
    type Of = fn(u64, u64, u64) -> u64;
    let low = |a: u64| a & 0xffff_ffff;
    let cases: [(&str, &str, Of); 14] = [
        ("add.u32 %d, [%rd4], %b", "b32", |a, b, _| (a as u32).wrapping_add(b as u32).into()),
        ("add.u64 %d, [%rd4], %b", "b64", |a, b, _| a.wrapping_add(b)),
        ("min.s32 %d, [%rd4], %b", "b32", |a, b, _| u64::from((a as i32).min(b as i32) as u32)),
        ("max.u32 %d, [%rd4], %b", "b32", |a, b, _| (a as u32).max(b as u32).into()),
        ("max.s64 %d, [%rd4], %b", "b64", |a, b, _| (a as i64).max(b as i64) as u64),
        ("min.u64 %d, [%rd4], %b", "b64", |a, b, _| a.min(b)),
        ("inc.u32 %d, [%rd4], %b", "b32", |a, b, _| {
            if a as u32 >= b as u32 { 0 } else { u64::from(a as u32 + 1) }
        }),
        ("dec.u32 %d, [%rd4], %b", "b32", |a, b, _| {
            let (a, b) = (a as u32, b as u32);
            u64::from(if a == 0 || a > b { b } else { a - 1 })
        }),
        ("and.b64 %d, [%rd4], %b", "b64", |a, b, _| a & b),
        ("or.b32 %d, [%rd4], %b", "b32", |a, b, _| (a as u32 | b as u32).into()),
        ("xor.b64 %d, [%rd4], %b", "b64", |a, b, _| a ^ b),
        ("exch.b64 %d, [%rd4], %b", "b64", |_, b, _| b),
        ("cas.b32 %d, [%rd4], %b, %c", "b32", |a, b, c| {
            u64::from(if a as u32 == b as u32 { c as u32 } else { a as u32 })
        }),
        ("cas.b64 %d, [%rd4], %b, %c", "b64", |a, b, c| if a == b { c } else { a }),
    ];
    for (text, ty, new) in cases {
        let before = format!("st.global.{ty} [%rd4], %a; atom.global.{text};");
        let is_short = ty == "b32";
        check(&before, [ty; 4], &pairs(&EDGES), |a, _, _| if is_short { low(a) } else { a });
        let after = format!("{before} ld.global.{ty} %d, [%rd4];");
        check(&after, [ty; 4], &pairs(&EDGES), new);
    }
    let floats = [[1.5f32.to_bits().into(), 0.25f32.to_bits().into(), 0]];
    let text = "st.f32 [%rd4], %a; red.add.f32 [%rd4], %b; ld.f32 %d, [%rd4];";
    check(text, ["f32"; 4], &floats, |_, _, _| 1.75f32.to_bits().into());
    let floats = [[0.1f64.to_bits(), 0.2f64.to_bits(), 0]];
    let text = "st.f64 [%rd4], %a; atom.add.f64 %d, [%rd4], %b; ld.f64 %d, [%rd4];";
    check(text, ["f64"; 4], &floats, |_, _, _| (0.1f64 + 0.2).to_bits());
}
