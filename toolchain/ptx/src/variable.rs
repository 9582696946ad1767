//! Variables and parameters.

use crate::number::Constant;
use crate::operand::Symbol;

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// `.reg`: a parameter of a function may be a register.
    Register,
    /// `.const`
    Constant,
    /// `.global`
    Global,
    /// `.local`
    Local,
    /// `.param`
    Parameter,
    /// `.shared`
    Shared,
    /// `.tex`, an old form of a texture in `.global`.
    Texture,
}

impl Space {
    /// The space with this name, without the dot.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "reg" => Self::Register,
            "const" => Self::Constant,
            "global" => Self::Global,
            "local" => Self::Local,
            "param" => Self::Parameter,
            "shared" => Self::Shared,
            "tex" => Self::Texture,
            _ => return None,
        })
    }
}

macro_rules! types {
    ($($name:ident, $text:literal, $bytes:literal;)*) => {
        /// A fundamental type, as a variable or register can have it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Type {
            $(#[doc = concat!("`.", $text, "`")] $name,)*
        }

        impl Type {
            /// The type with this name, without the dot.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Its bytes in memory. 0 for a predicate, which has none.
            #[must_use]
            pub fn bytes(self) -> u32 {
                match self {
                    $(Self::$name => $bytes,)*
                }
            }
        }
    };
}

types! {
    Pred, "pred", 0;
    B8, "b8", 1;
    B16, "b16", 2;
    B32, "b32", 4;
    B64, "b64", 8;
    B128, "b128", 16;
    U8, "u8", 1;
    U16, "u16", 2;
    U32, "u32", 4;
    U64, "u64", 8;
    S8, "s8", 1;
    S16, "s16", 2;
    S32, "s32", 4;
    S64, "s64", 8;
    F16, "f16", 2;
    F16x2, "f16x2", 4;
    Bf16, "bf16", 2;
    Bf16x2, "bf16x2", 4;
    F32, "f32", 4;
    Tf32, "tf32", 4;
    F32x2, "f32x2", 8;
    F64, "f64", 8;
    Texture, "texref", 8;
    Sampler, "samplerref", 8;
    Surface, "surfref", 8;
}

impl Type {
    /// Whether it is a signed integer.
    #[must_use]
    pub fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// Whether it is a float, or has several.
    #[must_use]
    pub fn is_float(self) -> bool {
        let halves = matches!(self, Self::F16 | Self::F16x2 | Self::Bf16 | Self::Bf16x2);
        halves || matches!(self, Self::F32 | Self::Tf32 | Self::F32x2 | Self::F64)
    }
}

/// Who sees a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// This module only.
    #[default]
    Internal,
    /// `.extern`: it is defined in another module. Of shared memory, the launch sets the size.
    Extern,
    /// `.visible`
    Visible,
    /// `.weak`: one of several definitions counts.
    Weak,
    /// `.common`: the largest of several definitions counts.
    Common,
}

impl Linkage {
    /// The linkage with this name, without the dot.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "extern" => Self::Extern,
            "visible" => Self::Visible,
            "weak" => Self::Weak,
            "common" => Self::Common,
            _ => return None,
        })
    }
}

/// A variable or parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name. `_` in a prototype.
    pub name: Box<str>,
    /// Who sees it.
    pub linkage: Linkage,
    /// Where it is.
    pub space: Space,
    /// Its alignment in bytes, a power of two.
    pub align: u32,
    /// The type of an element.
    pub ty: Type,
    /// The elements of a vector, 1 without one.
    pub vector: u32,
    /// The dimensions of an array, the outermost first. 0 is one that is left open.
    pub dimensions: Vec<u64>,
    /// Its bytes. `None` for an open array, whose size another module or the launch sets.
    pub size: Option<u64>,
    /// The elements that are not 0, in ascending order.
    pub initial: Vec<Initial>,
    /// `.attribute(.managed)`: the host can access it.
    pub managed: bool,
    /// Its line in the text of the module.
    pub line: u32,
}

/// A parameter or result of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, type and size.
    pub variable: Variable,
    /// The memory that it points to, if stated by `.ptr`.
    pub pointer: Option<Pointer>,
}

/// The memory that a parameter points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The state space. `None` for a generic address.
    pub space: Option<Space>,
    /// The alignment in bytes, 4 unless stated.
    pub align: u32,
}

/// The initial value of an element of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initial {
    /// The index of the element among all of them, of vectors too.
    pub element: u64,
    /// Its value.
    pub value: InitialValue,
}

/// An initial value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialValue {
    /// A number.
    Constant(Constant),
    /// An address.
    Address {
        /// Of this variable or function.
        symbol: Symbol,
        /// Bytes to add to it.
        offset: i64,
        /// Whether it is a generic address, instead of one in the space of the variable.
        generic: bool,
        /// `0xFF00(name)`: the bits of the address to keep, and to shift to the right end.
        mask: Option<u64>,
    },
}
