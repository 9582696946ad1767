//! Images that are PTX text.

use super::{module, of};
use ptx_image::PtxImage;

/// A declaration, a kernel with braces in its body, a function, and two more kernels: one on a
/// single line, one at the end of the file.
const FOUR_PARTS: &str = "// head\n.version 7.4\n\n.shared .b8 tile[16];\n\n\t// .globl\tfirst\n\
     .visible .entry first(\n\t.param .u32 first_param_0\n)\n\
     .maxntid 512, 1, 1\n{\n// no } here\n{\n.reg .b32 a;\n}\n\
     \tmov.b64 {%r1, %r2}, %rd1; // nor {\n}\n\
     .func helper()\n{\n\tret;\n}\n\
     .entry second(){call helper;}\n.weak .entry third()\n{\n}";

#[test]
fn a_module_is_what_is_common_the_functions_that_are_called_and_one_kernel() {
    let modules = of(&[PtxImage::text(75, FOUR_PARTS)], 75);
    assert_eq!(modules.kernels().collect::<Vec<_>>(), ["first", "second", "third"]);
    let common = ".version 7.4\n.shared .b8 tile[16];\n";
    let first = ".visible .entry first(\n\t.param .u32 first_param_0\n)\n\
                 .maxntid 512, 1, 1\n{\n// no } here\n{\n.reg .b32 a;\n}\n\
                 \tmov.b64 {%r1, %r2}, %rd1; // nor {\n}";
    let second = ".func helper()\n{\n\tret;\n}\n.entry second(){call helper;}";
    let entries = [("first", first), ("second", second), ("third", ".weak .entry third()\n{\n}")];
    for (name, entry) in entries {
        assert_eq!(module(&modules, name), (75, format!("{common}{entry}")));
    }
    assert_eq!(modules.module("fourth"), Ok(None));
}

#[test]
fn a_kernel_without_an_end_is_left_to_the_compiler_to_refuse() {
    let text = ".visible .entry open()\n{\n\tret;\n";
    let modules = of(&[PtxImage::text(75, text)], 75);
    assert_eq!(module(&modules, "open"), (75, text.to_owned()));
    let text = ".visible .entry closed_first()\n}\n{\n\tret;\n}\n";
    let modules = of(&[PtxImage::text(75, text)], 75);
    assert!(module(&modules, "closed_first").1.ends_with("ret;\n}"));
    assert_eq!(of(&[PtxImage::text(75, "")], 75).kernels().count(), 0);
}

#[test]
fn the_head_is_the_comments_at_the_top() {
    assert_eq!(PtxImage::text(75, FOUR_PARTS).head(), Ok("// head\n"));
    assert_eq!(PtxImage::text(75, ".version 7.4\n").head(), Ok(""));
}
