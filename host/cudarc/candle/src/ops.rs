//! The operations.

use crate::Gridsync;
use crate::rows::{self, OnRows};
use candle_core::{CpuStorage, CustomOp1, D, Layout, Result, Shape, Tensor};
#[cfg(feature = "cuda")]
use gridsync::device::{Buffer, DeviceError};
use gridsync::op::{InSegments, Max, Segments, Sum};
use gridsync::primitives::scan::{Form, scan_on_cpu, scan_rows_on_cpu};
#[cfg(feature = "cuda")]
use gridsync::primitives::sort::Sorter;
use gridsync::primitives::sort::{Order, argsort_rows_on_cpu, sort_rows_on_cpu};
#[cfg(feature = "cuda")]
use gridsync::primitives::{RowScanner, Scanner};
use std::marker::PhantomData;

pub(crate) struct CumSum(pub(crate) Gridsync);

pub(crate) struct CumMax<T> {
    gridsync: Gridsync,
    element: PhantomData<fn() -> T>,
}

impl<T> CumMax<T> {
    pub(crate) fn new(gridsync: &Gridsync) -> Self {
        Self { gridsync: gridsync.clone(), element: PhantomData }
    }
}

pub(crate) struct Sort(pub(crate) Gridsync);

pub(crate) struct ArgSort(pub(crate) Gridsync);

impl OnRows for CumSum {
    type From = f32;
    type To = f32;

    fn on_cpu(&self, x: &[f32], columns: usize) -> Vec<f32> {
        scan_rows_on_cpu(Sum::<f32>::new(), x, columns, Form::Inclusive)
    }

    #[cfg(feature = "cuda")]
    fn on_gpu(
        &self,
        x: &Buffer<f32>,
        columns: usize,
        to: &mut Buffer<f32>,
    ) -> std::result::Result<(), DeviceError> {
        let (sum, rows) = (Sum::<f32>::new(), x.len() / columns);
        RowScanner::new(sum, x.device(), rows, columns)?.launch(x, to, Form::Inclusive)
    }

    #[cfg(feature = "cuda")]
    fn gridsync(&self) -> &Gridsync {
        &self.0
    }
}

/// Implements [`OnRows`] for maxima: a scan of all rows, where each row is a segment.
macro_rules! maxima {
    ($($element:ty),*) => {$(
        impl OnRows for CumMax<$element> {
            type From = $element;
            type To = $element;

            fn on_cpu(&self, x: &[$element], columns: usize) -> Vec<$element> {
                let rows = Segments::rows(columns as u64);
                scan_on_cpu(InSegments::<Max<$element>>::new(rows), x, Form::Inclusive)
            }

            #[cfg(feature = "cuda")]
            fn on_gpu(
                &self,
                x: &Buffer<$element>,
                columns: usize,
                to: &mut Buffer<$element>,
            ) -> std::result::Result<(), DeviceError> {
                let rows = InSegments::<Max<$element>>::new(Segments::rows(columns as u64));
                Scanner::new(rows, x.device(), x.len())?.launch(x, to, Form::Inclusive)
            }

            #[cfg(feature = "cuda")]
            fn gridsync(&self) -> &Gridsync {
                &self.gridsync
            }
        }
    )*};
}
maxima!(f32, u32);

impl OnRows for Sort {
    type From = f32;
    type To = f32;

    fn on_cpu(&self, x: &[f32], columns: usize) -> Vec<f32> {
        sort_rows_on_cpu(Order::ASCENDING, x, x.len() / columns, columns)
    }

    #[cfg(feature = "cuda")]
    fn on_gpu(
        &self,
        x: &Buffer<f32>,
        columns: usize,
        to: &mut Buffer<f32>,
    ) -> std::result::Result<(), DeviceError> {
        let mut sorter = Sorter::new(x.device(), 0)?;
        sorter.rows(x.len() / columns, columns).launch(Order::ASCENDING, x, to)
    }

    #[cfg(feature = "cuda")]
    fn gridsync(&self) -> &Gridsync {
        &self.0
    }
}

impl OnRows for ArgSort {
    type From = f32;
    type To = u32;

    fn on_cpu(&self, x: &[f32], columns: usize) -> Vec<u32> {
        argsort_rows_on_cpu(Order::ASCENDING, x, x.len() / columns, columns)
    }

    #[cfg(feature = "cuda")]
    fn on_gpu(
        &self,
        x: &Buffer<f32>,
        columns: usize,
        to: &mut Buffer<u32>,
    ) -> std::result::Result<(), DeviceError> {
        let mut sorter = Sorter::new(x.device(), 0)?;
        sorter.rows(x.len() / columns, columns).launch_argsort(Order::ASCENDING, x, to)
    }

    #[cfg(feature = "cuda")]
    fn gridsync(&self) -> &Gridsync {
        &self.0
    }
}

/// The part of a [`CustomOp1`] that all operations have in common.
macro_rules! forward {
    ($name:literal) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
            rows::cpu_fwd(self, storage, layout)
        }

        #[cfg(feature = "cuda")]
        fn cuda_fwd(
            &self,
            storage: &candle_core::CudaStorage,
            layout: &Layout,
        ) -> Result<(candle_core::CudaStorage, Shape)> {
            rows::cuda_fwd(self, storage, layout)
        }
    };
}

impl CustomOp1 for CumSum {
    forward!("gridsync-cumsum");

    /// Each element is in the sums from its own on.
    fn bwd(&self, arg: &Tensor, _sums: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let last = arg.rank().saturating_sub(1);
        let from_the_end = grad.flip(&[last])?.contiguous()?;
        from_the_end.apply_op1_no_bwd(self)?.flip(&[last]).map(Some)
    }
}

impl CustomOp1 for CumMax<f32> {
    forward!("gridsync-cummax");

    /// Each maximum is the last element so far that is equal to it.
    fn bwd(&self, arg: &Tensor, maxima: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let columns = arg.dim(D::Minus1)? as u32;
        let index = Tensor::arange(0, columns, arg.device())?.broadcast_as(arg.shape())?;
        let is_maximum = arg.eq(maxima)?;
        let found = is_maximum.where_cond(&index.contiguous()?, &index.zeros_like()?)?;
        let last = found.apply_op1_no_bwd(&CumMax::<u32>::new(&self.gridsync))?;
        scattered(arg, &last, grad)
    }
}

impl CustomOp1 for CumMax<u32> {
    forward!("gridsync-cummax-of-indices");
}

impl CustomOp1 for Sort {
    forward!("gridsync-sort");

    /// Each gradient goes to where its element came from.
    fn bwd(&self, arg: &Tensor, _sorted: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let order = arg.contiguous()?.apply_op1_no_bwd(&ArgSort(self.0.clone()))?;
        scattered(arg, &order, grad)
    }
}

impl CustomOp1 for ArgSort {
    forward!("gridsync-argsort");
}

/// The gradients, added up at these indices of their rows.
fn scattered(arg: &Tensor, indices: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
    arg.zeros_like()?.scatter_add(indices, &grad.contiguous()?, D::Minus1).map(Some)
}
