//! Exchanges between lanes, matrices in the registers of a warp, and atomics of short floats.

use simt::LaunchConfig;

use crate::support::{checked, filled, kernel, numbers, pointers};

/// The number in `%r3` of each of 32 lanes, which have their number in `%r1` and a value in `%r2`.
fn lanes(statements: &str, values: &[u32]) -> Vec<u32> {
    let (kernel, mut memory) = kernel(&format!(
        ".reg .b32 %r<20>; .reg .b64 %rd<6>; .reg .pred %p<4>; .reg .f32 %f<9>;
        .shared .align 16 .b8 tile[512];
        ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %laneid;
        mad.wide.u32 %rd3, %r1, 4, %rd1; ld.global.u32 %r2, [%rd3];
        mad.wide.u32 %rd4, %r1, 4, %rd2; mov.u32 %r3, 0;
        {statements}
        st.global.u32 [%rd4], %r3;"
    ));
    let (a, b) = (filled(&mut memory, values), filled(&mut memory, &[0; 32]));
    for config in checked(1, 32).take(4) {
        let launch = kernel.launch(&mut memory, &config, &pointers(a, b));
        launch.unwrap_or_else(|error| panic!("{statements}: {error}"));
    }
    numbers(&memory, b, 32)
}

#[test]
fn match_all_finds_whether_all_values_are_equal() {
    let text = "match.all.sync.b32 %r3|%p1, %r2, -1; @%p1 add.u32 %r3, %r3, 5;";
    assert_eq!(lanes(text, &[7; 32]), [4; 32]);
    let mut values = [7; 32];
    values[9] = 8;
    assert_eq!(lanes(text, &values), [0; 32]);
    let text = "cvt.u64.u32 %rd5, %r2; match.all.sync.b64 %r3|%p1, %rd5, -1;";
    assert_eq!(lanes(text, &[7; 32]), [u32::MAX; 32]);
}

#[test]
fn redux_has_all_functions() {
    let values: Vec<u32> = (0..32u32).map(|it| (it * 0x0123_4567) ^ 0x8000_0000).collect();
    let fold = |of: fn(u32, u32) -> u32| [values.iter().copied().reduce(of).expect("32"); 32];
    let redux = |name: &str| lanes(&format!("redux.sync.{name} %r3, %r2, -1;"), &values);
    assert_eq!(redux("add.u32"), fold(u32::wrapping_add));
    assert_eq!(redux("min.u32"), fold(u32::min));
    assert_eq!(redux("max.s32"), fold(|a, b| (a as i32).max(b as i32) as u32));
    assert_eq!(redux("and.b32"), fold(|a, b| a & b));
    assert_eq!(redux("or.b32"), fold(|a, b| a | b));
    assert_eq!(redux("xor.b32"), fold(|a, b| a ^ b));
}

#[test]
fn redux_of_floats_prefers_numbers_unless_told() {
    let mut values: Vec<u32> = (0..32).map(|it| (it as f32 - 20.0).to_bits()).collect();
    let redux = |name: &str, values: &[u32]| {
        lanes(
            &format!("mov.b32 %f1, %r2; redux.sync.{name}.f32 %f2, %f1, -1; mov.b32 %r3, %f2;"),
            values,
        )
    };
    assert_eq!(redux("min", &values), [(-20f32).to_bits(); 32]);
    assert_eq!(redux("max.abs", &values), [20f32.to_bits(); 32]);
    values[3] = f32::NAN.to_bits();
    assert_eq!(redux("max", &values), [11f32.to_bits(); 32]);
    assert_eq!(redux("max.NaN", &values), [0x7fff_ffff; 32]);
    let alone = "mov.b32 %f1, %r2; mov.u32 %r4, 1; shl.b32 %r4, %r4, %r1;
        redux.sync.max.abs.f32 %f2, %f1, %r4; mov.b32 %r3, %f2;";
    assert_eq!(lanes(alone, &[(-3f32).to_bits(); 32]), [3f32.to_bits(); 32]);
}

#[test]
fn votes_and_masks_of_lanes_agree() {
    let vote = |name: &str| {
        let text = format!(
            "setp.lt.u32 %p1, %r2, 3; vote.sync.{name} %p2, %p1, -1; selp.u32 %r3, 1, 0, %p2;"
        );
        lanes(&text, &(0..32).collect::<Vec<u32>>())
    };
    assert_eq!(
        (vote("all.pred"), vote("any.pred"), vote("uni.pred")),
        (vec![0; 32], vec![1; 32], vec![0; 32])
    );
    let text = "setp.lt.u32 %p1, %r2, 3; vote.sync.ballot.b32 %r3, !%p1, -1;";
    assert_eq!(lanes(text, &(0..32).collect::<Vec<u32>>()), [!7; 32]);
    for (name, of) in [
        ("eq", (|lane| 1 << lane) as fn(u32) -> u32),
        ("lt", |lane| (1 << lane) - 1),
        ("le", |lane| ((2u64 << lane) - 1) as u32),
        ("gt", |lane| !((2u64 << lane) - 1) as u32),
        ("ge", |lane| !((1 << lane) - 1)),
    ] {
        let found = lanes(&format!("mov.u32 %r3, %lanemask_{name};"), &[0; 32]);
        assert_eq!(found, (0..32).map(of).collect::<Vec<_>>(), "{name}");
    }
}

/// Checks an atomic of one block of 64 threads on the word at `a`, which begins with `old`.
fn atomic(statements: &str, old: [u32; 4], expected: [u32; 4]) {
    let (kernel, mut memory) = kernel(&format!(
        ".reg .b32 %r<9>; .reg .b16 %h<5>; .reg .b64 %rd<3>; .reg .f32 %f<9>;
        ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x;
        {statements}"
    ));
    for config in checked(1, 64).take(4) {
        let a = filled(&mut memory, &old);
        let launch = kernel.launch(&mut memory, &config, &pointers(a, a));
        launch.unwrap_or_else(|error| panic!("{statements}: {error}"));
        assert_eq!(numbers(&memory, a, 4), expected, "{statements}");
    }
}

#[test]
fn atomics_of_short_floats_round_each_sum() {
    // 64 times 1, and 64 times 0.5.
    atomic("red.global.add.noftz.f16x2 [%rd1], 0x38003c00;", [0; 4], [0x5000_5400, 0, 0, 0]);
    // 256 + 1 is a tie in bf16, which stays at 256.
    let text = "mov.b16 %h1, 0x3f80; red.relaxed.gpu.global.add.noftz.bf16 [%rd1], %h1;";
    atomic(text, [0x4380, 0, 0, 0], [0x4380, 0, 0, 0]);
    let text = "cvt.rn.f32.u32 %f1, %r1; cvt.rn.f16.f32 %h1, %f1; mov.b32 %r2, {%h1, %h1};
        red.global.max.noftz.f16x2 [%rd1], %r2;";
    atomic(text, [0xc000_c000, 0, 0, 0], [0x53e0_53e0, 0, 0, 0]);
    let text = "red.global.min.noftz.bf16x2 [%rd1], 0xbf80c000;";
    atomic(text, [0, 0, 0, 0], [0xbf80_c000, 0, 0, 0]);
}

#[test]
fn vectors_of_atomics_update_each_element() {
    let one = 1f32.to_bits();
    let text = "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000;
        red.global.v2.f32.add [%rd1], {%f1, %f2};";
    atomic(text, [0, one, 7, 7], [64f32.to_bits(), 129f32.to_bits(), 7, 7]);
    let text = "red.global.v4.f16x2.add.noftz [%rd1], {%r2, %r3, %r4, %r5};";
    let text = format!(
        "mov.u32 %r2, 0; mov.u32 %r3, 0x3c00; mov.u32 %r4, 0; mov.u32 %r5, 0x3c000000; {text}"
    );
    atomic(&text, [0; 4], [0, 0x5400, 0, 0x5400_0000]);
}

#[test]
fn atomics_wrap_at_a_limit_and_swap_halves() {
    atomic("atom.global.inc.u32 %r2, [%rd1], 9;", [0, 0, 0, 0], [4, 0, 0, 0]);
    atomic("atom.global.dec.u32 %r2, [%rd1], 9;", [0, 0, 0, 0], [6, 0, 0, 0]);
    atomic("atom.global.dec.u32 %r2, [%rd1], 9;", [50, 0, 0, 0], [6, 0, 0, 0]);
    let text = "mov.b16 %h1, 3; mov.b16 %h2, 8; atom.global.cas.b16 %h3, [%rd1+2], %h1, %h2;";
    atomic(text, [3 << 16 | 3, 0, 0, 0], [8 << 16 | 3, 0, 0, 0]);
}

/// The product of two matrices of small integers, with the registers of each lane as PTX draws them.
fn product(name: &str, depth: u32, word: impl Fn(u32, u32, u32) -> u32) {
    // An element of a is its row and column; b has its column in every second row.
    let a = |row: u32, k: u32| (row + k * 3) % 8;
    let b = |k: u32, column: u32| (column + k) % 4;
    let per_word = if name == "tf32" { 1 } else { 2 };
    let block = 4 * per_word;
    let registers = (depth / block) as usize;
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for lane in 0..32 {
        let (group, part) = (lane / 4, lane % 4 * per_word);
        for register in 0..registers as u32 {
            let k = part + register * block;
            for row in [group, group + 8] {
                first.push(word(a(row, k), a(row, (k + per_word - 1) % depth), 0));
            }
            second.push(word(b(k, group), b((k + per_word - 1) % depth, group), 0));
        }
    }
    let loads = |base: &str, from: usize, count: usize| -> String {
        let load = |at: usize| format!("ld.global.u32 %r{}, [{base}+{}];\n", from + at, at * 4);
        (0..count).map(load).collect()
    };
    let list = |from: usize, count: usize| {
        let names: Vec<String> = (from..from + count).map(|at| format!("%r{at}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let (kernel, mut memory) = kernel(&format!(
        ".reg .b32 %r<20>; .reg .b64 %rd<6>; .reg .f32 %f<9>;
        ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %laneid;
        mad.wide.u32 %rd3, %r1, {}, %rd1; mad.wide.u32 %rd4, %r1, {}, %rd1;
        mad.wide.u32 %rd5, %r1, 16, %rd2; mov.f32 %f1, 0f3F800000;
        {} {}
        mma.sync.aligned.m16n8k{depth}.row.col.f32.{name}.{name}.f32 {{%f2, %f3, %f4, %f5}}, {}, {},
            {{%f1, %f1, %f1, %f1}};
        st.global.v4.f32 [%rd5], {{%f2, %f3, %f4, %f5}};",
        registers * 8,
        registers * 4,
        loads("%rd3", 2, 2 * registers),
        loads("%rd4", 2 + 2 * registers, registers)
            .replace("[%rd4+", &format!("[%rd4+{}+", first.len() * 4)),
        list(2, 2 * registers),
        list(2 + 2 * registers, registers),
    ));
    let input = filled(&mut memory, &[first, second].concat());
    let output = filled(&mut memory, &[0; 128]);
    let config = LaunchConfig { races: true, ..LaunchConfig::new("k", 1, 32) };
    let launch = kernel.launch(&mut memory, &config, &pointers(input, output));
    launch.unwrap_or_else(|error| panic!("{name}: {error}"));
    for (at, found) in (0..).zip(numbers(&memory, output, 128)) {
        let (lane, index) = (at / 4, at % 4);
        let (row, column) = (lane / 4 + index / 2 * 8, lane % 4 * 2 + index % 2);
        let sum: u32 = (0..depth).map(|k| a(row, k) * b(k, column)).sum();
        assert_eq!(f32::from_bits(found), (sum + 1) as f32, "{name}: row {row}, column {column}");
    }
}

#[test]
fn products_of_matrices_have_the_layout_of_the_isa() {
    let f16 =
        |value: u32| [0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700][value as usize];
    let bf16 = |value: u32| (value as f32).to_bits() >> 16;
    product("f16", 16, |low, high, _| f16(low) | f16(high) << 16);
    product("f16", 8, |low, high, _| f16(low) | f16(high) << 16);
    product("bf16", 16, |low, high, _| bf16(low) | bf16(high) << 16);
    product("bf16", 8, |low, high, _| bf16(low) | bf16(high) << 16);
    // The lowest bits of a tf32 are ignored.
    product("tf32", 8, |low, _, _| (low as f32).to_bits() | 0xfff);
    product("tf32", 4, |low, _, _| (low as f32).to_bits() | 0xfff);
}

#[test]
fn matrices_are_loaded_and_stored_by_rows_and_columns() {
    // Element (row, column) of matrix m is 64 m + 8 row + column, two in each word.
    let fill = "shl.b32 %r4, %r1, 4; mov.u32 %r5, tile; add.u32 %r4, %r4, %r5; shl.b32 %r6, %r1, 3;
        mad.lo.u32 %r6, %r6, 0x10001, 0x10000; st.shared.u32 [%r4], %r6; add.u32 %r6, %r6, 0x20002;
        st.shared.u32 [%r4+4], %r6; add.u32 %r6, %r6, 0x20002; st.shared.u32 [%r4+8], %r6;
        add.u32 %r6, %r6, 0x20002; st.shared.u32 [%r4+12], %r6; bar.warp.sync -1;";
    let load = |text: &str| lanes(&format!("{fill} {text}"), &[0; 32]);
    let pair = |matrix: u32, low: (u32, u32), high: (u32, u32)| {
        let element = |(row, column)| 64 * matrix + 8 * row + column;
        element(low) | element(high) << 16
    };
    let rows = |matrix: u32| -> Vec<u32> {
        (0..32).map(|it| pair(matrix, (it / 4, it % 4 * 2), (it / 4, it % 4 * 2 + 1))).collect()
    };
    let columns = |matrix: u32| -> Vec<u32> {
        (0..32).map(|it| pair(matrix, (it % 4 * 2, it / 4), (it % 4 * 2 + 1, it / 4))).collect()
    };
    assert_eq!(load("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r4];"), rows(0));
    let text = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r7, %r8, %r3, %r9}, [%r4];";
    assert_eq!(load(text), rows(2));
    let text = "ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%r7, %r3}, [%r4];";
    assert_eq!(load(text), columns(1));
    // Stored by columns and loaded by columns, a matrix is as before.
    let text = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r4]; bar.warp.sync -1;
        stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r4], {%r7}; bar.warp.sync -1;
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r4];";
    assert_eq!(load(text), columns(0));
}
