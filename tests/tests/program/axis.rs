//! `--axis` of `reduce`, `scan`, `sort` and `top`: lines along any dimension, compared with a plain
//! loop.

use crate::call::WRONG_USAGE;
use crate::folder::Folder;
use gridsync_tests::devices::with_cuda;
use gridsync_tests::npy;
use gridsync_tests::oracle::Plain;

/// Dimensions that share no factor with a tile, and are longer than a tile of a transpose.
const SHAPE: [usize; 3] = [33, 37, 35];

/// Indices of the elements of each line along dimension `axis`, for all lines, in C order of the
/// other dimensions.
fn lines(axis: usize) -> Vec<Vec<usize>> {
    let apart: usize = SHAPE[axis + 1..].iter().product();
    let all: usize = SHAPE.iter().product();
    let first = (0..all).filter(|at| (at / apart).is_multiple_of(SHAPE[axis]));
    first.map(|at| (0..SHAPE[axis]).map(|step| at + step * apart).collect()).collect()
}

/// Elements that differ between neighbours.
fn elements() -> Vec<i32> {
    (0..SHAPE.iter().product::<usize>() as i32).map(|at| at * 7919 % 10_007 - 5000).collect()
}

/// A shape as written in a header.
fn shape(dimensions: &[usize]) -> String {
    let dimensions: Vec<_> = dimensions.iter().map(usize::to_string).collect();
    format!("({})", dimensions.join(", "))
}

fn folder() -> Folder {
    Folder::new().with("x.npy", npy::shaped(&shape(&SHAPE), &elements()))
}

/// Calls the program with every way to name each dimension, on every device. The result is in
/// `out.npy`.
fn each_axis(line: &str, expected: impl Fn(usize) -> Vec<u8>) {
    let folder = folder();
    for axis in 0..SHAPE.len() {
        let expected = expected(axis);
        let is_right = |device: &str, named: String| {
            let line = format!("{line} --axis {named} --device {device} --check --json");
            let args: Vec<_> = line.split(' ').collect();
            let json = match device {
                "cuda" => folder.gridsync(&args, b"").json(),
                _ => folder.call(&args, b"").json(),
            };
            assert_eq!(json["check"]["ok"], true, "{line}: {json}");
            assert!(folder.read("out.npy") == expected, "{line}: other bytes");
        };
        for device in ["cpu", "emulator"] {
            is_right(device, axis.to_string());
        }
        is_right("cpu", (axis as i64 - SHAPE.len() as i64).to_string());
        with_cuda(|_| is_right("cuda", axis.to_string()));
    }
}

/// The file with the result of `of` for each line.
fn reduced<T: Plain>(axis: usize, of: impl Fn(Vec<i32>) -> T) -> Vec<u8> {
    let mut rest = SHAPE.to_vec();
    rest.remove(axis);
    let elements = elements();
    let results: Vec<T> =
        lines(axis).iter().map(|line| of(line.iter().map(|&at| elements[at]).collect())).collect();
    npy::shaped(&shape(&rest), &results)
}

#[test]
fn sums_have_the_shape_without_the_dimension() {
    each_axis("reduce x.npy --op sum -o out.npy", |axis| {
        reduced(axis, |line| line.into_iter().map(i64::from).sum::<i64>())
    });
}

#[test]
fn lines_along_several_dimensions_have_the_elements_in_c_order() {
    let (folder, elements) = (folder(), elements());
    let at = |index: [usize; 3]| elements[(index[0] * SHAPE[1] + index[1]) * SHAPE[2] + index[2]];
    // The sum, and the index of the maximum, which shows the order.
    let of = |axes: &[usize]| {
        let kept: Vec<usize> = (0..3).filter(|axis| !axes.contains(axis)).collect();
        let places = |axes: &[usize]| {
            let mut places = vec![[0; 3]];
            for &axis in axes {
                let along = |place: [usize; 3]| {
                    (0..SHAPE[axis]).map(move |i| {
                        let mut next = place;
                        next[axis] = i;
                        next
                    })
                };
                places = places.into_iter().flat_map(along).collect();
            }
            places
        };
        let line = |start: [usize; 3]| -> Vec<i32> {
            let moved = places(axes).into_iter();
            moved.map(|place| at(std::array::from_fn(|axis| place[axis] + start[axis]))).collect()
        };
        let lines: Vec<_> = places(&kept).into_iter().map(line).collect();
        let sums: Vec<i64> =
            lines.iter().map(|line| line.iter().map(|&x| i64::from(x)).sum()).collect();
        let first = |line: &Vec<i32>| {
            let max = line.iter().max().expect("a line has elements");
            line.iter().position(|x| x == max).expect("it is there") as u64
        };
        let of_kept: Vec<usize> = kept.iter().map(|&axis| SHAPE[axis]).collect();
        let shape = match of_kept[..] {
            [] => "()".to_owned(),
            [one] => format!("({one},)"),
            _ => shape(&of_kept),
        };
        let indices: Vec<u64> = lines.iter().map(first).collect();
        (npy::shaped(&shape, &sums), npy::shaped(&shape, &indices))
    };
    for (named, axes) in [
        ("0,2", &[0, 2][..]),
        ("2,0", &[0, 2]),
        ("-3,-1", &[0, 2]),
        ("0,1", &[0, 1]),
        ("1,-1", &[1, 2]),
        ("0,1,2", &[0, 1, 2]),
    ] {
        let (sums, indices) = of(axes);
        for (op, expected) in [("sum", &sums), ("argmax", &indices)] {
            for more in [&["--device", "emulator"][..], &["--device", "cpu"], &["--part", "5000"]] {
                let args = ["reduce", "x.npy", "--op", op, "--axis", named, "-o", "out.npy"];
                folder.call(&[&args[..], &["--check", "-q"], more].concat(), b"").succeeds();
                assert!(folder.read("out.npy") == **expected, "{op} along {named} {more:?}");
            }
        }
    }
}

#[test]
fn an_argmax_is_the_index_in_its_line() {
    each_axis("reduce x.npy --op argmax -o out.npy", |axis| {
        reduced(axis, |line| {
            let greatest = line.iter().max();
            line.iter().position(|x| Some(x) == greatest).unwrap_or(0) as u64
        })
    });
}

#[test]
fn scans_keep_the_shape() {
    each_axis("scan x.npy --op sum -o out.npy", |axis| {
        let elements = elements();
        let mut sums = vec![0i64; elements.len()];
        for line in lines(axis) {
            let mut sum = 0;
            for at in line {
                sum += i64::from(elements[at]);
                sums[at] = sum;
            }
        }
        npy::shaped(&shape(&SHAPE), &sums)
    });
}

/// The elements and the places in the array of each line along dimension `axis`, in order, and the
/// indices in the line.
fn sorted_lines(axis: usize, is_descending: bool) -> Vec<Vec<(i32, usize, i64)>> {
    let elements = elements();
    let sorted = |line: Vec<usize>| {
        let with_indices = line.iter().zip(0..).map(|(&at, index)| (elements[at], at, index));
        let mut sorted: Vec<_> = with_indices.collect();
        sorted.sort_by_key(
            |&(element, ..)| {
                if is_descending { -i64::from(element) } else { element.into() }
            },
        );
        sorted
    };
    lines(axis).into_iter().map(sorted).collect()
}

#[test]
fn sorts_keep_the_shape_and_indices_are_those_in_the_line() {
    each_axis("sort x.npy -o out.npy --descending", |axis| {
        let mut expected = vec![0; elements().len()];
        for (line, sorted) in lines(axis).iter().zip(sorted_lines(axis, true)) {
            line.iter().zip(sorted).for_each(|(&at, (element, ..))| expected[at] = element);
        }
        npy::shaped(&shape(&SHAPE), &expected)
    });
    each_axis("sort x.npy -o out.npy --argsort", |axis| {
        let mut expected = vec![0; elements().len()];
        for (line, sorted) in lines(axis).iter().zip(sorted_lines(axis, false)) {
            line.iter().zip(sorted).for_each(|(&at, (.., index))| expected[at] = index);
        }
        npy::shaped(&shape(&SHAPE), &expected)
    });
}

#[test]
fn the_first_elements_of_each_line_replace_its_dimension() {
    const K: usize = 5;
    let first = |axis: usize| {
        let apart: usize = SHAPE[axis + 1..].iter().product();
        let mut shape_of_k = SHAPE;
        shape_of_k[axis] = K;
        let len = shape_of_k.iter().product();
        let (mut elements, mut indices) = (vec![0; len], vec![0; len]);
        for (line, sorted) in lines(axis).iter().zip(sorted_lines(axis, true)) {
            // The place of the line's first element among those of all lines.
            let block = line[0] / (apart * SHAPE[axis]) * apart * K + line[0] % apart;
            for (rank, (element, _, index)) in sorted.into_iter().take(K).enumerate() {
                elements[block + rank * apart] = element;
                indices[block + rank * apart] = index;
            }
        }
        [npy::shaped(&shape(&shape_of_k), &elements), npy::shaped(&shape(&shape_of_k), &indices)]
    };
    let line = format!("top x.npy -k {K}");
    each_axis(&format!("{line} -o out.npy --indices at.npy"), |axis| {
        let [elements, _] = first(axis);
        elements
    });
    each_axis(&format!("{line} --indices out.npy"), |axis| {
        let [_, indices] = first(axis);
        indices
    });
}

#[test]
fn columns_in_fortran_order_are_read_in_place() {
    let header = npy::header("<i4", true, "(2, 3)");
    let columns: Vec<u8> = [1i32, 4, 2, 5, 3, 6].iter().flat_map(|x| x.to_le_bytes()).collect();
    let folder = Folder::new().with("x.npy", npy::raw(&header, &columns));
    let line = "reduce x.npy --op sum --axis 0 --quiet";
    let printed = folder.call(&line.split(' ').collect::<Vec<_>>(), b"").succeeds().stdout;
    assert_eq!(printed, "5\n7\n9\n");
}

#[test]
fn arrays_without_elements_give_empty_sums() {
    let folder = Folder::new().with("x.npy", npy::shaped::<f32>("(0, 3)", &[]));
    let call = |line: &str| folder.call(&line.split(' ').collect::<Vec<_>>(), b"");
    let printed = call("reduce x.npy --op sum --axis 0 --quiet").succeeds().stdout;
    assert_eq!(printed, "-0.0\n-0.0\n-0.0\n");
    let says = ["min of no elements", "each of 3 lines of 0 along axis 0"];
    call("reduce x.npy --op min --axis 0").fails(WRONG_USAGE, &says);
    call("scan x.npy --op sum --axis 0 -o out.npy").succeeds();
    assert!(folder.read("out.npy") == npy::shaped::<f32>("(0, 3)", &[]));
    for (line, shape) in [
        ("sort x.npy --axis 0 -o out.npy --check", "(0, 3)"),
        ("sort x.npy --rows -o out.npy --check", "(0, 3)"),
        ("top x.npy -k 2 --rows -o out.npy --check", "(0, 2)"),
        ("top x.npy -k 0 --axis 0 -o out.npy --check", "(0, 3)"),
    ] {
        for device in ["cpu", "emulator"] {
            call(&format!("{line} --device {device}")).succeeds();
            let none = npy::shaped::<f32>(shape, &[]);
            assert!(folder.read("out.npy") == none, "{line} on {device}");
        }
    }
}

#[test]
fn the_maximum_of_no_elements_is_an_error_even_of_no_lines() {
    let folder = Folder::new()
        .with("none.npy", npy::shaped::<f32>("(0, 0)", &[]))
        .with("x.npy", npy::shaped::<f32>("(5, 0, 3)", &[]));
    let call = |line: &str| folder.call(&line.split(' ').collect::<Vec<_>>(), b"");
    let lines = "each of 0 lines of 0 along axis 0";
    for op in ["max", "argmin"] {
        call(&format!("reduce none.npy --op {op} --axis 0")).fails(WRONG_USAGE, &[op, lines]);
    }
    call("reduce none.npy --op mean --axis 0").succeeds();
    call("reduce x.npy --op max --axis 0 -o out.npy").succeeds();
    assert!(folder.read("out.npy") == npy::shaped::<f32>("(0, 3)", &[]));
    let lines = "each of 15 lines of 0 along axis 1";
    call("reduce x.npy --op mean --axis 1").fails(WRONG_USAGE, &[lines]);
}

#[test]
fn parts_of_lines_give_the_bytes_of_the_whole() {
    // Longer than a run of the tree of a column, so a part has several rows.
    let values: Vec<f32> = (0..3001 * 7).map(|at| (at as f32 * 0.7).sin()).collect();
    let folder = Folder::new()
        .with("x.npy", npy::shaped("(3001, 7)", &values))
        .with("y.npy", npy::shaped("(7, 3001)", &values));
    let reduce = |line: &str, more: &str| {
        let line = format!("{line} -o out.npy --json{more}");
        let json = folder.call(&line.split(' ').collect::<Vec<_>>(), b"").json();
        (folder.read("out.npy"), json["part"].clone())
    };
    for (line, part, taken) in [
        ("reduce x.npy --op sum --axis 0 --device cpu", 100, 7168),
        ("reduce x.npy --op sum --axis 0 --device cpu", 15_000, 14_336),
        ("reduce x.npy --op argmax --axis 0 --device cpu", 100, 98),
        ("reduce x.npy --op sum --rows --device cpu", 100, 98),
        ("reduce x.npy --op sum --rows --check --device emulator", 100, 98),
        // A row of up to 4 MiB is not split.
        ("reduce y.npy --op argmax --rows --check --device cpu", 100, 3001),
        ("reduce y.npy --op argmax --rows --check --device emulator", 1000, 3001),
        ("reduce y.npy --op mean --rows --device cpu", 7000, 6002),
        ("scan x.npy --op sum --rows --device cpu", 9000, 8192),
        ("scan x.npy --op max --axis 0 --device cpu", 100, 98),
    ] {
        let (whole, _) = reduce(line, "");
        let (parts, part_taken) = reduce(line, &format!(" --part {part}"));
        assert!(parts == whole, "{line} --part {part}: other bytes");
        assert_eq!(part_taken, taken, "{line} --part {part}");
    }
}

#[test]
fn a_missing_dimension_is_refused_with_the_existing_ones() {
    let folder = folder().with("number.npy", npy::shaped("()", &[0f32]));
    for (line, says) in [
        ("reduce x.npy --op sum --axis 3", "--axis 3 is not one of the 3 dimensions"),
        ("reduce x.npy --op sum --axis 0,3", "--axis 3 is not one of the 3 dimensions"),
        ("reduce x.npy --op sum --axis 0,-3", "--axis 0,-3 names a dimension twice"),
        ("reduce x.npy --op sum --axis 0,x", "\"x\" is not the number of a dimension"),
        ("scan x.npy --op sum -o out.npy --axis 0,1", "--axis has several dimensions"),
        ("reduce x.npy --op sum --axis -4", "use 0 to 2, or -3 to -1"),
        ("scan x.npy --op sum -o out.npy --axis 9223372036854775807", "[33, 37, 35]"),
        ("scan x.npy --op sum -o out.npy --axis -9223372036854775808", "[33, 37, 35]"),
        ("reduce number.npy --op sum --axis 0", "but this one has none"),
        ("sort x.npy -o out.npy --axis 3", "--axis 3 is not one of the 3 dimensions"),
        ("sort number.npy -o out.npy --rows", "but this one has none"),
        ("top x.npy -k 36 --rows -o out.npy", "the first 36 of 35 elements do not exist"),
        ("top x.npy -k 4 --rows", "--rows prints nothing: name a file"),
        ("top x.npy -k 4 --rows --by-index -o out.npy", "cannot be used with"),
        ("reduce x.npy --op sum --axis 0 --rows", "cannot be used with"),
        ("scan x.npy --op xor --axis 0 -o out.npy", "--axis scans by sum min max, not by xor"),
    ] {
        folder.call(&line.split(' ').collect::<Vec<_>>(), b"").fails(WRONG_USAGE, &[says]);
    }
}
