//! `ncclResult_t`: the result of a call of NCCL.

use std::ffi::c_int;
use std::fmt;

/// The result of a call of NCCL (`ncclResult_t`).
///
/// A transparent number and not an enum, because a newer NCCL may return a number that is not in
/// today's tables.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "a call of NCCL says here whether it failed"]
pub struct ncclResult_t(pub c_int);

macro_rules! results {
    ($($name:ident = $number:literal, $doc:literal;)*) => {
        $(
            #[doc = $doc]
            pub const $name: ncclResult_t = ncclResult_t($number);
        )*

        impl ncclResult_t {
            /// Its name in `nccl.h`, if it is listed here.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $($name => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

// The numbers of `ncclResult_t` in `nccl.h`, 2.14 to 2.31.
results! {
    ncclSuccess = 0, "It worked.";
    ncclUnhandledCudaError = 1, "A call of CUDA failed.";
    ncclSystemError = 2, "A call of the operating system failed.";
    ncclInternalError = 3, "NCCL is broken, or its memory is.";
    ncclInvalidArgument = 4, "An argument is invalid.";
    ncclInvalidUsage = 5, "The call is invalid here, such as two ranks on one GPU.";
    ncclRemoteError = 6, "Another rank has ended or cannot be reached.";
    ncclInProgress = 7, "The call continues after it has returned.";
}

impl fmt::Display for ncclResult_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "result {} of NCCL", self.0),
        }
    }
}

impl fmt::Debug for ncclResult_t {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_result_is_displayed_by_its_number() {
        assert_eq!(ncclInvalidUsage.to_string(), "ncclInvalidUsage (5)");
        assert_eq!(ncclResult_t(99).to_string(), "result 99 of NCCL");
    }
}
