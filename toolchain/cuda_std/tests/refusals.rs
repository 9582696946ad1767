//! What the compiler says about functions that are not kernels, word for word, and that it accepts
//! those that only look like it. On the host, because a kernel is refused before anything is built
//! for the device.

#[test]
fn what_is_no_kernel_is_refused_on_the_host_with_the_remedy() {
    trybuild::TestCases::new().compile_fail("tests/refusals/*.rs");
}

#[test]
fn kernels_that_look_like_refused_ones_compile() {
    trybuild::TestCases::new().pass("tests/accepted/*.rs");
}
