//! The form of a scan's results, and how a launch continues the previous one.

/// The result of the scan for an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Form {
    /// The combined value of the elements up to and including it.
    Inclusive = 0,
    /// The combined value of the elements before it; the identity for the first.
    Exclusive = 1,
}

impl Form {
    /// The form with this number: inclusive for 0, otherwise exclusive.
    #[inline(always)]
    #[must_use]
    pub const fn of(number: u32) -> Self {
        match number {
            0 => Self::Inclusive,
            _ => Self::Exclusive,
        }
    }
}

/// The part of a scan that a launch computes.
///
/// An array may be scanned part by part, in one launch per part. If each part but the last is a
/// whole number of groups, the bits are those of a single launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// The result of the scan for an element.
    pub form: Form,
    /// Whether it continues from the value that the previous launch left.
    pub goes_on: bool,
    /// Whether it leaves a value for a launch that continues.
    pub leaves: bool,
    /// Whether the previous launch left its value in the second of two slots, not the first. This
    /// launch uses the other one, because blocks may still read the value.
    pub in_second: bool,
}

impl Mode {
    /// A whole array.
    #[must_use]
    pub const fn whole(form: Form) -> Self {
        Self { form, goes_on: false, leaves: false, in_second: false }
    }

    /// The mode as a number, for the kernel's parameter.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.form as u32
            | (self.goes_on as u32) << 1
            | (self.leaves as u32) << 2
            | (self.in_second as u32) << 3
    }

    /// The mode with this number.
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
