//! The exact compiler errors for functions that cannot be kernels, and similar valid ones. On the
//! host, because a kernel is rejected before anything is built for the device.

// Valid kernels similar to rejected ones: this test compiles only if they do.
#[allow(dead_code, reason = "it is only compiled")]
#[path = "accepted/methods_of_other_types.rs"]
mod methods_of_other_types;
#[path = "accepted/square_roots_without_the_prelude.rs"]
mod square_roots_without_the_prelude;

#[test]
fn invalid_kernels_are_rejected_on_the_host_with_a_remedy() {
    trybuild::TestCases::new().compile_fail("tests/refusals/*.rs");
}
