//! With the feature `gpu`: compiles the kernels to PTX, which `src/main.rs` includes.

fn main() {
    println!("cargo:rerun-if-changed=kernels");
    #[cfg(feature = "gpu")]
    ptx();
}

#[cfg(feature = "gpu")]
fn ptx() {
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    let built = cuda_builder::CudaBuilder::new("kernels")
        .arch(cuda_builder::Arch::Compute75)
        .copy_to(format!("{out}/kernels.ptx"))
        .target_dir(format!("{out}/kernels"))
        .build();
    if let Err(error) = built {
        eprintln!("{error}");
        eprintln!(
            "The first build of PTX needs the network. Without the feature `gpu` no PTX is built."
        );
        std::process::exit(1);
    }
}
