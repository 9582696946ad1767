//! Products modulo many kinds of numbers.

use gridsync::device::Device;
use gridsync::primitives::{reduce, reduce::reduce_on_cpu};
use gridsync_kernels::op::ProductModulo;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, sample};

pub(crate) fn trials() -> Trials {
    trials! {
        on_each_backend:
            the_residue_is_that_of_a_division_at_each_step;
    }
}

/// Both ends of the range, a power of two in between, an even number, and primes.
const MODULI: [u64; 8] = [1, 2, 12, 1 << 16, 1_000_000_007, 4_294_967_291, (1 << 32) - 1, 1 << 32];

fn the_residue_is_that_of_a_division_at_each_step(device: &Device) {
    let host: Vec<i64> = sample(Input::Factors, 5003, 3);
    let input = device.upload(&host).expect("the input should fit");
    for modulus in MODULI {
        let op = ProductModulo::<i64>::new(modulus).expect("it is in range");
        let m = i128::from(modulus);
        let expected = host.iter().fold(1 % m, |all, &x| (all * i128::from(x)).rem_euclid(m));
        let on_device = reduce(op, &input).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(i128::from(on_device), expected, "modulo {modulus}");
        assert_eq!(on_device, reduce_on_cpu(op, &host), "modulo {modulus}");
    }
}
