//! Builds kernels in a build script.

use std::env;
use std::path::PathBuf;
use std::process;

use crate::CudaBuilder;

impl CudaBuilder {
    /// In a build script, compiles the crate and writes the PTX to the file `name` in `OUT_DIR`.
    /// The program includes it with `include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"))`. Cargo
    /// reruns the script if a source file changes.
    ///
    /// The crate may be the package of the build script itself, if a feature that is off by default
    /// guards the call: the library of the package is then compiled without that feature.
    ///
    /// If the build fails, this prints the error and ends the script.
    ///
    /// # Panics
    /// Outside of a build script.
    pub fn build_in_script(self, name: &str) {
        let out = env::var_os("OUT_DIR").expect("cargo should set OUT_DIR for a build script");
        let out = PathBuf::from(out);
        match self.copy_to(out.join(name)).target_dir(out.join("kernels")).build() {
            Ok(built) => {
                for file in built.made_from {
                    println!("cargo:rerun-if-changed={}", file.display());
                }
            }
            Err(error) => {
                eprintln!("{error}");
                process::exit(1);
            }
        }
    }
}
