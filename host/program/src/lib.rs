//! The parts of the program `gridsync`, for the program itself and its tests.
//!
//! * [`cli`]: the commands.
//! * [`data`]: `.npy` and raw files. [`shown`]: names and foreign text as they are printed.
//! * [`records`]: records of earlier runs. [`report`]: a page of all results.
//!
//! Results of earlier runs are there for programs too:
//!
//! ```
//! use gridsync_program::records::Runs;
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("barrier.jsonl");
//! std::fs::write(
//!     &file,
//!     r#"{"suite": "barrier", "variant": "grid", "device": "a GPU", "params": {"blocks": 132},
//!         "median": 0.8, "min": 0.79, "max": 0.82, "samples": 9}"#.replace('\n', ""),
//! )?;
//! let runs = Runs::read(&[file])?;
//! assert_eq!(runs.devices(), ["a GPU"]);
//! assert_eq!(runs.newest(|record| record.suite == "barrier")[0].what.median, 0.8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cli;
pub mod data;
mod number;
pub mod records;
pub mod report;
pub mod shown;
