//! With the feature `stub`, passes the location of the empty `libcuda.so`, which cust links, to the
//! linker.

use std::env;
use std::path::Path;

fn main() {
    let package = env::var_os("CARGO_MANIFEST_DIR").expect("cargo should say where the package is");
    let stub = Path::new(&package).join("stub/lib64");
    if env::var_os("CARGO_FEATURE_STUB").is_some() {
        println!("cargo::rustc-link-search=native={}", stub.display());
    }
    println!("cargo::rerun-if-changed=build.rs");
}
