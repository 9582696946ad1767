//! Modules.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::function::{Function, Location};
use crate::variable::Variable;

/// A PTX module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The text that was parsed, for [`Instruction::text`](crate::Instruction::text).
    pub text: Box<str>,
    /// The version of PTX, such as (8, 0).
    pub version: (u32, u32),
    /// The target and its options, such as `sm_90a` and `debug`.
    pub targets: Vec<Box<str>>,
    /// The bits of an address, 32 or 64.
    pub address_size: u32,
    /// The files of the source by number.
    pub files: BTreeMap<u32, Box<str>>,
    /// The variables outside of functions.
    pub variables: Vec<Variable>,
    /// The functions and kernels, each once.
    pub functions: Vec<Function>,
    /// The functions that have a second name: the indices of that name and of the function.
    pub aliases: Vec<(u32, u32)>,
    /// The strings of `.pragma` outside of functions.
    pub pragmas: Vec<Box<str>>,
    /// The section `.debug_str`: names that end in a zero.
    pub(crate) strings: Vec<u8>,
}

impl Module {
    /// The function or kernel with this name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| &*function.name == name)
    }

    /// The kernels that have a body.
    pub fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.is_kernel && function.body.is_some())
    }

    /// The mangled name of the function of a line, if it was inlined, and the module has its name.
    #[must_use]
    pub fn inlined_function(&self, location: &Location) -> Option<Cow<'_, str>> {
        let rest = self.strings.get(location.name? as usize..)?;
        rest.split(|&byte| byte == 0).next().map(String::from_utf8_lossy)
    }

    /// The compute capability of the target, such as 90 of `sm_90a`.
    #[must_use]
    pub fn capability(&self) -> Option<u32> {
        let number = self.targets.iter().find_map(|target| target.strip_prefix("sm_"))?;
        number.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
    }
}
