//! The exact compiler errors for functions that cannot be kernels, and tests that similar valid
//! ones compile. On the host, because a kernel is rejected before anything is built for the device.

#[test]
fn invalid_kernels_are_rejected_on_the_host_with_a_remedy() {
    trybuild::TestCases::new().compile_fail("tests/refusals/*.rs");
}

#[test]
fn valid_kernels_similar_to_rejected_ones_compile() {
    trybuild::TestCases::new().pass("tests/accepted/*.rs");
}
