//! What the compiler says of kernels that are none, word by word, and that it says nothing of those
//! that only look like it. On the host: a kernel is refused before anything is built for the device.

#[test]
fn what_is_no_kernel_is_refused_on_the_host_with_the_remedy() {
    trybuild::TestCases::new().compile_fail("tests/refusals/*.rs");
}

#[test]
fn kernels_that_look_like_refused_ones_compile() {
    trybuild::TestCases::new().pass("tests/accepted/*.rs");
}
