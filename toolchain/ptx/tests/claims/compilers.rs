//! The manners of compilers.

use ptx::{Body, Linkage, Module, Operand, Space, parse};

use crate::SAMPLES;

fn sample(name: &str) -> Module {
    let (_, text) = SAMPLES.iter().find(|(known, _)| *known == name).expect("a sample");
    parse(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn body<'a>(module: &'a Module, function: &str) -> &'a Body {
    let function = module.function(function).expect("it is in the sample");
    function.body.as_ref().expect("a body")
}

#[test]
fn nvcc_declares_functions_before_it_defines_them() {
    let module = sample("nvcc -O3");
    assert_eq!((module.version, module.capability(), module.address_size), ((9, 5), Some(90), 64));
    assert_eq!(module.functions.len(), 3);
    assert!(module.function("_Z5applyPFiiEi").is_some_and(|function| function.body.is_some()));
    let printf = module.function("vprintf").expect("declared");
    assert_eq!((printf.linkage, printf.body.is_none()), (Linkage::Extern, true));
    let kernel = module.kernels().next().expect("one kernel");
    assert_eq!(kernel.directives.max_threads, Some([256, 1, 1]));
    assert_eq!(kernel.directives.min_blocks_per_sm, Some(2));
    assert_eq!(kernel.parameters[2].variable.size, Some(16));
}

#[test]
fn each_instruction_has_its_line_and_the_chain_of_inlined_calls() {
    let module = sample("nvcc -O3");
    let body = body(&module, "_Z1kPii6float4");
    let at =
        |opcode| body.instructions.iter().find(|i| i.mnemonic.opcode() == opcode).expect("there");
    let mut chain = Vec::new();
    let mut next = at("membar").location;
    while let Some(index) = next {
        let location = &body.locations[index as usize];
        chain.push((location.file, location.line, module.inlined_function(location)));
        next = location.inlined_at;
    }
    assert_eq!(
        chain,
        [(2, 50, Some("inner".into())), (2, 40, Some("_Z5outer".into())), (1, 9, None)]
    );
    assert_eq!(&*module.files[&2], "/usr/include/helper.hpp");
    let (_, text) = SAMPLES[0];
    let line = text.lines().position(|line| line.contains("bar.sync")).expect("there");
    assert_eq!(at("bar").line as usize, line + 1);
    assert_eq!(at("bar").text(text), "bar.sync \t0");
}

#[test]
fn registers_of_blocks_are_different_although_their_names_are_equal() {
    let module = sample("nvcc -O3");
    let body = body(&module, "_Z1kPii6float4");
    let dummies = body.registers.families().iter().filter(|family| &*family.name == "%dummy");
    let dummies: Vec<u32> = dummies.map(|family| family.first.0).collect();
    assert_eq!(dummies.len(), 2);
    assert_ne!(dummies[0], dummies[1]);
}

#[test]
fn a_call_through_a_pointer_has_its_prototype() {
    let module = sample("nvcc -O3");
    let body = body(&module, "_Z5applyPFiiEi");
    let call = body.instructions.iter().find(|i| i.mnemonic.opcode() == "call").expect("there");
    assert!(matches!(
        &*call.operands,
        [Operand::List(results), Operand::Register(_), Operand::List(arguments), Operand::Prototype(0)]
            if results.len() == 1 && arguments.len() == 1
    ));
    assert_eq!(body.prototypes[0].parameters[0].variable.size, Some(4));
}

#[test]
fn a_debug_build_has_generic_accesses_and_real_calls() {
    let module = sample("nvcc -G");
    assert_eq!(module.targets.iter().map(|word| &**word).collect::<Vec<_>>(), ["sm_75", "debug"]);
    let kernel = module.function("_Z1kPi").expect("there");
    let pointer = kernel.parameters[0].pointer.expect("it is stated");
    assert_eq!((pointer.space, pointer.align), (None, 1));
    let body = body(&module, "_Z1kPi");
    let spaces: Vec<Space> = body.variables.iter().map(|variable| variable.space).collect();
    assert_eq!(spaces, [Space::Local, Space::Parameter, Space::Parameter]);
    let last = body.instructions.iter().rev().nth(1).expect("there");
    assert!(matches!(last.operands[..], [_, _, Operand::Integer(0), Operand::Not(_)]));
    let labels: Vec<&str> = body.labels.iter().map(|label| &*label.name).collect();
    assert_eq!(labels, ["$L__BB0_2", "$L__BB0_1"]);
}

#[test]
fn triton_orders_modifiers_otherwise_and_repeats_labels() {
    let module = sample("Triton");
    let kernel = module.function("add_kernel").expect("there");
    assert_eq!(kernel.directives.required_threads, Some([128, 1, 1]));
    let pointer = kernel.parameters[0].pointer.expect("it is stated");
    assert_eq!((pointer.space, pointer.align), (Some(Space::Global), 16));
    let body = body(&module, "add_kernel");
    let acquire =
        body.instructions.iter().find(|i| i.mnemonic.text() == "ld.global.gpu.acquire.b32");
    assert!(acquire.is_some_and(|load| load.mnemonic.has("acquire")));
    let waits: Vec<usize> = body.labels.iter().map(|label| label.at).collect();
    let is_wait = |&at: &usize| body.instructions[at].mnemonic.opcode() == "mbarrier";
    assert!(waits.len() == 2 && waits[0] != waits[1] && waits.iter().all(is_wait));
}

#[test]
fn numba_has_common_variables_and_visible_functions() {
    let module = sample("numba");
    assert_eq!(module.variables[0].linkage, Linkage::Common);
    assert_eq!(module.functions[0].linkage, Linkage::Visible);
    assert!(!module.functions[0].is_kernel);
}
