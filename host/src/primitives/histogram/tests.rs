use super::*;
use crate::reference;

/// Numbers from −1 to 2, and some special ones.
fn numbers(len: usize) -> impl Iterator<Item = f64> {
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.0];
    let drawn = (1..=len as u64).map(|i| {
        let x = i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((x ^ x >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11) as f64 / 2f64.powi(53) * 3.0 - 1.0
    });
    special.into_iter().chain(drawn)
}

/// Checks the counts on the CPU and in the emulator against the edges, with elements at all edges.
#[track_caller]
fn is_right<T: Binned>(bins: &Bins<T>, of: impl Fn(f64) -> T) {
    let edges = bins.edge_list();
    let few = edges.iter().take(500).flat_map(|&edge| [edge, edge.next_down(), edge.next_up()]);
    let input: Vec<T> = numbers(3000).chain(few).map(of).collect();
    let wide: Vec<f64> = input.iter().map(|x| x.to_f64()).collect();
    let right = reference::histogram(&edges, &wide);
    assert_eq!(bins.count_on_cpu(&input), right, "{bins:?}");
    let device = Device::emulator();
    let on_device = device.upload(&input).expect("memory");
    let counts = histogram(bins, &on_device).expect("it should launch");
    assert_eq!(counts.download().expect("a download"), right, "{bins:?}");
}

#[test]
fn even_bins_are_those_of_their_edges() {
    for bins in [1, 2, 3, 10, 255, 256, 1000, 5000, 20_000] {
        for (low, high) in [(0.0, 1.0), (-0.3, 0.7), (0.1, 1.9), (-1.0, -0.99)] {
            is_right(&Bins::<f32>::even(low, high, bins).expect("f32 is fine enough"), |x| {
                x as f32
            });
            is_right(&Bins::<f64>::even(low, high, bins).expect("f64 is fine enough"), |x| x);
        }
        is_right(&Bins::even(-500.0, 1500.5, bins).expect("bins"), |x| (x * 1000.0) as i32);
        is_right(&Bins::even(0.0, 2e18, bins).expect("bins"), |x| (x * 1e18) as i64);
        is_right(&Bins::even(0.0, 256.0, bins).expect("bins"), |x| (x * 128.0) as u8);
    }
}

#[test]
fn bins_too_narrow_for_f32_are_found_in_f64_or_by_their_edges() {
    is_right(&Bins::<f32>::even(0.0, 1.0, 1 << 21).expect("bins"), |x| x as f32);
    is_right(&Bins::<f32>::even(1000.0, 1000.0625, 500).expect("bins"), |x| (x + 1000.0) as f32);
}

#[test]
fn any_edges_are_those_of_numpy() {
    let edges = [-2.0, -0.5, 0.0, 1e-9, 0.3, 1.0, 1.5];
    is_right(&Bins::<f32>::edges(&edges).expect("they ascend"), |x| x as f32);
    is_right(&Bins::<f64>::edges(&edges).expect("they ascend"), |x| x);
    is_right(&Bins::edges(&edges).expect("they ascend"), |x| (x * 3.0) as i16);
    for edges in [[-10.0, -5.0], [-5.0, 0.0], [255.0, 256.0], [300.0, 400.0]] {
        is_right(&Bins::edges(&edges).expect("they ascend"), |x| (x * 200.0) as u8);
    }
    let infinite = [f64::NEG_INFINITY, 0.0, f64::INFINITY];
    is_right(&Bins::<f64>::edges(&infinite).expect("they ascend"), |x| x);
}

#[test]
fn numbers_have_a_bin_each() {
    let input: Vec<i8> = (-128..=127).chain([-128, 5, 5]).collect();
    for range in [-128i8..=127, 0..=127, -3..=5, 127..=127] {
        let mut right = vec![0; range.end().abs_diff(*range.start()) as usize + 1];
        for number in input.iter().filter(|number| range.contains(*number)) {
            right[(i16::from(*number) - i16::from(*range.start())) as usize] += 1;
        }
        let bins = Bins::numbers(range).expect("there are bins");
        assert_eq!(bins.count_on_cpu(&input), right);
        let device = Device::emulator();
        let counts = histogram(&bins, &device.upload(&input).expect("memory"));
        assert_eq!(counts.expect("it should launch").download().expect("a download"), right);
    }
}

#[test]
fn bins_that_cannot_be_are_refused() {
    let message = |bins: Result<Bins<f32>, BinsError>| bins.expect_err("refused").to_string();
    assert!(message(Bins::even(0.0, 1.0, 0)).starts_with("0 bins: a histogram has 1 to"));
    assert!(message(Bins::even(1.0, 1.0, 5)).starts_with("bins from 1 to 1"));
    assert!(message(Bins::even(0.0, f64::NAN, 5)).starts_with("bins from 0 to NaN"));
    assert!(message(Bins::even(1.0, 1.0 + 1e-6, 50)).starts_with("edge"), "not 50 f32");
    assert!(message(Bins::edges(&[0.0])).starts_with("0 bins"));
    assert!(message(Bins::edges(&[0.0, 1.0, 1.0])).starts_with("edge 2 is 1 after 1"));
    let numbers = Bins::numbers(0..=u64::MAX).expect_err("too many");
    assert!(numbers.to_string().starts_with("18446744073709551616 bins"));
}
