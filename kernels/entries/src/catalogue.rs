//! The operations that have kernels, one line each.
//!
//! The entry points, the dispatch of the host library, the cases of `verify`, the program and the
//! tests all read this table. So a new operation, or a new type for an existing one, needs only one
//! line.

/// Calls the macro `$each` once for each kernel, as `$each! { PRIMITIVE VALUE ROW }`.
///
/// `ROW` is `(NAME: OP TYPE, INPUTS)`:
///
/// * `NAME` is part of the kernel's name: `sum_f32` in `reduce_sum_f32`.
/// * `OP` is the program's name for the operation. If several rows of a primitive have the same
///   `OP` and element type, the program uses the first, unless the user names an accumulator or
///   asks to skip NaN: `NAME` then has `_of_numbers_`.
/// * `TYPE` is the operation, from [`gridsync_kernels::op`]. It may be followed by `as TWIN`, an
///   operation whose kernels do the same (addition of i64 and of u64 is one instruction), or by
///   `{ EXAMPLE }`, a test value for an operation with a parameter.
/// * `INPUTS` is the kind of elements that tests use: `Values` are of any kind, `Factors` have a
///   product that does not vanish, `FewZeros` and `FewOnes` have few bits that are zero or one.
///
/// | primitive | kernels | value |
/// |---|---|---|
/// | `reduce` | an array to one value | blocks of 512 threads on a multiprocessor, or `[registers N]` |
/// | `mean` | the kernels of `reduce` | `shared` |
/// | `rows` | each row of a matrix to one value | as for `reduce`, for long rows; `[SHORT LONG]` if short rows need fewer than 3 blocks of 256 threads |
/// | `mean_rows` | the kernels of `rows` | `shared` |
/// | `scan` | an array to as many values, on one GPU and spread over several | blocks of 256 threads; `bulk` if there are also kernels with bulk copies |
/// | `scan_rows` | each row of a matrix to as many values | blocks of 256 threads, for short rows, and for middle rows; two for long rows |
/// | `counted_reduce` | as `reduce`, with the length in memory | as for `reduce` |
/// | `counted_scan` | as `scan`, with the length in memory | blocks of 256 threads |
/// | `segments` | each segment to one value, and a scan of each segment | blocks of 256 threads for the scan; `[N reduce M]` if M, not 4, blocks of 256 reduce; `[M]` if there is no scan |
/// | `ranges` | the kernel of `scan`, and one for each type of sums | `float` or `integer`: how sums are checked |
///
/// A number of blocks generates a separate kernel, `shared` uses that of the twin. The number
/// limits the registers of a thread: 2 blocks of 512 threads leave 64, 2 of 256 leave 128. 64 are
/// enough for eight loads and most accumulators, and for four loads of two-byte elements with an
/// index each. With 56 registers, but not with 64, ptxas also keeps the eight loads of a sum of u64
/// together (CUDA 13.5, November 2026). `cargo xtask audit` checks the loads.
///
/// Scans of runs of 2^28 f32, µs on an H200, 2026-11-29: with 3 blocks 1105, with 4 920, with 5 947.
#[macro_export]
macro_rules! operations {
    ($each:ident) => { $crate::operations! { @ $each
        (sum_f32: "sum" Sum<f32>, Values) reduce 2, mean shared, rows 2, mean_rows shared, scan [2 bulk], scan_rows [4 2], segments [4 reduce 5], ranges float, counted_reduce 2, counted_scan 2;
        (sum_f32_in_f64: "sum" Sum<f32, f64>, Values) reduce 2, mean shared, scan 2, segments 4, ranges float, counted_reduce 2, counted_scan 2;
        (sum_compensated_f32: "sum" CompensatedSum<f32>, Values) reduce 2, mean shared, scan 2;
        (sum_f64: "sum" Sum<f64>, Values) reduce 2, mean shared, rows 2, mean_rows shared, scan [2 bulk], scan_rows [4 2], segments 4, ranges float, counted_reduce 2, counted_scan 2;
        (sum_compensated_f64: "sum" CompensatedSum<f64>, Values) reduce 2, mean shared, scan 2;
        (sum_f16_in_f32: "sum" Sum<f16, f32>, Values) reduce 2, mean shared, rows 2, mean_rows shared, scan 2, ranges float;
        (sum_f16_in_f64: "sum" Sum<f16, f64>, Values) reduce 2, mean shared, scan 2, ranges float;
        (sum_bf16_in_f32: "sum" Sum<bf16, f32>, Values) reduce 2, mean shared, rows 2, mean_rows shared, scan 2, ranges float;
        (sum_bf16_in_f64: "sum" Sum<bf16, f64>, Values) reduce 2, mean shared, scan 2, ranges float;
        (sum_i32_in_i64: "sum" Sum<i32, i64>, Values) reduce 2, mean shared, rows 1, mean_rows shared, scan 2, scan_rows [2 1], segments 4, ranges integer, counted_reduce 2, counted_scan 2;
        (sum_u32_in_u64: "sum" Sum<u32, u64>, Values) reduce 2, mean shared, rows 1, mean_rows shared, scan 2, scan_rows [2 1], segments 4, ranges integer, counted_reduce 2, counted_scan 2;
        (sum_i32: "sum" Sum<i32> as Sum<u32>, Values) scan [shared bulk];
        (sum_u32: "sum" Sum<u32>, Values) scan [2 bulk];
        (sum_i64_in_i128: "sum" WideSum<i64>, Values) reduce 2, mean shared;
        (sum_u64_in_i128: "sum" WideSum<u64>, Values) reduce 2, mean shared;
        (sum_i64: "sum" Sum<i64> as Sum<u64>, Values) reduce shared, rows shared, mean_rows shared, scan [shared bulk], scan_rows shared, segments shared, ranges integer, counted_reduce shared, counted_scan shared;
        (sum_u64: "sum" Sum<u64>, Values) reduce [registers 56], rows 2, mean_rows shared, scan [2 bulk], scan_rows [4 2], segments 4, ranges integer, counted_reduce [registers 56], counted_scan 2;

        (prod_f32: "prod" Product<f32>, Factors) reduce 2, rows 2, scan 2, scan_rows [4 2];
        (prod_f32_in_f64: "prod" Product<f32, f64>, Factors) reduce 2, scan 2;
        (prod_f64: "prod" Product<f64>, Factors) reduce 2, rows 2, scan 2, scan_rows [4 2];
        (prod_f16_in_f32: "prod" Product<f16, f32>, Factors) reduce 2, rows 2, scan 2;
        (prod_f16_in_f64: "prod" Product<f16, f64>, Factors) reduce 2, scan 2;
        (prod_bf16_in_f32: "prod" Product<bf16, f32>, Factors) reduce 2, rows 2, scan 2;
        (prod_bf16_in_f64: "prod" Product<bf16, f64>, Factors) reduce 2, scan 2;
        (prod_i32_in_i64: "prod" Product<i32, i64>, Factors) reduce 2, rows 1, scan 2, scan_rows [2 1];
        (prod_u32_in_u64: "prod" Product<u32, u64>, Factors) reduce 2, rows 1, scan 2, scan_rows [2 1];
        (prod_i64: "prod" Product<i64> as Product<u64>, Factors) reduce shared, rows shared, scan shared, scan_rows shared;
        (prod_u64: "prod" Product<u64>, Factors) reduce 2, rows 2, scan 2, scan_rows [4 2];

        (min_f32: "min" Min<f32>, Values) reduce 2, rows 2, scan [2 bulk], segments [4 reduce 5], counted_reduce 2;
        (min_f64: "min" Min<f64>, Values) reduce 2, rows 2, scan [2 bulk], segments 4, counted_reduce 2;
        (min_f16_in_f32: "min" Min<f16, f32>, Values) reduce 2, rows 2, scan 2;
        (min_bf16_in_f32: "min" Min<bf16, f32>, Values) reduce 2, rows 2, scan 2;
        (min_i32: "min" Min<i32>, Values) reduce 2, rows 2, scan [2 bulk], segments [4 reduce 5], counted_reduce 2;
        (min_u32: "min" Min<u32>, Values) reduce 2, rows 2, scan 2, segments [4 reduce 5], counted_reduce 2;
        (min_i64: "min" Min<i64>, Values) reduce 2, rows 2, scan [2 bulk], segments 4, counted_reduce 2;
        (min_u64: "min" Min<u64>, Values) reduce 2, rows 2, scan 2, segments 4, counted_reduce 2;

        (max_f32: "max" Max<f32>, Values) reduce 2, rows 2, scan [2 bulk], segments [4 reduce 5], counted_reduce 2;
        (max_f64: "max" Max<f64>, Values) reduce 2, rows 2, scan [2 bulk], segments 4, counted_reduce 2;
        (max_f16_in_f32: "max" Max<f16, f32>, Values) reduce 2, rows 2, scan 2;
        (max_bf16_in_f32: "max" Max<bf16, f32>, Values) reduce 2, rows 2, scan 2;
        (max_i32: "max" Max<i32>, Values) reduce 2, rows 2, scan [2 bulk], segments [4 reduce 5], counted_reduce 2;
        (max_u32: "max" Max<u32>, Values) reduce 2, rows 2, scan 2, segments [4 reduce 5], counted_reduce 2;
        (max_i64: "max" Max<i64>, Values) reduce 2, rows 2, scan [2 bulk], segments 4, counted_reduce 2;
        (max_u64: "max" Max<u64>, Values) reduce 2, rows 2, scan 2, segments 4, counted_reduce 2;

        (argmin_f32: "argmin" ArgMin<f32>, Values) reduce 2, rows 2, segments [3];
        (argmin_f64: "argmin" ArgMin<f64>, Values) reduce 2, rows 2;
        (argmin_f16_in_f32: "argmin" ArgMin<f16, f32>, Values) reduce 2, rows [2 1];
        (argmin_bf16_in_f32: "argmin" ArgMin<bf16, f32>, Values) reduce 2, rows [2 1];
        (argmin_i32: "argmin" ArgMin<i32>, Values) reduce 2, rows 2, segments [3];
        (argmin_u32: "argmin" ArgMin<u32>, Values) reduce 2, rows 2, segments [3];
        (argmin_i64: "argmin" ArgMin<i64>, Values) reduce 2, rows 2;
        (argmin_u64: "argmin" ArgMin<u64>, Values) reduce 2, rows 2;

        (argmax_f32: "argmax" ArgMax<f32>, Values) reduce 2, rows 2, segments [3];
        (argmax_f64: "argmax" ArgMax<f64>, Values) reduce 2, rows 2;
        (argmax_f16_in_f32: "argmax" ArgMax<f16, f32>, Values) reduce 2, rows [2 1];
        (argmax_bf16_in_f32: "argmax" ArgMax<bf16, f32>, Values) reduce 2, rows [2 1];
        (argmax_i32: "argmax" ArgMax<i32>, Values) reduce 2, rows 2, segments [3];
        (argmax_u32: "argmax" ArgMax<u32>, Values) reduce 2, rows 2, segments [3];
        (argmax_i64: "argmax" ArgMax<i64>, Values) reduce 2, rows 2;
        (argmax_u64: "argmax" ArgMax<u64>, Values) reduce 2, rows 2;

        (ptp_f32: "ptp" PeakToPeak<f32>, Values) reduce 2, rows 2;
        (ptp_f64: "ptp" PeakToPeak<f64>, Values) reduce 2, rows 2;
        (ptp_f16_in_f32: "ptp" PeakToPeak<f16, f32>, Values) reduce 2, rows [2 1];
        (ptp_bf16_in_f32: "ptp" PeakToPeak<bf16, f32>, Values) reduce 2, rows [2 1];
        (ptp_i32: "ptp" PeakToPeak<i32>, Values) reduce 2, rows 2;
        (ptp_u32: "ptp" PeakToPeak<u32>, Values) reduce 2, rows 2;
        (ptp_i64: "ptp" PeakToPeak<i64>, Values) reduce 2, rows 2;
        (ptp_u64: "ptp" PeakToPeak<u64>, Values) reduce 2, rows 2;

        (squares_f32: "sum-squares" SumOfSquares<f32>, Values) reduce 2, rows 2;
        (squares_f64: "sum-squares" SumOfSquares<f64>, Values) reduce 2, rows 2;
        (squares_f16: "sum-squares" SumOfSquares<f16>, Values) reduce 2, rows [3 1];
        (squares_bf16: "sum-squares" SumOfSquares<bf16>, Values) reduce 2, rows [3 1];
        (squares_i32: "sum-squares" SumOfSquares<i32>, Values) reduce 2, rows 2;
        (squares_u32: "sum-squares" SumOfSquares<u32>, Values) reduce 2, rows 2;
        (squares_i64: "sum-squares" SumOfSquares<i64>, Values) reduce 2, rows 2;
        (squares_u64: "sum-squares" SumOfSquares<u64>, Values) reduce 2, rows 2;

        (magnitudes_f32: "l1" SumOfMagnitudes<f32>, Values) reduce 2, rows 2;
        (magnitudes_f64: "l1" SumOfMagnitudes<f64>, Values) reduce 2, rows 2;
        (magnitudes_f16: "l1" SumOfMagnitudes<f16>, Values) reduce 2, rows [3 1];
        (magnitudes_bf16: "l1" SumOfMagnitudes<bf16>, Values) reduce 2, rows [3 1];
        (magnitudes_i32: "l1" SumOfMagnitudes<i32>, Values) reduce 2, rows 1;
        (magnitudes_u32: "l1" SumOfMagnitudes<u32> as Sum<u32, u64>, Values) reduce shared, rows shared;
        (magnitudes_i64: "l1" SumOfMagnitudes<i64>, Values) reduce 2;
        (magnitudes_u64: "l1" SumOfMagnitudes<u64> as WideSum<u64>, Values) reduce shared;

        (log_sum_exp_f32: "logsumexp" LogSumExp<f32>, Values) reduce 1, rows [2 1], scan 1;
        (log_sum_exp_f64: "logsumexp" LogSumExp<f64>, Values) reduce 1, rows [2 1], scan 1;
        (log_sum_exp_f16: "logsumexp" LogSumExp<f16>, Values) rows [2 1];
        (log_sum_exp_bf16: "logsumexp" LogSumExp<bf16>, Values) rows [2 1];

        (variance_f32: "var" Variance<f32>, Values) reduce 1, rows [2 1];
        (variance_f64: "var" Variance<f64>, Values) reduce 1, rows [2 1];
        (variance_i32: "var" Variance<i32>, Values) reduce 1, rows [2 1];
        (variance_u32: "var" Variance<u32>, Values) reduce 1, rows [2 1];
        (variance_i64: "var" Variance<i64>, Values) reduce 1, rows [2 1];
        (variance_u64: "var" Variance<u64>, Values) reduce 1, rows [2 1];

        (describe_f32: "describe" Describe<f32>, Values) reduce 1;
        (describe_f64: "describe" Describe<f64>, Values) reduce 1;
        (describe_i32: "describe" Describe<i32>, Values) reduce 1;
        (describe_u32: "describe" Describe<u32>, Values) reduce 1;
        (describe_i64: "describe" Describe<i64>, Values) reduce 1;
        (describe_u64: "describe" Describe<u64>, Values) reduce 1;

        (sum_of_numbers_f32: "sum" SkipNan<Sum<f32>>, Values) reduce 2, rows 2, scan 2;
        (sum_of_numbers_f64: "sum" SkipNan<Sum<f64>>, Values) reduce 2, rows 2, scan 2;
        (sum_of_numbers_f16_in_f32: "sum" SkipNan<Sum<f16, f32>>, Values) reduce 2, rows 2, scan 2;
        (sum_of_numbers_bf16_in_f32: "sum" SkipNan<Sum<bf16, f32>>, Values) reduce 2, rows 2, scan 2;
        (prod_of_numbers_f32: "prod" SkipNan<Product<f32>>, Factors) scan 2;
        (prod_of_numbers_f64: "prod" SkipNan<Product<f64>>, Factors) scan 2;
        (min_of_numbers_f32: "min" SkipNan<Min<f32>>, Values) scan 2;
        (min_of_numbers_f64: "min" SkipNan<Min<f64>>, Values) scan 2;
        (max_of_numbers_f32: "max" SkipNan<Max<f32>>, Values) scan 2;
        (max_of_numbers_f64: "max" SkipNan<Max<f64>>, Values) scan 2;
        (ptp_of_numbers_f32: "ptp" SkipNan<PeakToPeak<f32>>, Values) reduce 2, rows 2;
        (ptp_of_numbers_f64: "ptp" SkipNan<PeakToPeak<f64>>, Values) reduce 2, rows 2;
        (ptp_of_numbers_f16_in_f32: "ptp" SkipNan<PeakToPeak<f16, f32>>, Values) reduce 2, rows [2 1];
        (ptp_of_numbers_bf16_in_f32: "ptp" SkipNan<PeakToPeak<bf16, f32>>, Values) reduce 2, rows [2 1];
        (variance_of_numbers_f32: "var" SkipNan<Variance<f32>>, Values) reduce 1, rows [2 1];
        (variance_of_numbers_f64: "var" SkipNan<Variance<f64>>, Values) reduce 1, rows [2 1];
        (argmin_of_numbers_f32: "argmin" SkipNan<ArgMin<f32>>, Values) reduce 2;
        (argmin_of_numbers_f64: "argmin" SkipNan<ArgMin<f64>>, Values) reduce 2;
        (argmin_of_numbers_f16_in_f32: "argmin" SkipNan<ArgMin<f16, f32>>, Values) reduce 1;
        (argmin_of_numbers_bf16_in_f32: "argmin" SkipNan<ArgMin<bf16, f32>>, Values) reduce 1;
        (argmax_of_numbers_f32: "argmax" SkipNan<ArgMax<f32>>, Values) reduce 2;
        (argmax_of_numbers_f64: "argmax" SkipNan<ArgMax<f64>>, Values) reduce 2;
        (argmax_of_numbers_f16_in_f32: "argmax" SkipNan<ArgMax<f16, f32>>, Values) reduce 1;
        (argmax_of_numbers_bf16_in_f32: "argmax" SkipNan<ArgMax<bf16, f32>>, Values) reduce 1;

        (xor_i32: "xor" Xor<i32> as Xor<u32>, Values) reduce shared, scan shared;
        (xor_u32: "xor" Xor<u32>, Values) reduce 2, scan 2;
        (xor_i64: "xor" Xor<i64> as Xor<u64>, Values) reduce shared, scan shared;
        (xor_u64: "xor" Xor<u64>, Values) reduce 2, scan 2;

        (and_i32: "and" And<i32> as And<u32>, FewZeros) reduce shared, scan shared;
        (and_u32: "and" And<u32>, FewZeros) reduce 2, scan 2;
        (and_i64: "and" And<i64> as And<u64>, FewZeros) reduce shared, scan shared;
        (and_u64: "and" And<u64>, FewZeros) reduce 2, scan 2;

        (or_i32: "or" Or<i32> as Or<u32>, FewOnes) reduce shared, scan shared;
        (or_u32: "or" Or<u32>, FewOnes) reduce 2, scan 2;
        (or_i64: "or" Or<i64> as Or<u64>, FewOnes) reduce shared, scan shared;
        (or_u64: "or" Or<u64>, FewOnes) reduce 2, scan 2;

        (count_f32: "count" Count<f32>, Values) reduce 2, scan 2;
        (count_f64: "count" Count<f64>, Values) reduce 2, scan 2;
        (count_f16: "count" Count<f16>, Values) reduce 2, scan 2;
        (count_bf16: "count" Count<bf16>, Values) reduce 2, scan 2;
        (count_i32: "count" Count<i32> as Count<u32>, Values) reduce shared, scan shared;
        (count_u32: "count" Count<u32>, Values) reduce 2, scan 2;
        (count_i64: "count" Count<i64> as Count<u64>, Values) reduce shared, scan shared;
        (count_u64: "count" Count<u64>, Values) reduce 2, scan 2;

        (prod_mod_i32: "prod-mod" ProductModulo<i32> { ProductModulo::by_a_prime() }, Factors) reduce 2, scan 2;
        (prod_mod_u32: "prod-mod" ProductModulo<u32> { ProductModulo::by_a_prime() }, Factors) reduce 2, scan 2;
        (prod_mod_i64: "prod-mod" ProductModulo<i64> { ProductModulo::by_a_prime() }, Factors) reduce 2, scan 2;
        (prod_mod_u64: "prod-mod" ProductModulo<u64> { ProductModulo::by_a_prime() }, Factors) reduce 2, scan 2;
        // The factors are odd, so no map loses the result of the maps before it.
        (compose_u64: "compose" Compose, Factors) reduce 2;
        (recurrence: "recurrence" Recurrence { Recurrence::new(1) }, Factors) scan 2;
    }};
    (@ $each:ident $($row:tt $($primitive:ident $value:tt),+;)*) => {
        $($($each! { $primitive $value $row })+)*
    };
}

/// Calls the macro `$each` once for each element type of selections, as
/// `$each! { TYPE, SELECT BLOCKS, UNIQUE BLOCKS }`.
///
/// `SELECT` and `UNIQUE` are the names of the two kernels. `as TWIN` instead of the last number
/// means the kernel of another type. The numbers are blocks of 256 threads on a multiprocessor.
/// Four blocks leave a thread 64 registers. A tile uses 32 of them, so the four blocks have 128 KiB
/// of tiles in flight. Elements of 8 bytes need more registers.
#[macro_export]
macro_rules! selected_elements {
    ($each:ident) => {
        $each! { f32, select_f32 4, unique_f32 4 }
        $each! { f64, select_f64 3, unique_f64 3 }
        $each! { f16, select_f16 4, unique_f16 4 }
        $each! { bf16, select_bf16 4, unique_bf16 4 }
        $each! { i32, select_i32 4, unique_u32 as u32 }
        $each! { u32, select_u32 4, unique_u32 4 }
        $each! { i64, select_i64 3, unique_u64 as u64 }
        $each! { u64, select_u64 3, unique_u64 3 }
    };
}

/// Calls the macro `$each` once for each element type of rank correlations, as
/// `$each! { TYPE, PAIRS, place PLACE }` or, for elements of 8 bytes, as
/// `$each! { TYPE, PAIRS, order ORDER, rank RANK }`. All except `TYPE` are names of kernels.
#[macro_export]
macro_rules! correlated_elements {
    ($each:ident) => {
        $each! { f32, kendall_pairs_f32, place kendall_place_f32 }
        $each! { f64, kendall_pairs_f64, order kendall_order_f64, rank kendall_rank_f64 }
        $each! { i32, kendall_pairs_i32, place kendall_place_i32 }
        $each! { u32, kendall_pairs_u32, place kendall_place_u32 }
        $each! { i64, kendall_pairs_i64, order kendall_order_i64, rank kendall_rank_i64 }
        $each! { u64, kendall_pairs_u64, order kendall_order_u64, rank kendall_rank_u64 }
    };
}

/// Calls the macro `$each` once for each element type that can be sorted, as
/// `$each! { TYPE, "FAMILY" }`.
///
/// The names of its kernels are `sort_count_FAMILY`, and `sort_FAMILY`, `sort_small_FAMILY` and
/// `sort_one_block_FAMILY`, also with `_with_u32` and `_with_u64`.
#[macro_export]
macro_rules! sorted_elements {
    ($each:ident) => {
        $each! { f16, "float_16" }
        $each! { bf16, "float_16" }
        $each! { f32, "float_32" }
        $each! { f64, "float_64" }
        $each! { i32, "int_32" }
        $each! { u32, "int_32" }
        $each! { i64, "int_64" }
        $each! { u64, "int_64" }
    };
}

/// Calls the macro `$each` once for each element type of keys, as `$each! { TYPE, KERNEL }`, or as
/// `$each! { TYPE, as TWIN }` if the kernel is that of another type.
#[macro_export]
macro_rules! keyed_elements {
    ($each:ident) => {
        $each! { f32, mark_runs_f32 }
        $each! { f64, mark_runs_f64 }
        $each! { f16, mark_runs_f16 }
        $each! { bf16, mark_runs_bf16 }
        $each! { i32, as u32 }
        $each! { u32, mark_runs_u32 }
        $each! { i64, as u64 }
        $each! { u64, mark_runs_u64 }
    };
}

/// Calls the macro `$each` once for each element type of dot products, as `$each! { TYPE, NAME }`.
/// The kernel is `reduce_NAME`.
#[macro_export]
macro_rules! dotted_elements {
    ($each:ident) => {
        $each! { f32, dot_f32 }
        $each! { f64, dot_f64 }
        $each! { f16, dot_f16 }
        $each! { bf16, dot_bf16 }
        $each! { i32, dot_i32 }
        $each! { u32, dot_u32 }
    };
}

/// Calls the macro `$each` once for each element type of softmax, as
/// `$each! { TYPE, SHORT BLOCKS, MIDDLE THREADS, LONG BLOCKS }`: the names of three kernels, with the
/// blocks of 128 threads on a multiprocessor, the most threads of a block, and the blocks of 256.
///
/// Softmax of 2^28 f32 in short rows of 16, 128, 256 and 1024, µs on an H200, 2026-11-29: with 4
/// blocks 651, 662, 563, 545; with 6, and 32 bytes of spills, 589, 591, 530, 530; with 8 and more
/// spills 654, 652, 551, 531. A copy takes 506. The other types were not measured.
#[macro_export]
macro_rules! softmax_elements {
    ($each:ident) => {
        $each! { f32, softmax_short_rows_f32 6, softmax_middle_rows_f32 1024, softmax_long_rows_f32 2 }
        $each! { f64, softmax_short_rows_f64 4, softmax_middle_rows_f64 1024, softmax_long_rows_f64 2 }
        $each! { f16, softmax_short_rows_f16 4, softmax_middle_rows_f16 512, softmax_long_rows_f16 2 }
        $each! { bf16, softmax_short_rows_bf16 4, softmax_middle_rows_bf16 512, softmax_long_rows_bf16 2 }
    };
}
