//! Primitives that run while calls fail, and their expected results.

use super::fake_driver::{LAUNCHES, kernel};
use bytemuck::Pod;
use cuda_std::kernel;
use gridsync::dag::{Dag, Node};
use gridsync::device::cuda::PtxImage;
use gridsync::device::{Device, DeviceError, Geometry, HostBuffer, Launch, Way};
use gridsync::primitives::kendall::{Correlatable, KendallError, Method, kendall_on_cpu};
use gridsync::primitives::range_sum::{RangeSumError, range_sums_on_cpu};
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::reduce_rows::reduce_rows_on_cpu;
use gridsync::primitives::scan::{Design, Form, scan_on_cpu};
use gridsync::primitives::select::{FirstOfRun, Within, positions_on_cpu, select_on_cpu};
use gridsync::primitives::{
    Correlator, Kendall, PartError, PartScanner, PartSelector, RangeSums, Reducer, RowReducer,
    Scanner, Wanted, kendall_in_parts, range_sums_in_parts, select_in_parts,
};
use gridsync_kernels::op::{ArgMin, Indexed, Mean, Sum, WideSum};

/// The kernels that the fake driver runs. It recognizes them by name.
pub(crate) const KERNELS: &[PtxImage] = &[
    PtxImage::text(
        90,
        ptx!("sm_90":
            reduce_sum_f32 reduce_sum_u64 reduce_sum_i64_in_i128 reduce_argmin_f64
            reduce_short_rows_sum_f32 reduce_long_rows_sum_f32 scan_sum_f32 scan_bulk_sum_f32
            scan_sum_i32_in_i64 select_f32 unique_f32 range_sum_f32 range_sum_i64 kendall_pairs_f32
            kendall_place_f32 kendall_order_f64 kendall_rank_f64 kendall_tiles kendall_runs
            kendall_ties_of_keys kendall_ties_of_ranks merge_sort_tiles merge_sort_runs
            sort_one_block_float_32_with_u64 sort_one_block_int_64 rank_take_32 rank_take_64
            unique_u32 histogram_even_f32 a_store
        ),
    ),
    LAUNCHES,
];

/// The result of a primitive, as bytes.
pub(crate) type Bytes = Vec<u8>;

/// A primitive that is ready to run. Each call runs it, or continues after a failure.
pub(crate) type Work = Box<dyn FnMut() -> Result<Bytes, DeviceError>>;

/// A primitive and its expected result. It runs on `P`: one device or several.
pub(crate) struct Scenario<P> {
    pub(crate) name: &'static str,
    pub(crate) begin: fn(&P) -> Result<Work, DeviceError>,
    pub(crate) expected: fn() -> Bytes,
}

pub(crate) fn bytes<T: Pod>(values: &[T]) -> Bytes {
    bytemuck::cast_slice(values).to_vec()
}

/// Numbers with runs of equal values. Their sums are rounded.
pub(crate) fn floats(len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i / 2 * 37) % 101) as f32 * 0.37 - 11.0).collect()
}

pub(crate) fn wide(len: usize) -> Vec<f64> {
    floats(len).into_iter().map(f64::from).collect()
}

pub(crate) fn of_kendall(kendall: &Kendall) -> Bytes {
    let Kendall { discordant, ties_x, ties_y, .. } = kendall;
    bytes(&[kendall.tau.to_bits(), *discordant, *ties_x, *ties_y])
}

pub(crate) fn device_error(error: KendallError) -> DeviceError {
    match error {
        KendallError::Device(error) => error,
        other => panic!("the arrays can be correlated: {other}"),
    }
}

pub(crate) fn part_error(error: PartError) -> DeviceError {
    match error {
        PartError::Device(error) => error,
        PartError::Memory(_) => panic!("{error}"),
    }
}

pub(crate) fn range_error(error: RangeSumError) -> DeviceError {
    match error {
        RangeSumError::Device(error) => error,
        other => panic!("all queries are ranges: {other}"),
    }
}

const QUERIES: [[u64; 2]; 4] = [[0, 1200], [17, 18], [1000, 1199], [3, 3]];
const SUM: Sum<f32> = Sum::new();

pub(crate) const SCENARIOS: &[Scenario<Device>] = &[
    Scenario {
        name: "reduce",
        begin: |device| {
            let input = device.upload(&floats(9000))?;
            let mut sum = Reducer::new(SUM, device)?;
            Ok(Box::new(move || Ok(bytes(&[sum.reduce(&input)?]))))
        },
        expected: || bytes(&[reduce_on_cpu(SUM, &floats(9000))]),
    },
    Scenario {
        name: "a sum of what is copied from pinned memory",
        begin: |device| {
            let mut host = HostBuffer::zeroed(9000 * size_of::<f32>()).expect("it fits");
            host.pin(device)?;
            host.elements_mut().copy_from_slice(&floats(9000));
            let mut input = device.alloc(9000)?;
            let mut sum = Reducer::new(SUM, device)?;
            Ok(Box::new(move || {
                input.copy_from(host.elements())?;
                Ok(bytes(&[sum.reduce(&input)?]))
            }))
        },
        expected: || bytes(&[reduce_on_cpu(SUM, &floats(9000))]),
    },
    Scenario {
        name: "a kernel that launches kernels",
        begin: |device| {
            let (device, word) = (device.clone(), device.zeroed::<u32>(1)?);
            Ok(Box::new(move || {
                let (address, value) = (word.address(), 7u32);
                let args = [(&raw const address).cast(), (&raw const value).cast()];
                let (kernel, geometry) = (kernel("launch_and_store"), Geometry::new(1, 1));
                // SAFETY: the kernel writes a u32 to an address, which is in `word`.
                unsafe { device.backend().launch(&kernel, &geometry, &args) }?;
                Ok(bytes(&word.download()?))
            }))
        },
        expected: || bytes(&[7u32]),
    },
    Scenario {
        name: "argmin",
        begin: |device| {
            let input = device.upload(&wide(9000))?;
            let mut least = Reducer::new(ArgMin::<f64>::new(), device)?;
            let index = |found: Option<Indexed<f64>>| found.map(|x| x.index);
            Ok(Box::new(move || Ok(bytes(&[index(least.reduce(&input)?).unwrap_or(u64::MAX)]))))
        },
        expected: || {
            let found = reduce_on_cpu(ArgMin::<f64>::new(), &wide(9000));
            bytes(&[found.expect("there are elements").index])
        },
    },
    Scenario {
        name: "mean of 64-bit integers",
        begin: |device| {
            let input = device.upload(&[i64::MAX; 3000])?;
            let mut mean = Reducer::new(Mean::<WideSum<i64>>::default(), device)?;
            Ok(Box::new(move || Ok(bytes(&[mean.reduce(&input)?.unwrap_or(0.0)]))))
        },
        expected: || bytes(&[i64::MAX as f64]),
    },
    Scenario {
        name: "a graph of a reduction",
        begin: |device| {
            let (device, input) = (device.clone(), device.upload(&[3u64; 7000])?);
            let mut sum = Reducer::new(Sum::<u64>::new(), &device)?;
            Ok(Box::new(move || {
                let graph = device.record(|| sum.launch(&input))?;
                // SAFETY: the reducer and the input outlive the graph.
                unsafe { graph.launch()? };
                Ok(bytes(&[sum.result()?]))
            }))
        },
        expected: || bytes(&[21_000u64]),
    },
    Scenario {
        name: "a graph of kernels, one stream",
        begin: |device| assembled(device, Way::OneStream),
        expected: || bytes(&STORED),
    },
    Scenario {
        name: "a graph of kernels, streams",
        begin: |device| assembled(device, Way::Streams),
        expected: || bytes(&STORED),
    },
    Scenario {
        name: "a graph of kernels, built",
        begin: |device| assembled(device, Way::Built),
        expected: || bytes(&STORED),
    },
    Scenario {
        name: "a graph of kernels, captured",
        begin: |device| assembled(device, Way::Captured),
        expected: || bytes(&STORED),
    },
    Scenario {
        name: "time",
        begin: |device| {
            let (device, input) = (device.clone(), device.upload(&[3u64; 700])?);
            let mut sum = Reducer::new(Sum::<u64>::new(), &device)?;
            Ok(Box::new(move || {
                let time = device.time(|| sum.launch(&input))?;
                Ok([bytes(&[time]), bytes(&[sum.result()?])].concat())
            }))
        },
        expected: || [bytes(&[1500.0f64]), bytes(&[2100u64])].concat(),
    },
    Scenario {
        name: "rows, short",
        begin: |device| {
            let input = device.upload(&floats(9 * 100))?;
            let mut rows = RowReducer::new(SUM, device, 9, 100)?;
            Ok(Box::new(move || Ok(bytes(&rows.reduce(&input)?))))
        },
        expected: || bytes(&reduce_rows_on_cpu(SUM, &floats(9 * 100), 9, 100)),
    },
    Scenario {
        name: "rows, long",
        begin: |device| {
            let input = device.upload(&floats(2 * 9000))?;
            let mut rows = RowReducer::new(SUM, device, 2, 9000)?;
            Ok(Box::new(move || Ok(bytes(&rows.reduce(&input)?))))
        },
        expected: || bytes(&reduce_rows_on_cpu(SUM, &floats(2 * 9000), 2, 9000)),
    },
    Scenario {
        name: "scan",
        begin: |device| {
            let input = device.upload(&floats(1500))?;
            let mut output = device.alloc(1500)?;
            // It is created for 0 elements, so it has to grow.
            let mut scanner = Scanner::new(SUM, device, 0)?;
            Ok(Box::new(move || {
                scanner.launch(&input, &mut output, Form::Inclusive)?;
                Ok(bytes::<f32>(&output.download()?))
            }))
        },
        expected: || bytes(&scan_on_cpu(SUM, &floats(1500), Form::Inclusive)),
    },
    Scenario {
        name: "scan in parts, of both designs",
        begin: |device| {
            // One of the parts uses bulk copies, so its kernel is loaded in the middle of a scan.
            let lens = [100, 8192, 5];
            let len = lens.iter().sum();
            let input = device.upload(&vec![1.0f32; len])?;
            let mut output = device.alloc::<f32>(len)?;
            let mut scanner = Scanner::new(SUM, device, 0)?.with_design(Design::Bulk)?;
            let mut done = 0;
            Ok(Box::new(move || {
                while done < lens.len() {
                    let start: usize = lens[..done].iter().sum();
                    let part = start..start + lens[done];
                    let form = Form::Exclusive;
                    scanner.launch_next(&input, part.clone(), &mut output, part, form)?;
                    done += 1;
                }
                let sums = output.download()?;
                scanner.end();
                done = 0;
                Ok(bytes(&sums))
            }))
        },
        expected: || {
            let mut sums: Vec<f32> = (0..100 + 8192 + 5).map(|i| i as f32).collect();
            sums[0] = -0.0;
            bytes(&sums)
        },
    },
    Scenario {
        name: "scan through the device",
        begin: |device| {
            let input: Vec<i32> = (0..6000).collect();
            let mut scanner = PartScanner::new(
                Sum::<i32, i64>::new(),
                device,
                // The planned length exceeds the input, so the scan continues from part to part.
                input.len() << 20,
                Form::Inclusive,
                0,
            )
            .map_err(part_error)?;
            let (mut sums, mut done) = (vec![0i64; 6000], 0);
            Ok(Box::new(move || {
                while done < 6000 {
                    let part = done..done + 2000;
                    scanner.next(&input[part.clone()], &mut sums[part]).map_err(part_error)?;
                    done += 2000;
                }
                Ok(bytes(&sums))
            }))
        },
        expected: || {
            let input: Vec<i32> = (0..6000).collect();
            bytes(&scan_on_cpu(Sum::<i32, i64>::new(), &input, Form::Inclusive))
        },
    },
    Scenario {
        name: "select",
        begin: |device| {
            let input = device.upload(&floats(1500))?;
            let within = Within::greater_than(0.0f32);
            Ok(Box::new(move || {
                let kept = gridsync::primitives::select(within, &input)?;
                Ok(bytes(&kept.download()?))
            }))
        },
        expected: || bytes(&select_on_cpu(Within::greater_than(0.0f32), &floats(1500))),
    },
    Scenario {
        name: "unique, through the device",
        begin: |device| {
            let device = device.clone();
            Ok(Box::new(move || {
                let (by, wanted) = (FirstOfRun::<f32>::new(), Wanted::POSITIONS);
                let input = floats(601);
                let found = select_in_parts(by, &device, &input, 250, wanted, |_| ())
                    .map_err(part_error)?;
                Ok(bytes(&found.positions.expect("they were wanted")))
            }))
        },
        expected: || bytes(&positions_on_cpu(FirstOfRun::<f32>::new(), &floats(601))),
    },
    Scenario {
        name: "unique, one part after the other",
        begin: |device| {
            let (by, input) = (FirstOfRun::<f32>::new(), floats(601));
            let mut selector =
                PartSelector::new(by, device, 250, Wanted::default()).map_err(part_error)?;
            let (mut kept, mut done) = (Vec::new(), 0);
            Ok(Box::new(move || {
                while done < input.len() {
                    let end = input.len().min(done + 250);
                    let part = &input[done..end];
                    kept.extend(selector.next(part).map_err(part_error)?.kept);
                    done = end;
                }
                Ok(bytes(&kept))
            }))
        },
        expected: || bytes(&select_on_cpu(FirstOfRun::<f32>::new(), &floats(601))),
    },
    Scenario {
        name: "range sums",
        begin: |device| {
            let input = device.upload(&floats(1200))?;
            let mut sums = RangeSums::<Sum<f32>>::new(device, &input)?;
            Ok(Box::new(move || Ok(bytes(&sums.query(&QUERIES).map_err(range_error)?))))
        },
        expected: || {
            let sums = range_sums_on_cpu(SUM, &floats(1200), &QUERIES);
            bytes(&sums.expect("all are ranges"))
        },
    },
    Scenario {
        name: "range sums, through the device",
        begin: |device| {
            let device = device.clone();
            Ok(Box::new(move || {
                let input = vec![2i32; 1200];
                let op = Sum::<i32, i64>::new();
                let sums = range_sums_in_parts(op, &device, &input, &QUERIES, 1, |_| ());
                Ok(bytes(&sums.map_err(range_error)?))
            }))
        },
        expected: || bytes(&QUERIES.map(|[from, to]| 2 * (to - from))),
    },
    Scenario {
        name: "Kendall by pairs",
        begin: |device| correlates(device, Method::Pairs, floats, 300),
        expected: || correlated(floats, 300),
    },
    Scenario {
        name: "Kendall by sorting",
        begin: |device| correlates(device, Method::Sort, wide, PLACES),
        expected: || correlated(wide, PLACES),
    },
    Scenario {
        name: "Kendall, through the device",
        begin: |device| {
            let device = device.clone();
            Ok(Box::new(move || {
                let (x, y) = (floats(150), backwards(floats, 150));
                let all = kendall_in_parts(&device, &x, &y, 100, |_, _| ());
                Ok(of_kendall(&all.map_err(device_error)?))
            }))
        },
        expected: || correlated(floats, 150),
    },
];

/// Length of the arrays to correlate: more than one tile of the merge sort.
const PLACES: usize = 2100;

/// The fake driver stores `_value` at `_address`.
///
/// # Safety
///
/// The address points to a word.
#[kernel]
unsafe fn a_store(_address: u64, _value: u32) {}

/// Final memory of the graph of kernels.
const STORED: [u32; 3] = [9, 7, 5];

/// Four stores. The last one overwrites the first.
fn assembled(device: &Device, way: Way) -> Result<Work, DeviceError> {
    let words = device.zeroed::<u32>(STORED.len())?;
    let at = |word: u64| words.view().address() + 4 * word;
    let mut dag = Dag::new();
    let stores = [(0, 5), (1, 7), (2, 5), (0, 9)];
    for (id, (word, _)) in stores.into_iter().enumerate() {
        let node = Node::new(format!("store {id}")).writes(at(word)..at(word) + 4);
        dag.add(if id == 3 { node.after(&[0, 1, 2]) } else { node });
    }
    let dag = dag.check().expect("the stores are in an order");
    let launch = |(word, value)| Launch::new::<a_store>(Geometry::new(1, 32), (at(word), value));
    let graph = dag.assemble(device, &stores.map(launch), way)?;
    Ok(Box::new(move || {
        // SAFETY: the words are alive.
        unsafe { graph.launch()? };
        Ok(bytes(&words.download()?))
    }))
}

/// The array to correlate with. It is reversed and rotated: an array that is only reversed would be
/// too regular.
pub(crate) fn backwards<T: Copy>(array: fn(usize) -> Vec<T>, places: usize) -> Vec<T> {
    let mut values = array(places);
    values.reverse();
    values.rotate_left(77);
    values
}

fn correlates<T>(
    device: &Device,
    method: Method,
    array: fn(usize) -> Vec<T>,
    places: usize,
) -> Result<Work, DeviceError>
where
    T: Correlatable,
{
    let (x, y) = (device.upload(&array(places))?, device.upload(&backwards(array, places))?);
    let mut correlator = Correlator::new(device, 0)?.with_method(method);
    Ok(Box::new(move || {
        correlator.launch(&x, &y).map_err(device_error)?;
        Ok(of_kendall(&correlator.result().map_err(device_error)?))
    }))
}

pub(crate) fn correlated<T: Correlatable>(array: fn(usize) -> Vec<T>, places: usize) -> Bytes {
    let all = kendall_on_cpu(&array(places), &backwards(array, places));
    of_kendall(&all.expect("there is no NaN"))
}
