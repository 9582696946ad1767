//! One packed image.

use super::{ADD, LOOP, PRELUDE_90, add, entry, module, of, ptx};
use ptx_image::{PackError, PtxImage, pack};

#[test]
fn a_kernel_comes_back_in_its_normal_form() {
    let body = "\t.reg .pred \t%p<2>;\n\n$L__BB7_2: // a loop\n\tsetp.eq.u32 \t%p1, %tid.x, 3;\n\t@%p1 bra \t$L__BB7_2;\n\tret;\n";
    let normal =
        "\t.reg .pred \t%p<2>;\n$L1:\n\tsetp.eq.u32 \t%p1, %tid.x, 3;\n\t@%p1 bra \t$L1;\n\tret;\n";
    let packed = pack("own", &ptx(90, &[("wait", body)]), None).expect("ordinary PTX");
    let modules = of(&[PtxImage::packed(&packed)], 90);
    let expected = format!("{PRELUDE_90}{}", entry("wait", normal));
    assert_eq!(module(&modules, "wait"), (90, expected));
    assert_eq!(modules.module("wai"), Ok(None));
}

#[test]
fn the_head_is_readable_and_says_how_it_is_packed() {
    let packed = pack("own", &ptx(90, &[]), None).expect("ordinary PTX");
    let head = "// some kernels\n// by hand\n// packed: format 1, set own, compute_90\n";
    assert!(packed.starts_with(head.as_bytes()));
    let image = PtxImage::packed(&packed);
    assert_eq!((image.head(), image.compute()), (Ok(head), Ok(90)));
    assert_eq!(of(&[image], 90).prelude(), PRELUDE_90);
}

#[test]
fn kernels_that_differ_in_their_name_alone_are_there_once() {
    let noise: String = (0..500u32)
        .map(|i| format!("\tmov.u32 \t%r{}, {};\n", i + 1, i.wrapping_mul(2_654_435_761)))
        .collect();
    let body = |name: &str| add(name) + &noise;
    let one = pack("own", &ptx(90, &[("one", &body("one"))]), None).expect("ordinary PTX");
    let names = ["a_longer_name", "one", "tone"];
    let bodies = names.map(body);
    let kernels: Vec<_> = names.into_iter().zip(bodies.iter().map(String::as_str)).collect();
    let all = pack("own", &ptx(90, &kernels), None).expect("ordinary PTX");
    assert!(all.len() < one.len() + 100, "{} and {}", all.len(), one.len());
    let modules = of(&[PtxImage::packed(&all)], 90);
    for (name, body) in kernels {
        assert_eq!(module(&modules, name).1, PRELUDE_90.to_owned() + &entry(name, body));
    }
}

#[test]
fn many_kernels_in_many_groups_come_back() {
    // No two lines are equal, so groups are full soon.
    let body = |kernel: u32| -> String {
        (1..2000).map(|i| format!("\tmov.u32 \t%r{i}, {kernel:04}{i:04};\n")).collect()
    };
    let kernels: Vec<_> = (0..20).map(|i| (format!("k{i:02}"), body(i))).collect();
    let kernels: Vec<_> = kernels.iter().map(|(n, b)| (n.as_str(), b.as_str())).collect();
    let packed = pack("own", &ptx(90, &kernels), None).expect("ordinary PTX");
    let modules = of(&[PtxImage::packed(&packed)], 90);
    assert_eq!(modules.kernels().count(), kernels.len());
    for (name, body) in kernels {
        assert_eq!(modules.entry(name), Ok(Some(entry(name, body))));
    }
}

#[test]
fn the_same_text_gives_the_same_bytes() {
    let text = ptx(90, &[("add", ADD), ("loops", LOOP), ("same", LOOP)]);
    assert_eq!(pack("own", &text, None), pack("own", &text, None));
}

#[test]
fn what_would_not_come_back_is_refused() {
    let refused = |body: &str| pack("own", &ptx(90, &[("k", body)]), None);
    for body in ["\t`;\n", "\tmov.u32 \t%r01, 1;\n", "\tbra \t$a*2;\n", "\tx %r99999999999;\n"] {
        let kernel = "k".to_owned();
        assert_eq!(refused(body), Err(PackError::NotReversible { kernel }), "{body}");
    }
}

#[test]
fn a_text_without_a_target_and_a_name_of_two_words_are_refused() {
    assert_eq!(pack("own", ".version 8.0\n", None), Err(PackError::NoTarget));
    for set in ["", "two words", "a,b"] {
        let error = pack(set, &ptx(90, &[]), None).expect_err("no name");
        assert!(error.to_string().contains(&format!("`{set}`")), "{error}");
    }
}
