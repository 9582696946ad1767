//! Reductions in other streams than the first one of a device: in a second stream, and in a cust
//! stream.

use crate::matrix::run;
use cust::context::Context;
use cust::stream::{Stream, StreamFlags};
use gridsync::device::Device;
use gridsync_tests::devices::{images, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Primitive, Size, kinds};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            every_reduction_is_right_in_a_cust_stream_on_cuda;
        on_each_backend:
            every_reduction_is_right_in_a_second_stream;
    }
}

/// Every row of the matrix, on two blocks.
fn reduces(device: &Device) {
    kinds(Primitive::Reduce).for_each(|kind| run(device, kind, Size::Array(kind.tile + 1), 1));
}

fn every_reduction_is_right_in_a_second_stream(device: &Device) {
    let second = device.new_stream().unwrap_or_else(|error| panic!("{error}"));
    reduces(&second);
}

fn every_reduction_is_right_in_a_cust_stream_on_cuda() {
    with_cuda(|_| {
        let gpu = cust::device::Device::get_device(0).expect("it has been opened");
        let context = Context::new(gpu).expect("it has been opened");
        let stream = Stream::new(StreamFlags::DEFAULT, None).expect("there should be room");
        let device = Device::from_cust(&context, stream, &images());
        reduces(&device.expect("the stream is of the context"));
    });
}
