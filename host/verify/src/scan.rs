//! Cases of the scan.

use super::kind::{Cases, Kind, Primitive, Size};
use super::{CaseError, Input, OnCpu, Sample, Widen, same_bits, sample, wrong};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use gridsync::device::{Buffer, Device, DeviceError, Geometry};
use gridsync::primitives::scan::{Form, Scanner, scan_on_cpu};
use gridsync::primitives::{ScanCheck, ScanChecked};
use gridsync::reference;
use gridsync_entries::scan::{Arguments, BulkCommon, Common, Scannable};
use gridsync_entries::{KernelOf, name_of};
use gridsync_kernels::grid::scan::{STATE, Shape, most_rows};
use gridsync_kernels::op::Carried;
use std::any::type_name;
use std::fmt::Debug;

/// Both forms.
const FORMS: [Form; 2] = [Form::Inclusive, Form::Exclusive];

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
    unsafe { device.launch::<KernelOf<O, Common<O>>>(&geometry, args)? };
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
        Some(ScanCheck { at, check }) => {
            let result = format_args!("{:?} at {at}", results[at]);
            Err(wrong(case, &result, &check.reference, [check.abs_err, check.bound]))
        }
    }
}

/// A scan.
struct Scan<O> {
    op: O,
    input: Input,
}

impl<O> Scan<O>
where
    O: Scannable<Element: Pod + Sample, Output: Pod + Debug> + ScanChecked,
{
    /// Scans `len` elements in both forms and twice in one workspace.
    fn whole(&self, device: &Device, len: usize, seed: u64) -> Result<(), CaseError> {
        let op = self.op;
        let host = sample::<O::Element>(self.input, len, seed);
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
            same_bits(&case, "a second run gives", &run(&mut output)?, &results)?;
            same_bits(&case, "the CPU gives", &reference::scan(op, &host, form), &results)?;
        }
        Ok(())
    }

    /// Scans three groups of tiles.
    fn in_groups(&self, device: &Device, rows: u32, seed: u64) -> Result<(), CaseError> {
        let op = self.op;
        let of = |len| Shape::with::<O::Element>(len, 2, rows, 4);
        let len = 9 * of(0).tile::<O::Element>() + 1;
        let (shape, host) = (of(len), sample::<O::Element>(self.input, len, seed));
        for form in FORMS {
            let case = format!("{form:?} {} in {shape:?}", type_name::<O>());
            let results = scan_in_shape(op, device, shape, &host, form)?;
            let depth = shape.depth::<O::Element>().into();
            is_within_its_bound(&case, op, &host, &results, form, depth)?;
            let on_the_cpu = reference::scan_in(op, shape, &host, form);
            same_bits(&case, "the CPU gives", &on_the_cpu, &results)?;
        }
        Ok(())
    }
}

impl<O> Cases for Scan<O>
where
    O: Scannable<Element: Pod + Sample + Widen, Output: Pod + Debug + Widen> + ScanChecked,
{
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        match size {
            Size::Array(len) => self.whole(device, len, seed),
            Size::Groups(rows) => self.in_groups(device, rows, seed),
            other => Err(other.mismatch()),
        }
    }

    fn on_cpu(&self, size: Size, seed: u64, form: Form) -> Result<OnCpu, CaseError> {
        let Size::Array(len) = size else { return Err(size.mismatch()) };
        let input = sample::<O::Element>(self.input, len, seed);
        let results = scan_on_cpu(self.op, &input, form);
        Ok(OnCpu::of(&input, results, reference::scan_depth::<O>(len)))
    }
}

/// The kind of the scan by `op`.
pub(super) fn kind<O>(names: (&'static str, &'static str), op: O, input: Input) -> Kind
where
    O: Scannable<Element: Pod + Sample + Widen, Output: Pod + Debug + Widen> + ScanChecked,
{
    let tile = Shape::of::<O::Element, O::Accumulator>(1).tile::<O::Element>();
    let kernels = &[KernelOf::<O, Common<O>>::NAME];
    let cases = Scan { op, input };
    Kind {
        bulk: name_of::<O, BulkCommon<O>>(),
        most_rows: most_rows::<O::Element, O::Accumulator>(),
        ..Kind::of::<O::Element, O::Output>(Primitive::Scan, names, kernels, tile, cases)
    }
}
