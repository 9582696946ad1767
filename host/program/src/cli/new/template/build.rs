//! With the feature `gpu`: compiles the kernels to PTX, which `src/main.rs` includes.

fn main() {
    for changes in ["kernels", "Cargo.lock"] {
        println!("cargo:rerun-if-changed={changes}");
    }
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
    match built {
        Ok(built) => {
            for file in built.made_from {
                println!("cargo:rerun-if-changed={}", file.display());
            }
        }
        Err(error) => {
            eprintln!("{error}");
            eprintln!(
                "The first build of PTX needs the network. Without the feature `gpu` no PTX is built."
            );
            std::process::exit(1);
        }
    }
}
