//! Cases of the dot products.

use super::kind::{Cases, Kind, Primitive, Size};
use super::{CaseError, Input, Sample, sample, wrong};
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use gridsync::device::Device;
use gridsync::primitives::dot::{Dot, DotProduct, Factor, dot_on_cpu};
use gridsync::primitives::reduce::{Common, Reducible};
use gridsync::primitives::{Checked, KernelOf};
use gridsync::reference;
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::{Number, Sum};
use std::any::type_name;
use std::fmt::Debug;
use std::marker::PhantomData;

/// The dot product of arrays of `T`.
struct Product<T>(PhantomData<T>);

impl<T> Cases for Product<T>
where
    T: Factor<Product: Debug> + Pod + Sample,
    Dot<T>: Reducible<Element = T, Output = T::Product>,
    Sum<T::Product>: Checked<Element = T::Product, Output = T::Product>,
{
    /// Computes it twice in one workspace, and compares both results with the CPU's, and with the
    /// sum of the products.
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        let Size::Array(len) = size else { return Err(size.mismatch()) };
        let case = format!("{len} products of {}, seed {seed}", type_name::<T>());
        let [x, y] = [seed, !seed].map(|seed| sample::<T>(Input::Values, len, seed));
        let (on_x, on_y) = (device.upload(&x)?, device.upload(&y)?);
        let mut product = DotProduct::new(device)?;
        let on_cpu = dot_on_cpu(&x, &y);
        for time in ["", " the second time"] {
            let found = product.dot(&on_x, &on_y)?;
            if !Sum::<T::Product>::same(found, on_cpu) {
                let wrong = format!("{case}{time}: {found:?}, not the bits of {on_cpu:?}");
                return Err(CaseError::Wrong(wrong));
            }
        }
        let products: Vec<_> = x.iter().zip(&y).map(|(x, y)| x.widen().mul(y.widen())).collect();
        let depth = reference::reduce_depth::<Dot<T>>(len);
        let check = Sum::<T::Product>::new().check(&products, on_cpu, depth);
        if !check.ok {
            return Err(wrong(&case, &on_cpu, &check.reference, [check.abs_err, check.bound]));
        }
        Ok(())
    }
}

/// The kind of the dot product of arrays of `T`, called `name`.
pub(super) fn kind<T>(name: &'static str) -> Kind
where
    T: Factor<Product: Debug> + Pod + Sample,
    Dot<T>: Reducible<Element = T, Output = T::Product>,
    Sum<T::Product>: Checked<Element = T::Product, Output = T::Product>,
{
    let kernels = &[KernelOf::<Dot<T>, Common<Dot<T>>>::NAME];
    let tile = Shape::of::<T>(1).tile::<T>();
    let cases = Product::<T>(PhantomData);
    Kind::of::<T, T::Product>(Primitive::Dot, (name, "dot"), kernels, tile, cases)
}
