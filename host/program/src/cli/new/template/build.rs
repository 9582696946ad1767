//! With the feature `gpu`: compiles the kernels of `src/lib.rs` to PTX, which `src/main.rs` includes.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "gpu")]
    cuda_builder::CudaBuilder::new(".").build_in_script("kernels.ptx");
}
