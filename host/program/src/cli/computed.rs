//! The JSON of `reduce`, `scan`, `select`, `segments`, `group`, `sort`, `unique`, `top`, `quantile`, `histogram`, `describe`, `range-sum` and `kendall`.

use crate::number::Number;
use serde::Serialize;

/// The result of `reduce`, `scan`, `select`, `segments`, `group`, `sort`, `unique`, `top`, `quantile`, `histogram`, `describe`, `range-sum` or `kendall`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Computed {
    /// The type of the elements in memory.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["f16", "bf16", "f32", "f64", "i32", "u32", "i64", "u64", "i8", "i16", "u8", "u16"])))]
    pub(super) dtype: &'static str,
    /// The type of the elements in the file.
    pub(super) stored: String,
    /// Number of elements.
    pub(super) n: usize,
    /// The name of the device, or the CPU.
    pub(super) device: String,
    /// The variant that ran.
    pub(super) variant: &'static str,
    /// Time of the kernels, or of the CPU, µs.
    pub(super) median_us: Number,
    /// Time from opening the files to writing the results, µs.
    pub(super) total_us: Number,
    /// Bytes read and written, divided by `median_us`.
    pub(super) gb_per_s: Number,
    /// Elements of a part. Null if all were processed at once.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub(super) part: Option<usize>,
    /// The result of `--check`. Null without it.
    pub(super) check: Option<Check>,
    /// The fields of the command.
    #[serde(flatten)]
    pub(super) fields: Fields,
}

/// The fields of one command.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(untagged)]
pub(super) enum Fields {
    /// `reduce` by one operation, without `--rows` or `--axis`.
    #[cfg_attr(feature = "schema", schemars(extend("dependentRequired" = { "ranks": ["transport"], "transport": ["ranks"] })))]
    Reduce {
        /// The operation.
        op: String,
        /// The result.
        result: Number,
        /// The element at the index that is the result.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Number"))]
        value: Option<Number>,
        /// The exact sum, if it wrapped around in 64 bits. Otherwise null.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(regex(pattern = "^-?[0-9]+$")))]
        exact: Option<Option<String>>,
        /// With `--ranks`: the number of ranks.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "u32", range(min = 1)))]
        ranks: Option<u32>,
        /// With `--ranks`: the transport of their results.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "String", extend("enum" = ["tcp", "nccl"])))]
        transport: Option<&'static str>,
    },
    /// `reduce` by several operations.
    Several {
        /// The operations, separated by commas.
        #[cfg_attr(feature = "schema", schemars(regex(pattern = ",")))]
        op: String,
        /// A result of each.
        results: Vec<Reduced>,
    },
    /// `reduce` with `--rows` or `--axis`.
    Rows {
        /// The operation.
        op: String,
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
        /// A result for each row. Null if they are in a file.
        results: Option<Vec<Number>>,
        /// The rows whose sums wrapped around in 64 bits.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<Wrapped>"))]
        wrapped: Option<Vec<Wrapped>>,
        /// The file that was written. Null if none was.
        output: Option<String>,
    },
    /// `scan`.
    Scan {
        /// The operation.
        op: String,
        /// The file that was written. Null if none was.
        output: Option<String>,
    },
    /// `select`.
    Select {
        /// The operation.
        #[cfg_attr(feature = "schema", schemars(extend("enum" = ["select", "partition", "unique"])))]
        op: &'static str,
        /// The condition. Null with `--unique`.
        #[serde(rename = "where")]
        condition: Option<String>,
        /// Number of elements that were kept.
        kept: usize,
        /// The file that was written. Null if none was.
        output: Option<String>,
        /// The file of all other elements.
        #[serde(skip_serializing_if = "Option::is_none")]
        partition: Option<Option<String>>,
        /// The file of the indices.
        #[serde(skip_serializing_if = "Option::is_none")]
        positions: Option<Option<String>>,
        /// The file of the lengths of the runs.
        #[serde(skip_serializing_if = "Option::is_none")]
        counts: Option<Option<String>>,
    },
    /// `segments`.
    Segments {
        /// The operation.
        op: String,
        /// Number of segments.
        segments: usize,
        /// A result for each segment. Null if they are in a file.
        results: Option<Vec<Number>>,
        /// The file that was written. Null if none was.
        output: Option<String>,
    },
    /// `group`.
    Group {
        /// The operation.
        op: String,
        /// Number of groups.
        groups: usize,
        /// The groups, unless there are files.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<Grouped>"))]
        results: Option<Vec<Grouped>>,
        /// The file of the results. Null if none was written.
        output: Option<String>,
        /// The file of the keys.
        #[serde(skip_serializing_if = "Option::is_none")]
        keys: Option<Option<String>>,
        /// The file of the counts.
        #[serde(skip_serializing_if = "Option::is_none")]
        counts: Option<Option<String>>,
    },
    /// `sort`.
    Sort {
        /// The operation.
        #[cfg_attr(feature = "schema", schemars(extend("enum" = ["sort", "argsort"])))]
        op: &'static str,
        /// The file that was written. Null if none was.
        output: Option<String>,
    },
    /// `unique`.
    Unique {
        /// The operation.
        #[cfg_attr(feature = "schema", schemars(extend("const" = "unique")))]
        op: &'static str,
        /// Number of distinct values.
        distinct: usize,
        /// The values, unless there are files.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<Value>"))]
        values: Option<Vec<Value>>,
        /// The file of the values. Null if none was written.
        output: Option<String>,
        /// The file of the counts.
        #[serde(skip_serializing_if = "Option::is_none")]
        counts: Option<Option<String>>,
        /// The file of the indices.
        #[serde(skip_serializing_if = "Option::is_none")]
        indices: Option<Option<String>>,
    },
    /// `top`.
    Top {
        /// The operation.
        #[cfg_attr(feature = "schema", schemars(extend("const" = "top")))]
        op: &'static str,
        /// Number of elements that were selected.
        k: usize,
        /// The elements and their indices, unless they are in files.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<AtIndex>"))]
        elements: Option<Vec<AtIndex>>,
        /// The file of the elements. Null if none was written.
        output: Option<String>,
        /// The file of the indices.
        #[serde(skip_serializing_if = "Option::is_none")]
        indices: Option<Option<String>>,
    },
    /// `quantile`.
    #[cfg_attr(feature = "schema", schemars(extend("anyOf" = [{ "required": ["quantiles"] }, { "required": ["output"] }])))]
    Quantile {
        /// The operation.
        #[cfg_attr(feature = "schema", schemars(extend("const" = "quantile")))]
        op: &'static str,
        /// The method.
        method: &'static str,
        /// The quantiles, unless they are in a file.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<Quantile>"))]
        quantiles: Option<Vec<Quantile>>,
        /// The file that was written. Null if none was.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<Option<String>>,
    },
    /// `histogram`.
    Histogram {
        /// The operation.
        #[cfg_attr(feature = "schema", schemars(extend("const" = "histogram")))]
        op: &'static str,
        /// Number of bins.
        #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
        bins: usize,
        /// The first edge, or with `--numbers` the first integer.
        low: Number,
        /// The last edge, or with `--numbers` the last integer.
        high: Number,
        /// Number of elements in no bin.
        outside: u64,
        /// Number of elements in each bin, unless they are in a file or have weights.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<u64>"))]
        counts: Option<Vec<u64>>,
        /// The sum of the weights in each bin, unless they are in a file.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<Number>"))]
        sums: Option<Vec<Number>>,
        /// The file that was written. Null if none was.
        output: Option<String>,
    },
    /// `describe`.
    Describe {
        /// The operation.
        #[cfg_attr(feature = "schema", schemars(extend("const" = "describe")))]
        op: &'static str,
        /// The number that is subtracted from the count in the divisor of `std`.
        ddof: u64,
        /// Number of elements that are not NaN.
        count: u64,
        /// Number of elements that are NaN.
        nan: u64,
        /// The mean. Null if there are no numbers.
        mean: Option<Number>,
        /// The standard deviation. Null if there are no more numbers than `ddof`.
        std: Option<Number>,
        /// The minimum. Null if there are no numbers.
        min: Option<Number>,
        /// The maximum. Null if there are no numbers.
        max: Option<Number>,
        /// The sum. Rounded to f64 if it is an integer that needs more than 64 bits.
        sum: Number,
        /// The exact sum, if it needs more than 64 bits. Otherwise null.
        #[cfg_attr(feature = "schema", schemars(regex(pattern = "^-?[0-9]+$")))]
        exact: Option<String>,
    },
    /// `range-sum`.
    RangeSum {
        /// The operation.
        #[cfg_attr(feature = "schema", schemars(extend("const" = "range-sum")))]
        op: &'static str,
        /// Number of ranges.
        queries: usize,
        /// Number of sums with less than three certain digits.
        uncertain: usize,
        /// The file that was written. Null if none was.
        output: Option<String>,
    },
    /// `kendall`.
    Kendall {
        /// The operation.
        #[cfg_attr(feature = "schema", schemars(extend("const" = "kendall")))]
        op: &'static str,
        /// Tau-b.
        tau: Number,
        /// Concordant pairs.
        concordant: u64,
        /// Discordant pairs.
        discordant: u64,
        /// Pairs that are equal in the first array only.
        ties_x: u64,
        /// Pairs that are equal in the second array only.
        ties_y: u64,
        /// Pairs that are equal in both.
        ties_both: u64,
    },
}

/// The result of one of several operations.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub(super) struct Reduced {
    /// The operation.
    pub(super) op: String,
    /// The result.
    pub(super) result: Number,
    /// The element at the index that is the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Number"))]
    pub(super) value: Option<Number>,
    /// The exact sum, if it wrapped around in 64 bits. Otherwise null.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^-?[0-9]+$")))]
    pub(super) exact: Option<Option<String>>,
    /// The result of `--check`. Null without it.
    pub(super) check: Option<Check>,
}

/// A group of elements with equal keys.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub(super) struct Grouped {
    /// Its key.
    pub(super) key: Number,
    /// Number of elements.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub(super) count: u64,
    /// The result.
    pub(super) result: Number,
}

/// A value of an array.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub(super) struct Value {
    /// The first element with the value.
    pub(super) element: Number,
    /// Number of elements with the value.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub(super) count: u64,
    /// The index of the first one.
    pub(super) index: u64,
}

/// An element that was selected.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub(super) struct AtIndex {
    /// Its index.
    pub(super) index: u64,
    /// The element.
    pub(super) element: Number,
}

/// A quantile.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub(super) struct Quantile {
    /// The share of the elements, from 0 to 1.
    pub(super) q: f64,
    /// The quantile. NaN if an element is NaN.
    pub(super) value: Number,
}

/// The sum of a row that wrapped around in 64 bits.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub(super) struct Wrapped {
    /// The index of the row.
    pub(super) row: usize,
    /// The exact sum.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^-?[0-9]+$")))]
    pub(super) exact: String,
}

/// The result of a check.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(untagged)]
pub(super) enum Check {
    /// One result, or the worst of many.
    Result {
        /// Its index, if there are many.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "usize"))]
        at: Option<usize>,
        /// The reference.
        reference: Number,
        /// The distance from the reference.
        abs_err: Number,
        /// The bound of the distance.
        bound: Number,
        /// Whether the result is right.
        ok: bool,
    },
    /// Rows.
    Rows {
        /// Number of wrong rows.
        wrong_rows: usize,
        /// The largest distance of a row from its reference.
        abs_err: Number,
        /// Whether all rows are right.
        ok: bool,
    },
    /// An array that is right or wrong as a whole.
    Whole {
        /// Whether it is right.
        ok: bool,
    },
}
