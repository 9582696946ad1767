//! End-to-end tests of the program: its output, where the output goes, and the exit code.
//!
//! `gridsync_tests::program` finds the executable. The tests create its inputs. Tests for a machine
//! without CUDA use `GRIDSYNC_LIBCUDA` to hide the driver.

mod axis;
mod bad_input;
mod bench;
mod call;
mod check;
mod compare;
mod completions;
mod cuda;
mod dag;
mod demo;
mod describe;
mod devices;
mod emulate;
mod exit_codes;
#[cfg(target_os = "linux")]
mod failing;
mod files;
mod flags;
mod folder;
mod foreign;
mod help;
mod histogram;
mod input;
mod json;
mod kendall;
mod lab;
mod lab_accuracy;
mod lab_atomics;
mod lab_banks;
mod lab_divergence;
mod lab_limits;
mod lab_list;
mod lab_litmus;
mod lab_locks;
mod lab_memory;
mod lab_threads;
mod man;
mod matrix;
mod memory;
mod new;
mod parts;
mod quantile;
mod range_sum;
mod ranks;
mod readme;
mod reduce;
mod report;
mod rows;
mod scan;
mod scan_rows;
mod schemas;
mod segments;
mod select;
mod several;
mod signals;
mod sort;
mod special;
mod statistics;
mod streams;
mod top;
mod unique;
mod usage;
mod verify;
