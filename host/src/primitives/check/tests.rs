//! Tests of the checks.

use super::*;

#[test]
fn a_sum_within_its_bound_passes_and_one_beyond_it_fails() {
    let input = vec![0.1f32; 1000];
    let good = Sum::<f32>::new().check(&input, 100.0, 20);
    assert!(good.ok && good.bound > 0.0, "{good:?}");
    let bad = Sum::<f32>::new().check(&input, 100.1, 20);
    assert!(!bad.ok, "{bad:?}");
}

#[test]
fn an_exact_operation_allows_no_difference() {
    assert!(Sum::<i32, i64>::new().check(&[1, 2, 3], 6, 0).ok);
    assert!(!Sum::<i32, i64>::new().check(&[1, 2, 3], 7, 0).ok);
    assert!(!Max::<f32>::new().check(&[0.0, -0.0], -0.0, 0).ok);
}

#[test]
fn a_mean_of_a_wrapped_sum_is_wrong() {
    let op = Mean::new(Sum::<i64>::new());
    let input = [i64::MAX, i64::MAX];
    let wrapped = crate::reference::reduce(op, &input);
    assert_eq!(wrapped, Some(-1.0));
    let check = op.check(&input, wrapped, 0);
    assert!(!check.ok && check.reference == Some(2f64.powi(63)), "{check:?}");
    assert!(op.check(&input, Some(2f64.powi(63)), 0).ok);
    assert!(op.check(&[], None, 0).ok);
    assert!(Mean::new(Sum::<u32, u64>::new()).check(&[1, 2], Some(1.5), 0).ok);
}

#[test]
fn nan_and_infinity_are_distinguished() {
    assert!(Sum::<f64>::new().check(&[f64::NAN], f64::NAN, 1).ok);
    assert!(!Sum::<f64>::new().check(&[f64::NAN], 1.0, 1).ok);
    assert!(!Sum::<f64>::new().check(&[1.0], f64::NAN, 1).ok);
    assert!(Sum::<f64>::new().check(&[f64::INFINITY], f64::INFINITY, 1).ok);
    assert!(!Sum::<f64>::new().check(&[f64::INFINITY], f64::NEG_INFINITY, 1).ok);
    assert!(Sum::<f32>::new().check(&[f32::MAX, f32::MAX], f32::INFINITY, 2).ok);
}

#[test]
fn a_missing_factor_of_a_product_is_detected() {
    let input = [1.5f32, 2.0, 0.5, 3.0];
    assert!(Product::<f32>::new().check(&input, 4.5, 4).ok);
    assert!(!Product::<f32>::new().check(&input, 1.5, 4).ok);
}
