//! Matrix products: a left operand of rows, a right operand packed into panels of columns, and
//! an [`Epilogue`] that takes each finished block while it is still in the cache.
//!
//! There are two kinds of operand: `f32`, for every processor, and [`Bf16`], for processors with
//! matrix tiles. The forward pass is written once, over [`Operand`].

use super::kernels::{
    self, BLOCK_COLUMNS, BLOCK_ROWS, Block, Level, NARROW_COLUMNS, TILE_DEPTH, TILE_ROWS, Tiles,
    WIDE_COLUMNS,
};
use super::vectorised::{Arithmetic, Bf16, Number, Work, gelu};

/// Buffers of left operands end on a whole number of this many rows, so that a kernel can always
/// read whole blocks: 16 and 32 for tiles, 12 and 6 for vectors.
pub(crate) const ROW_PADDING: usize = 96;
/// Inner dimensions of operands are padded to a whole number of this many columns.
pub(crate) const DEPTH_PADDING: usize = TILE_DEPTH;

/// A number that can be multiplied as a matrix.
pub(crate) trait Operand: Number {
    /// Gives how many columns a panel has at a level.
    fn panel_columns(level: Level) -> usize;

    /// Says where an element of the right operand is inside its panel.
    fn place(depth: usize, column: usize, panel_columns: usize) -> usize;

    /// Computes one panel of the product for all rows.
    fn run_panel<A: Arithmetic, E: Epilogue>(
        product: &Product<'_, Self>,
        panel_idx: usize,
        tiles: Option<&Tiles>,
        epilogue: &mut E,
    );
}

/// The right operand of a product: `n_out` columns of depth `n_in`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Panels<T> {
    pub(crate) n_out: usize,
    n_in_padded: usize,
    columns: usize,
    values: Vec<T>,
}

impl<T: Operand> Panels<T> {
    /// Makes panels full of zeros.
    pub(crate) fn zero(level: Level, n_out: usize, n_in: usize) -> Self {
        let mut panels = Panels { n_out: 0, n_in_padded: 0, columns: 0, values: Vec::new() };
        panels.reset(level, n_out, n_in);
        panels
    }

    /// Makes the panels this large and full of zeros, keeping their memory.
    pub(crate) fn reset(&mut self, level: Level, n_out: usize, n_in: usize) {
        self.n_out = n_out;
        self.n_in_padded = n_in.next_multiple_of(DEPTH_PADDING);
        self.columns = T::panel_columns(level);
        let n_values = n_out.next_multiple_of(self.columns) * self.n_in_padded;
        self.values.clear();
        self.values.resize(n_values, T::default());
    }

    /// Sets one column, from its top down: a row of a weight matrix, or of keys.
    #[inline(always)]
    pub(crate) fn set_column(&mut self, column: usize, values: impl Iterator<Item = T>) {
        let columns = self.columns;
        let in_panel = column % columns;
        let panel = self.panel_mut(column / columns);
        for (depth, value) in values.enumerate() {
            panel[T::place(depth, in_panel, columns)] = value;
        }
    }

    /// Sets the values of all columns at one depth, from the first column on: a row of values.
    #[inline(always)]
    pub(crate) fn set_depth(&mut self, depth: usize, values: &[T]) {
        let columns = self.columns;
        for (panel_idx, part) in values.chunks(columns).enumerate() {
            let panel = self.panel_mut(panel_idx);
            for (column, value) in part.iter().enumerate() {
                panel[T::place(depth, column, columns)] = *value;
            }
        }
    }

    /// Counts the bytes of the packed values.
    pub(crate) fn n_bytes(&self) -> usize {
        std::mem::size_of_val(self.values.as_slice())
    }

    fn panel(&self, panel_idx: usize) -> &[T] {
        let size = self.columns * self.n_in_padded;
        &self.values[panel_idx * size..][..size]
    }

    fn panel_mut(&mut self, panel_idx: usize) -> &mut [T] {
        let size = self.columns * self.n_in_padded;
        &mut self.values[panel_idx * size..][..size]
    }
}

/// A product to be computed.
pub(crate) struct Product<'a, T> {
    pub(crate) level: Level,
    /// The rows of the left operand, `stride` apart, padded with [`ROW_PADDING`].
    pub(crate) left: &'a [T],
    pub(crate) stride: usize,
    pub(crate) n_rows: usize,
    pub(crate) right: &'a Panels<T>,
}

impl<T: Operand> Product<'_, T> {
    /// Computes the product and gives every block of it to the epilogue.
    pub(crate) fn compute<E: Epilogue>(self, epilogue: E) {
        let level = self.level;
        kernels::run(level, ProductWork { product: self, epilogue });
    }
}

struct ProductWork<'a, T, E> {
    product: Product<'a, T>,
    epilogue: E,
}

impl<T: Operand, E: Epilogue> Work for ProductWork<'_, T, E> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(mut self) {
        let tiles = self.product.level.has_tiles().then(|| Tiles::begin(self.product.level));
        let n_panels = self.product.right.n_out.div_ceil(self.product.right.columns);
        for panel_idx in 0..n_panels {
            T::run_panel::<A, E>(&self.product, panel_idx, tiles.as_ref(), &mut self.epilogue);
        }
    }
}

impl Operand for Bf16 {
    fn panel_columns(_level: Level) -> usize {
        BLOCK_COLUMNS
    }

    /// A tile holds 32 depths of 16 columns as 16 rows of pairs; a step is two tiles.
    #[inline(always)]
    fn place(depth: usize, column: usize, _panel_columns: usize) -> usize {
        let (step, depth) = (depth / TILE_DEPTH, depth % TILE_DEPTH);
        let (tile, column) = (column / TILE_ROWS, column % TILE_ROWS);
        (step * 2 + tile) * TILE_DEPTH * TILE_ROWS
            + (depth / 2) * TILE_DEPTH
            + column * 2
            + depth % 2
    }

    #[inline(always)]
    fn run_panel<A: Arithmetic, E: Epilogue>(
        product: &Product<'_, Bf16>,
        panel_idx: usize,
        tiles: Option<&Tiles>,
        epilogue: &mut E,
    ) {
        let tiles = tiles.expect("bf16 operands are made only where there are tiles");
        let right = product.right;
        let panel = right.panel(panel_idx);
        let n_steps = right.n_in_padded / TILE_DEPTH;
        let column = panel_idx * BLOCK_COLUMNS;
        let n_columns = BLOCK_COLUMNS.min(right.n_out - column);
        let mut block = Block::zero();
        for row in (0..product.n_rows).step_by(BLOCK_ROWS) {
            let n_rows = BLOCK_ROWS.min(product.n_rows - row);
            let left = &product.left[row * product.stride..];
            tiles.product(left, product.stride, n_rows, panel, n_steps, &mut block);
            for (offset, values) in block.0.chunks_exact(BLOCK_COLUMNS).take(n_rows).enumerate() {
                epilogue.take::<A>(row + offset, column, &values[..n_columns]);
            }
        }
    }
}

/// Rows whose sums fit the registers beside the operands: 24 of 32, and 12 of 16.
const WIDE_ROWS: usize = 12;
const NARROW_ROWS: usize = 6;

impl Operand for f32 {
    fn panel_columns(level: Level) -> usize {
        if level.has_wide_vectors() { WIDE_COLUMNS } else { NARROW_COLUMNS }
    }

    #[inline(always)]
    fn place(depth: usize, column: usize, panel_columns: usize) -> usize {
        depth * panel_columns + column
    }

    #[inline(always)]
    fn run_panel<A: Arithmetic, E: Epilogue>(
        product: &Product<'_, f32>,
        panel_idx: usize,
        _tiles: Option<&Tiles>,
        epilogue: &mut E,
    ) {
        let level = product.level;
        if product.right.columns == WIDE_COLUMNS {
            let block = |left: &[f32], panel: &_, sums: &mut _| {
                kernels::wide_block::<WIDE_ROWS>(level, left, product.stride, panel, sums);
            };
            run_f32_panel::<A, E, WIDE_ROWS, WIDE_COLUMNS>(product, panel_idx, block, epilogue);
        } else {
            let block = |left: &[f32], panel: &_, sums: &mut _| {
                let stride = product.stride;
                if !kernels::narrow_block::<NARROW_ROWS>(level, left, stride, panel, sums) {
                    portable_block::<A, NARROW_ROWS, NARROW_COLUMNS>(left, stride, panel, sums);
                }
            };
            run_f32_panel::<A, E, NARROW_ROWS, NARROW_COLUMNS>(product, panel_idx, block, epilogue);
        }
    }
}

#[inline(always)]
fn run_f32_panel<A: Arithmetic, E: Epilogue, const ROWS: usize, const COLUMNS: usize>(
    product: &Product<'_, f32>,
    panel_idx: usize,
    block: impl Fn(&[f32], &[[f32; COLUMNS]], &mut [[f32; COLUMNS]; ROWS]),
    epilogue: &mut E,
) {
    let right = product.right;
    let (panel, _) = right.panel(panel_idx).as_chunks::<COLUMNS>();
    let column = panel_idx * COLUMNS;
    let n_columns = COLUMNS.min(right.n_out - column);
    let mut sums = [[0.0f32; COLUMNS]; ROWS];
    for row in (0..product.n_rows).step_by(ROWS) {
        block(&product.left[row * product.stride..], panel, &mut sums);
        let n_rows = ROWS.min(product.n_rows - row);
        for (offset, values) in sums.iter().take(n_rows).enumerate() {
            epilogue.take::<A>(row + offset, column, &values[..n_columns]);
        }
    }
}

/// Multiplies rows with a panel, without naming an instruction.
///
/// A function of its own with loops over numbers: so the compiler keeps the sums in registers.
#[inline(never)]
fn portable_block<A: Arithmetic, const ROWS: usize, const COLUMNS: usize>(
    left: &[f32],
    stride: usize,
    panel: &[[f32; COLUMNS]],
    sums: &mut [[f32; COLUMNS]; ROWS],
) {
    let mut lefts = [&left[..0]; ROWS];
    for (row, rest) in lefts.iter_mut().enumerate() {
        *rest = &left[row * stride..][..panel.len()];
    }
    let mut own = [[0.0f32; COLUMNS]; ROWS];
    for (depth, right) in panel.iter().enumerate() {
        for row in 0..ROWS {
            let left = lefts[row][depth];
            for column in 0..COLUMNS {
                own[row][column] = A::fused(left, right[column], own[row][column]);
            }
        }
    }
    *sums = own;
}

/// Takes the finished values of a product. `take` must be `#[inline(always)]`.
pub(crate) trait Epilogue {
    /// Takes consecutive columns of one row.
    fn take<A: Arithmetic>(&mut self, row: usize, column: usize, values: &[f32]);
}

/// Adds a bias and stores the rows as operands of the next product.
pub(crate) struct StoreBiased<'a, T> {
    pub(crate) bias: &'a [f32],
    pub(crate) out: &'a mut [T],
    pub(crate) stride: usize,
}

impl<T: Number> Epilogue for StoreBiased<'_, T> {
    #[inline(always)]
    fn take<A: Arithmetic>(&mut self, row: usize, column: usize, values: &[f32]) {
        let out = &mut self.out[row * self.stride + column..][..values.len()];
        let bias = &self.bias[column..][..values.len()];
        for at in 0..values.len() {
            out[at] = T::from_f32(values[at] + bias[at]);
        }
    }
}

/// Adds a bias, applies GELU and stores the rows as operands of the next product.
pub(crate) struct StoreGelu<'a, T> {
    pub(crate) bias: &'a [f32],
    pub(crate) out: &'a mut [T],
    pub(crate) stride: usize,
}

impl<T: Number> Epilogue for StoreGelu<'_, T> {
    #[inline(always)]
    fn take<A: Arithmetic>(&mut self, row: usize, column: usize, values: &[f32]) {
        let out = &mut self.out[row * self.stride + column..][..values.len()];
        let bias = &self.bias[column..][..values.len()];
        for at in 0..values.len() {
            out[at] = T::from_f32(gelu::<A>(values[at] + bias[at]));
        }
    }
}

/// Adds a bias, multiplies GELU of the first half of each panel with its second half, and stores
/// half as many columns as operands of the next product.
pub(crate) struct StoreGeglu<'a, T> {
    pub(crate) bias: &'a [f32],
    pub(crate) out: &'a mut [T],
    pub(crate) stride: usize,
}

impl<T: Number> Epilogue for StoreGeglu<'_, T> {
    #[inline(always)]
    fn take<A: Arithmetic>(&mut self, row: usize, column: usize, values: &[f32]) {
        let half = values.len() / 2;
        let out = &mut self.out[row * self.stride + column / 2..][..half];
        let (bias, gate_bias) = self.bias[column..][..2 * half].split_at(half);
        let (values, gates) = values.split_at(half);
        for at in 0..half {
            let activated = gelu::<A>(values[at] + bias[at]);
            out[at] = T::from_f32(activated * (gates[at] + gate_bias[at]));
        }
    }
}

/// Adds a bias and the product to rows that are there already: the residual path.
pub(crate) struct AddBiased<'a> {
    pub(crate) bias: &'a [f32],
    pub(crate) out: &'a mut [f32],
    pub(crate) stride: usize,
}

impl Epilogue for AddBiased<'_> {
    #[inline(always)]
    fn take<A: Arithmetic>(&mut self, row: usize, column: usize, values: &[f32]) {
        let out = &mut self.out[row * self.stride + column..][..values.len()];
        let bias = &self.bias[column..][..values.len()];
        for at in 0..values.len() {
            out[at] += values[at] + bias[at];
        }
    }
}

/// Stores the rows as they are.
pub(crate) struct Store<'a, T> {
    pub(crate) out: &'a mut [T],
    pub(crate) stride: usize,
}

impl<T: Number> Epilogue for Store<'_, T> {
    #[inline(always)]
    fn take<A: Arithmetic>(&mut self, row: usize, column: usize, values: &[f32]) {
        let out = &mut self.out[row * self.stride + column..][..values.len()];
        for (out, value) in out.iter_mut().zip(values) {
            *out = T::from_f32(*value);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check<T: Operand>(level: Level, n_rows: usize, n_in: usize, n_out: usize, tolerance: f32) {
        let left_at = |row: usize, depth: usize| ((row * 7 + depth * 3) % 11) as f32 / 8.0 - 0.5;
        let right_at = |column: usize, depth: usize| ((column * 5 + depth) % 13) as f32 / 8.0 - 0.7;
        let stride = n_in.next_multiple_of(DEPTH_PADDING) + 32;
        let mut left = vec![T::default(); n_rows.next_multiple_of(ROW_PADDING) * stride];
        for row in 0..n_rows {
            for depth in 0..n_in {
                left[row * stride + depth] = T::from_f32(left_at(row, depth));
            }
        }
        let mut right = Panels::<T>::zero(level, n_out, n_in);
        for column in 0..n_out {
            right.set_column(column, (0..n_in).map(|depth| T::from_f32(right_at(column, depth))));
        }
        let mut by_depth = Panels::<T>::zero(level, n_out, n_in);
        for depth in 0..n_in {
            let values: Vec<T> =
                (0..n_out).map(|column| T::from_f32(right_at(column, depth))).collect();
            by_depth.set_depth(depth, &values);
        }
        for right in [&right, &by_depth] {
            let mut out = vec![0.0f32; n_rows * n_out];
            Product { level, left: &left, stride, n_rows, right }
                .compute(Store { out: &mut out, stride: n_out });
            for row in 0..n_rows {
                for column in 0..n_out {
                    let expected: f32 =
                        (0..n_in).map(|depth| left_at(row, depth) * right_at(column, depth)).sum();
                    let received = out[row * n_out + column];
                    assert!(
                        (received - expected).abs() <= tolerance * n_in as f32,
                        "{}: {n_rows}x{n_in}x{n_out} at {row},{column}: {received} {expected}",
                        level.name()
                    );
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn every_level_agrees_with_the_definition(
            n_rows in 1usize..70, n_in in 1usize..100, n_out in 1usize..100,
        ) {
            for level in Level::available() {
                if level.has_tiles() {
                    check::<Bf16>(level, n_rows, n_in, n_out, 0.005);
                } else {
                    check::<f32>(level, n_rows, n_in, n_out, 1e-5);
                }
            }
        }
    }
}
