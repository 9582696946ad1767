//! Turns the functions of a module into the form that threads run.
//!
//! An instruction with an operation, a type or operands that are not supported becomes one that
//! fails when a thread reaches it.

mod access;
mod compute;
mod control;
mod matrix;
mod operands;
mod synchronise;
mod warp;

use std::cell::RefCell;
use std::collections::HashMap;
use std::iter::successors;
use std::sync::Arc;

use ptx::decode::{Operation, decode};
use ptx::{Body, Function, Location, Mnemonic, Module};
use simt::Place;

pub(crate) use self::access::{order_of, scope_of};
pub(crate) use self::control::is_callable;
use self::operands::Operands;
use crate::code::{Code, Instruction, Op};
use crate::layout::{Frame, Window};

/// Resolves functions of a module.
pub(crate) struct Resolver<'a> {
    module: &'a Module,
    window: &'a Window,
    /// The file that messages name for instructions without a line of a source.
    file: &'a str,
    /// The number of the file that has the source of the kernel, if the module has its lines.
    own: Option<u32>,
    decoded: HashMap<Arc<Mnemonic>, Operation>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(
        module: &'a Module,
        window: &'a Window,
        entry: &Function,
        file: &'a str,
    ) -> Self {
        let locations = entry.body.iter().flat_map(|body| &body.locations);
        let own = locations.filter(|it| it.inlined_at.is_none()).map(|it| it.file).next();
        Self { module, window, file, own, decoded: HashMap::new() }
    }

    /// The code of the function with this index, which has this body.
    pub(crate) fn code(&mut self, index: usize, function: &Function, body: &Body) -> Code {
        let frame = Frame::of(function, body);
        let operands = Operands {
            module: self.module,
            window: self.window,
            function: index,
            frame: &frame,
            body,
            constants: RefCell::default(),
        };
        let mut own = None;
        let instructions = body.instructions.iter().map(|it| {
            let instruction = self.instruction(it, &operands, own);
            own = instruction.own.or(own);
            instruction
        });
        Code {
            name: function.name.clone(),
            instructions: instructions.collect(),
            registers: body.registers.clone(),
            constants: operands.constants.into_inner().all.into(),
            frame: frame.bytes,
            parameters: frame.parameters,
            results: frame.results,
        }
    }

    /// `before` is the last line in the file of the kernel before it.
    fn instruction(
        &mut self,
        it: &ptx::Instruction,
        operands: &Operands<'_>,
        before: Option<Place>,
    ) -> Instruction {
        let mnemonic = Arc::clone(&it.mnemonic);
        let operation = self.decoded.entry(mnemonic).or_insert_with_key(|it| decode(it));
        let op = op(operation, it, operands).unwrap_or(Op::Unsupported(match operation {
            Operation::Refused(group) => Some(group),
            _ => None,
        }));
        let guard = it.guard.map(|guard| (guard.register.0, !guard.negated));
        let (own, inside) = self.places(it, operands.body, before);
        let words: Vec<&str> = it.text(&self.module.text).split_whitespace().collect();
        let shown = format!("`{}` in line {} of the PTX", words.join(" "), it.line).into();
        Instruction { op, guard, own, inside, shown }
    }

    /// The line in the file of the kernel, where the instruction was inlined, and the innermost line.
    /// Without lines of a source both are the line of the PTX.
    ///
    /// nvcc with `-G` inlines functions without saying where to. They follow the line that calls them,
    /// so the line `before` is that.
    fn places(
        &self,
        it: &ptx::Instruction,
        body: &Body,
        before: Option<Place>,
    ) -> (Option<Place>, Place) {
        let chain = || chain(it, body);
        let place = |it: &Location| place(self.module, it);
        let inside = innermost(self.module, self.file, it, body);
        match self.own {
            Some(own) => {
                let before = chain().next().and(before);
                (chain().find(|it| it.file == own).and_then(place).or(before), inside)
            }
            None => (Some(inside), inside),
        }
    }
}

/// The lines of an instruction: its own, and then those that it was inlined to.
fn chain<'a>(it: &ptx::Instruction, body: &'a Body) -> impl Iterator<Item = &'a Location> {
    let at = |index: u32| &body.locations[index as usize];
    successors(it.location.map(at), move |it| it.inlined_at.map(at)).filter(|it| it.line > 0)
}

fn place(module: &Module, it: &Location) -> Option<Place> {
    let name = module.files.get(&it.file)?;
    Some(Place::in_program(name, it.line, it.column))
}

/// The line of an instruction in the function that it belongs to, also if that was inlined. Without
/// lines of a source it is that of the PTX, in the file with this name.
pub(crate) fn innermost(module: &Module, file: &str, it: &ptx::Instruction, body: &Body) -> Place {
    let found = chain(it, body).next().and_then(|it| place(module, it));
    found.unwrap_or_else(|| Place::in_program(file, it.line, 0))
}

/// What an instruction does, if it is supported.
fn op(operation: &Operation, it: &ptx::Instruction, on: &Operands<'_>) -> Option<Op> {
    let operands = &*it.operands;
    match operation {
        Operation::Load(access) => access::load(*access, operands, on),
        Operation::Store(access) => access::store(*access, operands, on),
        Operation::Atomic(access, update) => access::atomic(*access, *update, operands, on),
        Operation::Reduction(access, update) => access::reduction(*access, *update, operands, on),
        Operation::Fence(fence) => {
            access::fence(*fence).or_else(|| synchronise::synchronise(operation, operands, on))
        }
        Operation::ConvertAddress { space, to } => {
            access::convert_address(*space, *to, operands, on)
        }
        Operation::IsInSpace(space) => access::is_in_space(*space, operands, on),
        Operation::Move(ty) => compute::movement(*ty, operands, on),
        Operation::Select(ty) => compute::select(*ty, operands, on),
        Operation::Compare(comparison) => compute::compare(comparison, operands, on),
        Operation::Convert(conversion) => compute::convert(conversion, operands, on),
        Operation::Compute(arithmetic) => compute::compute(arithmetic, operands, on),
        Operation::Barrier { action, aligned } => warp::barrier(*action, *aligned, operands, on),
        Operation::WarpBarrier => warp::warp_barrier(operands, on),
        Operation::Shuffle(mode) => warp::shuffle(*mode, operands, on),
        Operation::Vote(vote) => warp::vote(*vote, operands, on),
        Operation::Match { all: false, bytes } => warp::matching(*bytes, operands, on),
        Operation::Match { all: true, bytes } => warp::matching_all(*bytes, operands, on),
        Operation::MatrixProduct { ty, depth } => matrix::product(*ty, *depth, operands, on),
        Operation::MatrixAccess { loads, count, transposes, space } => {
            matrix::access((*loads, *count, *transposes), *space, operands, on)
        }
        Operation::Pack { bits, signed } => compute::pack(*bits, *signed, operands, on),
        Operation::Redux(arithmetic) => warp::redux(arithmetic, operands, on),
        Operation::ActiveMask => warp::active_mask(operands, on),
        Operation::Branch => control::branch(operands, on),
        Operation::BranchIndexed => control::branch_indexed(operands, on),
        Operation::Call => control::call(operands, on),
        Operation::Sleep => control::sleep(operands, on),
        Operation::Return => Some(Op::Return),
        Operation::Exit => Some(Op::Exit),
        Operation::Trap => Some(Op::Trap),
        // There are no caches.
        Operation::Hint => Some(Op::Nothing),
        Operation::GridDependency { .. }
        | Operation::ClusterBarrier { .. }
        | Operation::Mbarrier { .. }
        | Operation::Elect
        | Operation::AsyncCopy
        | Operation::AsyncArrive { .. }
        | Operation::BulkCopy { .. }
        | Operation::CommitGroup { .. }
        | Operation::WaitGroup { .. }
        | Operation::MapShared { .. } => synchronise::synchronise(operation, operands, on),
        Operation::Refused(_) | Operation::Unknown(_) => None,
    }
}
