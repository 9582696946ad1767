//! Cases of the scan.

use super::reduce::short_name;
use super::{CaseError, Kind, OnCpu, Sample, Widen, sample};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync::primitives::scan::{Form, Scanner, scan_on_cpu};
use gridsync::primitives::{ScanCheck, ScanChecked};
use gridsync::reference;
use gridsync_entries::scan::{Arguments, Scannable};
use gridsync_kernels::grid::scan::{STATE, Shape, most_rows};
use gridsync_kernels::op::{And, Carried, Count, Max, Min, Operation, Or, Product, Sum, Xor};
use std::any::type_name;
use std::fmt::Debug;

/// Scans `len` sampled elements by `op`, in both forms and twice in one workspace, and checks all
/// results. The kind of the sample suits `op`.
///
/// # Errors
/// [`CaseError::Wrong`] if a result differs from the true one by more than its bound, or if the two
/// runs and the CPU differ in any bit; or if the device fails.
pub fn scan_case<O>(
    op: O,
    device: &Device,
    inputs: Kind,
    len: usize,
    seed: u64,
) -> Result<(), CaseError>
where
    O: Scannable + ScanChecked,
    O::Element: Pod + Sample,
    O::Output: Pod + Debug,
{
    let host = sample::<O::Element>(inputs, len, seed);
    let input = device.upload(&host)?;
    let mut output = device.alloc(len)?;
    let mut scanner = Scanner::new(op, device, len)?;
    for form in FORMS {
        let case = format!("{form:?} {} of {len} elements, seed {seed}", type_name::<O>());
        let mut run = |output: &mut Buffer<O::Output>| {
            scanner.launch(&input, output, form)?;
            output.download()
        };
        let results = run(&mut output)?;
        let depth = reference::scan_depth::<O>(len);
        is_within_its_bound(&case, op, &host, &results, form, depth)?;
        same_bits(&case, &results, "a second run", &run(&mut output)?)?;
        let on_the_cpu = reference::scan(op, &host, form);
        same_bits(&case, &results, "the CPU", &on_the_cpu)?;
    }
    Ok(())
}

/// Both forms.
const FORMS: [Form; 2] = [Form::Inclusive, Form::Exclusive];

/// Scans three groups of four tiles, in blocks of two warps of `rows` rows, and checks all results.
/// The last group has only one tile, with one element.
///
/// # Errors
/// As for [`scan_case`].
pub fn scan_in_groups_case<O>(
    op: O,
    device: &Device,
    inputs: Kind,
    rows: u32,
) -> Result<(), CaseError>
where
    O: Scannable + ScanChecked,
    O::Element: Pod + Sample,
    O::Output: Pod + Debug,
{
    let of = |len| Shape::with::<O::Element>(len, 2, rows, 4);
    let len = 9 * of(0).tile::<O::Element>() + 1;
    let (shape, host) = (of(len), sample::<O::Element>(inputs, len, 9));
    for form in FORMS {
        let case = format!("{form:?} {} in {shape:?}", type_name::<O>());
        let results = scan_in_shape(op, device, shape, &host, form)?;
        let depth = shape.depth::<O::Element>().into();
        is_within_its_bound(&case, op, &host, &results, form, depth)?;
        let on_the_cpu = reference::scan_in(op, shape, &host, form);
        same_bits(&case, &results, "the CPU", &on_the_cpu)?;
    }
    Ok(())
}

/// Scans `host` on `device` in any shape for its length, in a separate workspace.
///
/// # Errors
/// If the device fails.
///
/// # Panics
/// If `shape` is for another length.
pub fn scan_in_shape<O>(
    op: O,
    device: &Device,
    shape: Shape,
    host: &[O::Element],
    form: Form,
) -> Result<Vec<O::Output>, DeviceError>
where
    O: Scannable<Element: Pod, Output: Pod>,
{
    let of_host = Shape::with::<O::Element>(host.len(), shape.warps, shape.rows, shape.group);
    assert_eq!(shape, of_host, "{} elements", host.len());
    let input = device.upload(host)?;
    let output = device.alloc(host.len())?;
    let words = device.zeroed::<u64>(shape.places() * O::Accumulator::WORDS)?;
    let state = device.zeroed::<u32>(STATE)?;
    let args = op.arguments(Arguments {
        input: input.view(),
        output: output.view(),
        words: words.view(),
        state: state.view(),
        rows: shape.rows,
        group: shape.group,
        mode: form as u32,
    });
    let geometry = Geometry::new(shape.tiles, shape.threads());
    // SAFETY: the shape fits the input's length, the grid fits the shape, and the workspace is new.
    // All outlive the launch, because the download waits for it.
    unsafe { device.launch::<O::Kernel>(&geometry, args)? };
    output.download()
}

/// Ok if all results are within their bounds of the true ones.
fn is_within_its_bound<O: ScanChecked<Output: Debug>>(
    case: &str,
    op: O,
    host: &[O::Element],
    results: &[O::Output],
    form: Form,
    depth: u64,
) -> Result<(), CaseError> {
    let check = op.check_scan(host, results, form, depth);
    match check.filter(|scan| !scan.check.ok) {
        None => Ok(()),
        Some(ScanCheck { at, check }) => Err(CaseError::Wrong(format!(
            "{case}: {:?} at {at}, the reference says {:?}; they differ by {:e}, allowed {:e}",
            results[at], check.reference, check.abs_err, check.bound
        ))),
    }
}

/// Ok if `others`, described by `what`, are bit-identical.
fn same_bits<A: Pod + Debug>(
    case: &str,
    results: &[A],
    what: &str,
    others: &[A],
) -> Result<(), CaseError> {
    match first_difference(results, others) {
        None => Ok(()),
        Some(at) => Err(CaseError::Wrong(format!(
            "{case}: {what} gives {:?} at {at}, not the bits of {:?}",
            others[at], results[at]
        ))),
    }
}

/// The index of the first two values with different bits.
fn first_difference<A: Pod>(one: &[A], other: &[A]) -> Option<usize> {
    one.iter().zip(other).position(|(a, b)| bytemuck::bytes_of(a) != bytemuck::bytes_of(b))
}

/// The CPU's results of `op` for the input of [`scan_case`] with this length and seed.
fn on_cpu<O>(op: O, inputs: Kind, form: Form, len: usize, seed: u64) -> OnCpu
where
    O: Scannable<Element: Sample + Widen, Output: Widen>,
{
    let input = sample::<O::Element>(inputs, len, seed);
    let results = scan_on_cpu(op, &input, form);
    OnCpu::of(&input, results, reference::scan_depth::<O>(len))
}

/// One scan kernel, for running cases over all of them.
#[derive(Clone, Copy)]
pub struct ScanKind {
    /// Its name in the catalogue, such as `sum_f32`.
    pub name: &'static str,
    /// The name of the operation in the program.
    pub op: &'static str,
    /// The element type of the array.
    pub element: &'static str,
    /// The type of the accumulator and of the results.
    pub accumulator: &'static str,
    /// The entry point in the PTX.
    pub kernel: &'static str,
    /// The entry point of the scan by bulk copies, if it exists.
    pub bulk: Option<&'static str>,
    /// Elements per pack of 16 bytes.
    pub pack: usize,
    /// Elements per tile of a small array.
    pub tile: usize,
    /// Rows of a warp in a large array.
    pub most_rows: u32,
    /// [`scan_case`] for this kernel: elements, seed.
    pub case: fn(&Device, usize, u64) -> Result<(), CaseError>,
    /// [`scan_in_groups_case`] for this kernel: rows of a warp.
    pub in_groups: fn(&Device, u32) -> Result<(), CaseError>,
    /// The input of the case, and the CPU's results for it: form, elements, seed.
    pub on_cpu: fn(Form, usize, u64) -> OnCpu,
}

/// The shape of the scan of a small array by `O`.
fn small<O: Operation<Element: Scalar>>() -> Shape {
    Shape::of::<O::Element, O::Accumulator>(1)
}

impl ScanKind {
    fn of<O: Scannable>(
        name: &'static str,
        op: &'static str,
        case: fn(&Device, usize, u64) -> Result<(), CaseError>,
        in_groups: fn(&Device, u32) -> Result<(), CaseError>,
        on_cpu: fn(Form, usize, u64) -> OnCpu,
    ) -> Self {
        Self {
            name,
            op,
            element: short_name::<O::Element>(),
            accumulator: short_name::<O::Output>(),
            kernel: O::Kernel::NAME,
            bulk: O::HAS_BULK.then_some(O::Bulk::NAME),
            pack: O::Element::PACK,
            tile: small::<O>().tile::<O::Element>(),
            most_rows: most_rows::<O::Element, O::Accumulator>(),
            case,
            in_groups,
            on_cpu,
        }
    }
}

/// Every scan of an array that has a kernel, except scans by operations with a parameter and
/// compensated sums.
#[must_use]
pub fn scan_kinds() -> Vec<ScanKind> {
    let mut kinds = Vec::new();
    macro_rules! kind {
        (scan $value:tt (sum_compensated_f32: $($rest:tt)*)) => {};
        (scan $value:tt (sum_compensated_f64: $($rest:tt)*)) => {};
        (scan $value:tt ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $inputs:ident)) => {
            kinds.push(ScanKind::of::<$ty>(
                stringify!($name),
                $op,
                |device, len, seed| scan_case(<$ty>::new(), device, Kind::$inputs, len, seed),
                |device, rows| scan_in_groups_case(<$ty>::new(), device, Kind::$inputs, rows),
                |form, len, seed| on_cpu(<$ty>::new(), Kind::$inputs, form, len, seed),
            ));
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(kind);
    kinds
}
