//! The parts of a module outside of bodies.

use ptx::{Constant, Initial, InitialValue, Linkage, Space, Symbol, Type};

use crate::parsed;

fn values(initial: &[Initial]) -> Vec<(u64, InitialValue)> {
    initial.iter().map(|initial| (initial.element, initial.value)).collect()
}

fn integer(value: i64) -> InitialValue {
    InitialValue::Constant(Constant::Integer(value))
}

#[test]
fn a_variable_has_space_linkage_alignment_type_and_size() {
    let module = parsed(
        ".visible .global .align 8 .b8 a[3][4];
        .extern .shared .align 16 .b8 b[];
        .weak .const .v4 .f32 c;
        .common .global .u64 d, e;
        .global .attribute(.managed) .s32 f;
        .global .texref g;
        .global .attribute(.unified(1, 0x2)) .s32 h;",
    );
    let all: Vec<_> =
        module.variables.iter().map(|v| (v.linkage, v.space, v.align, v.ty, v.size)).collect();
    use Linkage::{Common, Extern, Internal, Visible, Weak};
    assert_eq!(
        all,
        [
            (Visible, Space::Global, 8, Type::B8, Some(12)),
            (Extern, Space::Shared, 16, Type::B8, None),
            (Weak, Space::Constant, 16, Type::F32, Some(16)),
            (Common, Space::Global, 8, Type::U64, Some(8)),
            (Common, Space::Global, 8, Type::U64, Some(8)),
            (Internal, Space::Global, 4, Type::S32, Some(4)),
            (Internal, Space::Global, 8, Type::Texture, Some(8)),
            (Internal, Space::Global, 4, Type::S32, Some(4)),
        ]
    );
    assert_eq!(module.variables[0].dimensions, [3, 4]);
    assert!(module.variables[5].managed && !module.variables[7].managed);
}

#[test]
fn short_rows_of_values_leave_zeros() {
    let module = parsed(
        ".global .u32 a[3][2] = {{1}, {0, 2}};
        .global .u32 b[] = {1, 2, 3};
        .global .v2 .f32 c[2] = {{0f3F800000, 0.5}, {0f00000000, 0fBF800000}};
        .global .u32 d[2][2] = {1, 2, 3};
        .global .s8 e = -1;",
    );
    let of = |index: usize| values(&module.variables[index].initial);
    assert_eq!(of(0), [(0, integer(1)), (3, integer(2))]);
    assert_eq!(of(1), [(0, integer(1)), (1, integer(2)), (2, integer(3))]);
    assert_eq!(
        (module.variables[1].size, &module.variables[1].dimensions[..]),
        (Some(12), &[3][..])
    );
    let constants = [
        (0, InitialValue::Constant(Constant::Single(0x3f80_0000))),
        (1, InitialValue::Constant(Constant::Double(0.5_f64.to_bits()))),
        (3, InitialValue::Constant(Constant::Single(0xbf80_0000))),
    ];
    assert_eq!(of(2), constants);
    assert_eq!(of(3), [(0, integer(1)), (1, integer(2)), (2, integer(3))]);
    assert_eq!(of(4), [(0, integer(-1))]);
}

#[test]
fn a_value_may_be_an_address() {
    let module = parsed(
        ".func f;
        .global .u32 a[4];
        .global .u64 b[] = {a, a+4, a-4, generic(a), generic(a+4)+4, f, b};
        .global .u8 c[] = {0xff(a), 0xff00(a + 8), 0xFF(generic(a))};",
    );
    let address =
        |symbol, offset, generic, mask| InitialValue::Address { symbol, offset, generic, mask };
    let (a, b) = (Symbol::Global(0), Symbol::Global(1));
    let all: Vec<_> = module.variables[1].initial.iter().map(|initial| initial.value).collect();
    let expected = [
        address(a, 0, false, None),
        address(a, 4, false, None),
        address(a, -4, false, None),
        address(a, 0, true, None),
        address(a, 8, true, None),
        address(Symbol::Function(0), 0, false, None),
        address(b, 0, false, None),
    ];
    assert_eq!(all, expected);
    let masked: Vec<_> = module.variables[2].initial.iter().map(|initial| initial.value).collect();
    let expected = [(0, false, 0xff), (8, false, 0xff00), (0, true, 0xff)]
        .map(|(offset, generic, mask)| address(a, offset, generic, Some(mask)));
    assert_eq!(masked, expected);
}

#[test]
fn a_definition_replaces_the_declaration_of_a_variable() {
    let module =
        parsed(".extern .global .u32 a[];\n.visible .global .u32 a[2];\n.extern .global .u32 a[];");
    assert_eq!(module.variables.len(), 1);
    assert_eq!(
        (module.variables[0].linkage, module.variables[0].size),
        (Linkage::Visible, Some(8))
    );
}

#[test]
fn every_directive_of_a_kernel_is_kept() {
    let module = parsed(
        ".entry a .maxntid 32 .maxnreg 64 .maxnctapersm 2 .pragma \"x\"; { ret; }
        .entry b() .reqntid 8, 4, 2 .minnctapersm 3 .explicitcluster .reqnctapercluster 2, 1, 1 {}
        .entry c() .maxclusterrank 8 .blocksareclusters { .pragma \"nounroll\"; ret; }
        .func d() .noreturn;
        .func d() { trap; }
        .func (.reg .u32 r) e (.reg .u32 x, .reg .f64 y) { add.u32 r, x, 1; ret; }
        .func .attribute(.unified(1, 2)) f() .abi_preserve 4;",
    );
    let of = |name: &str| &module.function(name).expect("there").directives;
    assert_eq!(of("a").max_threads, Some([32, 1, 1]));
    assert_eq!((of("a").max_registers, of("a").max_blocks_per_sm), (Some(64), Some(2)));
    assert_eq!(of("a").pragmas.len(), 1);
    assert_eq!(of("b").required_threads, Some([8, 4, 2]));
    assert_eq!(of("b").required_cluster, Some([2, 1, 1]));
    assert!(of("b").explicit_cluster && of("b").min_blocks_per_sm == Some(3));
    assert!(of("c").max_cluster == Some(8) && of("c").blocks_are_clusters);
    assert_eq!(&*of("c").pragmas[0], "nounroll");
    assert!(of("d").no_return, "as the declaration says");
    let registers = &module.function("e").and_then(|f| f.body.as_ref()).expect("a body").registers;
    assert_eq!(
        registers.families().iter().map(|family| family.ty).collect::<Vec<_>>(),
        [Type::U32, Type::U32, Type::F64]
    );
}

#[test]
fn files_pragmas_and_aliases_are_kept_and_sections_skipped() {
    let module = parsed(
        ".pragma \"a\", \"b\";
        .file 1 \"a.cu\"
        .file 2 \"b.cu\", 1700000000, 10
        .func f() {}
        .func g();
        .alias g, f;
        .section .debug_line { .b8 1, 2 \n $L: .b64 $L+4 }
        /* a comment { */ // another {",
    );
    assert_eq!(module.pragmas.len(), 2);
    assert_eq!(module.files.keys().copied().collect::<Vec<_>>(), [1, 2]);
    assert_eq!(module.aliases, [(1, 0)]);
}
