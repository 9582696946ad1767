//! What a launch of a scan gives, and how it continues the launch before.

/// What the scan gives for an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Form {
    /// What the elements up to it, with it, combine to.
    Inclusive = 0,
    /// What the elements before it combine to: the identity for the first.
    Exclusive = 1,
}

impl Form {
    /// The form of this number; exclusive if it is not 0.
    #[inline(always)]
    #[must_use]
    pub const fn of(number: u32) -> Self {
        match number {
            0 => Self::Inclusive,
            _ => Self::Exclusive,
        }
    }
}

/// What a launch is of a scan.
///
/// An array may be scanned part by part, in one launch after the other: the bits are those of one
/// launch if each part but the last is a whole number of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// What is given for an element.
    pub form: Form,
    /// Whether it goes on from where the launch before ended, which left that.
    pub goes_on: bool,
    /// Whether another launch is to go on from here.
    pub leaves: bool,
    /// Of two places, in which one the launch before left it: the second one? This launch leaves it in
    /// the other one, since blocks may still read that one.
    pub in_second: bool,
}

impl Mode {
    /// A whole array.
    #[must_use]
    pub const fn whole(form: Form) -> Self {
        Self { form, goes_on: false, leaves: false, in_second: false }
    }

    /// The number that a kernel is told it by.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.form as u32
            | (self.goes_on as u32) << 1
            | (self.leaves as u32) << 2
            | (self.in_second as u32) << 3
    }

    /// The mode of this number.
    #[inline(always)]
    #[must_use]
    pub const fn of(number: u32) -> Self {
        Self {
            form: Form::of(number & 1),
            goes_on: number & 2 != 0,
            leaves: number & 4 != 0,
            in_second: number & 8 != 0,
        }
    }
}
