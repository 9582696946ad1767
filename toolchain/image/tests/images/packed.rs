//! One packed image.

use super::{ADD, LOOP, PRELUDE_90, entry, module, of, ptx};
use ptx_image::{PackError, PtxImage, pack};

#[test]
fn a_kernel_comes_back_in_its_normal_form() {
    let body = "\t.reg .pred \t%p<2>;\n\n$L__BB7_2: // a loop\n\tsetp.eq.u32 \t%p1, %tid.x, 3;\n\t@%p1 bra \t$L__BB7_2;\n\tret;\n";
    let normal =
        "\t.reg .pred \t%p<2>;\n$L1:\n\tsetp.eq.u32 \t%p1, %tid.x, 3;\n\t@%p1 bra \t$L1;\n\tret;\n";
    let packed = pack(&ptx(90, &[("wait", body)])).expect("ordinary PTX");
    let modules = of(&[PtxImage::packed(&packed)], 90);
    let expected = format!("{PRELUDE_90}{}", entry("wait", normal));
    assert_eq!(module(&modules, "wait"), (90, expected));
    assert_eq!(modules.module("wai"), Ok(None));
}

#[test]
fn the_head_is_readable_and_says_how_it_is_packed() {
    let packed = pack(&ptx(90, &[])).expect("ordinary PTX");
    let head = "// some kernels\n// by hand\n// packed: format 2, compute_90\n";
    assert!(packed.starts_with(head.as_bytes()));
    let image = PtxImage::packed(&packed);
    assert_eq!((image.head(), image.compute()), (Ok(head), Ok(90)));
    assert_eq!(of(&[image], 90).prelude(), PRELUDE_90);
}

#[test]
fn many_kernels_in_many_groups_come_back() {
    // No two lines are equal, so groups are full soon.
    let body = |kernel: u32| -> String {
        (1..2000).map(|i| format!("\tmov.u32 \t%r{i}, {kernel:04}{i:04};\n")).collect()
    };
    let kernels: Vec<_> = (0..20).map(|i| (format!("k{i:02}"), body(i))).collect();
    let kernels: Vec<_> = kernels.iter().map(|(n, b)| (n.as_str(), b.as_str())).collect();
    let packed = pack(&ptx(90, &kernels)).expect("ordinary PTX");
    let modules = of(&[PtxImage::packed(&packed)], 90);
    assert_eq!(modules.kernels().count(), kernels.len());
    for (name, body) in kernels {
        assert_eq!(modules.entry(name), Ok(Some(entry(name, body))));
    }
}

#[test]
fn the_same_text_gives_the_same_bytes() {
    let text = ptx(90, &[("add", ADD), ("loops", LOOP), ("same", LOOP)]);
    assert_eq!(pack(&text), pack(&text));
}

#[test]
fn what_would_not_come_back_is_refused() {
    let refused = |body: &str| pack(&ptx(90, &[("k", body)]));
    for body in ["\tmov.u32 \t%r01, 1;\n", "\tbra \t$a#2;\n", "\tx %r99999999999;\n"] {
        let kernel = "k".to_owned();
        assert_eq!(refused(body), Err(PackError::NotReversible { kernel }), "{body}");
    }
}

#[test]
fn a_text_without_a_target_is_refused() {
    assert_eq!(pack(".version 8.0\n"), Err(PackError::NoTarget));
}

#[test]
fn a_kernel_with_too_many_distinct_lines_is_refused() {
    let body = |lines: u32| -> String { (0..lines).map(|i| format!("\t.loc {i};\n")).collect() };
    // Five more lines: the name, the parameter and the brackets.
    let packed = |lines| pack(&ptx(90, &[("k", &body(lines))]));
    assert!(packed(65_531).is_ok());
    let (kernel, lines, most) = ("k".into(), 65_537, 65_536);
    assert_eq!(packed(65_532), Err(PackError::TooLarge { kernel, lines, most }));
}
