//! Products of byte rows with a weight matrix, and what happens to a finished row while it is
//! still in the cache.

use super::approximate::gelu;
use super::byte_rows::{ByteRows, RowScale};
use super::matrix::Matrix;
use crate::local::kernels::{self, Int8Kernel, PANEL_COLUMNS, Sums};
use crate::local::vectorised::{Arithmetic, Work};

/// One panel's columns of one row.
pub(crate) type Columns = [f32; PANEL_COLUMNS];

/// Takes the finished values of a product, the bias included. `take` must be `#[inline(always)]`.
pub(crate) trait Epilogue {
    /// Takes the columns of one row from `column` on.
    fn take<A: Arithmetic>(&mut self, row: usize, column: usize, values: &Columns);
}

/// Multiplies the first `n_rows` rows with a matrix.
pub(crate) fn multiply<K: Int8Kernel, E: Epilogue>(
    kernel: K,
    left: &ByteRows,
    n_rows: usize,
    right: &Matrix<K>,
    epilogue: E,
) {
    kernels::run(kernel.vectors(), Multiply { kernel, left, n_rows, right, epilogue });
}

struct Multiply<'a, K, E> {
    kernel: K,
    left: &'a ByteRows,
    n_rows: usize,
    right: &'a Matrix<K>,
    epilogue: E,
}

impl<K: Int8Kernel, E: Epilogue> Work for Multiply<'_, K, E> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(mut self) {
        let Multiply { kernel, left, n_rows, right, .. } = self;
        let session = kernel.begin();
        let mut sums = Sums::zero();
        // Blocks of about the same number of rows, rather than full ones and a small rest.
        let n_blocks = n_rows.div_ceil(K::ROWS).max(1);
        let block_rows = n_rows.div_ceil(n_blocks).max(1);
        for panel_idx in 0..right.n_out / PANEL_COLUMNS {
            let panel = right.panel(panel_idx);
            let column = panel_idx * PANEL_COLUMNS;
            let (column_sums, _) = right.column_sums[column..].as_chunks::<PANEL_COLUMNS>();
            let (bias, _) = right.bias[column..].as_chunks::<PANEL_COLUMNS>();
            let (scales, _) = right.scales[column..].as_chunks::<PANEL_COLUMNS>();
            for first in (0..n_rows).step_by(block_rows) {
                let n_rows = block_rows.min(n_rows - first);
                let bytes = &left.bytes[first * left.stride..];
                K::block(&session, bytes, left.stride, n_rows, panel, &mut sums);
                let row_scales = &left.row_scales[first..][..n_rows];
                for (offset, (sums, row_scale)) in sums.0.iter().zip(row_scales).enumerate() {
                    let values =
                        scaled::<A>(sums, row_scale, &scales[0], &column_sums[0], &bias[0]);
                    self.epilogue.take::<A>(first + offset, column, &values);
                }
            }
        }
    }
}

/// Turns the sums of one row into numbers: `Σ (byte - zero) * scale * weight + bias`.
#[inline(always)]
fn scaled<A: Arithmetic>(
    sums: &[i32; PANEL_COLUMNS],
    row_scale: &RowScale,
    scales: &Columns,
    column_sums: &Columns,
    bias: &Columns,
) -> Columns {
    let RowScale { scale, zero } = *row_scale;
    let offset = -zero * scale;
    let mut values = [0.0; PANEL_COLUMNS];
    for at in 0..PANEL_COLUMNS {
        let sum = sums[at] as f32 * scales[at];
        values[at] = A::fused(sum, scale, A::fused(offset, column_sums[at], bias[at]));
    }
    values
}

/// Stores GELU of the rows.
pub(crate) struct StoreGelu<'a> {
    pub(crate) out: &'a mut [f32],
    pub(crate) stride: usize,
}

impl Epilogue for StoreGelu<'_> {
    #[inline(always)]
    fn take<A: Arithmetic>(&mut self, row: usize, column: usize, values: &Columns) {
        let out = columns_mut(self.out, row * self.stride + column);
        for at in 0..PANEL_COLUMNS {
            out[at] = gelu::<A>(values[at]);
        }
    }
}

/// Adds to rows that are there already: the residual path.
pub(crate) struct Add<'a> {
    pub(crate) out: &'a mut [f32],
    pub(crate) stride: usize,
}

impl Epilogue for Add<'_> {
    #[inline(always)]
    fn take<A: Arithmetic>(&mut self, row: usize, column: usize, values: &Columns) {
        let out = columns_mut(self.out, row * self.stride + column);
        for at in 0..PANEL_COLUMNS {
            out[at] += values[at];
        }
    }
}

/// Gives the columns of a panel out of a row.
#[inline(always)]
pub(crate) fn columns_mut(rows: &mut [f32], start: usize) -> &mut Columns {
    let (columns, _) = rows[start..][..PANEL_COLUMNS].as_chunks_mut::<PANEL_COLUMNS>();
    &mut columns[0]
}
