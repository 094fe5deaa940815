//! Weight matrices in bytes, packed for one kernel.

use std::marker::PhantomData;

use crate::Result;
use crate::local::container::{BLOCK_LENGTH, Container};
use crate::local::kernels::{Int8Kernel, PANEL_COLUMNS, Panel};

/// The largest weight in a byte.
const LARGEST: f32 = 127.0;
/// Panels begin at a line of the cache: a vector that crosses one takes twice as long to load.
const ALIGNMENT: usize = 64;

/// The weights and the bias of a linear layer.
#[derive(Debug)]
pub(crate) struct Matrix<K> {
    pub(crate) n_out: usize,
    /// The padded depth.
    pub(crate) n_in: usize,
    values: Vec<i8>,
    /// Where the first panel begins in `values`.
    start: usize,
    /// Whole numbers by panel: one for each block of a column, where the kernel has blocks.
    block_scales: Vec<i32>,
    /// One for each column.
    pub(crate) scales: Vec<f32>,
    /// The sum of the weights of each column, scaled: what a left operand of ones would give.
    pub(crate) column_sums: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    kernel: PhantomData<K>,
}

impl<K: Int8Kernel> Matrix<K> {
    /// Stacks matrices of `n_out` rows each.
    ///
    /// Fails when one is missing or too small, and, for a kernel that takes blocks as the file has
    /// them, when it has none.
    pub(crate) fn load(
        container: &Container,
        n_out: usize,
        n_in: usize,
        parts: &[String],
    ) -> Result<Self> {
        let n_padded = n_in.next_multiple_of(K::DEPTH_PADDING);
        let n_columns = n_out * parts.len();
        let n_panels = n_columns.div_ceil(PANEL_COLUMNS);
        let n_blocks = K::SCALE_DEPTH.map_or(0, |depth| n_padded / depth);
        let values = vec![0; n_panels * PANEL_COLUMNS * n_padded + ALIGNMENT];
        let mut matrix = Matrix {
            n_out: n_columns,
            n_in: n_padded,
            // A vector that is never made longer stays where it is.
            start: values.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT),
            values,
            block_scales: vec![0; n_panels * PANEL_COLUMNS * n_blocks],
            scales: Vec::with_capacity(n_columns),
            column_sums: Vec::with_capacity(n_columns),
            bias: Vec::with_capacity(n_columns),
            kernel: PhantomData,
        };
        let mut numbers = vec![0.0; n_in];
        let mut bytes = vec![0; n_in];
        let mut scales = vec![0.0; n_in / BLOCK_LENGTH];
        for name in parts {
            let tensor = container.tensor(&format!("{name}.w"), n_out * n_in)?;
            for row_idx in 0..n_out {
                if K::SCALE_DEPTH.is_some() {
                    if !tensor.read_blocks(row_idx, &mut bytes, &mut scales) {
                        return Err(container.unusable(format!("`{name}.w` is not in blocks")));
                    }
                    matrix.add_blocks(&bytes, &scales);
                } else {
                    tensor.read_row(row_idx, &mut numbers);
                    let scale = to_bytes(&numbers, &mut bytes);
                    matrix.add_column(&bytes, scale);
                }
            }
            matrix.bias.extend(container.vector(&format!("{name}.b"), n_out)?);
        }
        Ok(matrix)
    }

    /// Adds a column that has one scale.
    fn add_column(&mut self, bytes: &[i8], scale: f32) {
        self.set_bytes(bytes);
        self.scales.push(scale);
        self.column_sums.push(scale * sum(bytes) as f32);
    }

    /// Adds a column that has a scale for each block: a whole number, times what the largest of
    /// the column and of the kernel have in common.
    fn add_blocks(&mut self, bytes: &[i8], scales: &[f32]) {
        self.set_bytes(bytes);
        let column = self.scales.len();
        let (panel_idx, in_panel) = (column / PANEL_COLUMNS, column % PANEL_COLUMNS);
        let n_scales = self.scales_per_panel();
        let largest = scales.iter().fold(f32::MIN_POSITIVE, |most, scale| most.max(scale.abs()));
        let common = largest / f32::from(K::largest_block_scale(self.n_in));
        let panel = &mut self.block_scales[panel_idx * n_scales..][..n_scales];
        let mut column_sum = 0.0;
        for (block_idx, (block, scale)) in bytes.chunks(BLOCK_LENGTH).zip(scales).enumerate() {
            let whole = (scale / common).round() as i16;
            let half = u32::from(whole.cast_unsigned());
            let place = K::block_scale_place(block_idx * BLOCK_LENGTH, in_panel, self.n_in);
            panel[place] = (half << 16 | half).cast_signed();
            column_sum += f64::from(common) * f64::from(whole) * f64::from(sum(block));
        }
        self.scales.push(common);
        self.column_sums.push(column_sum as f32);
    }

    /// Sets the bytes of the column that is added next.
    fn set_bytes(&mut self, bytes: &[i8]) {
        let column = self.scales.len();
        let (panel_idx, in_panel) = (column / PANEL_COLUMNS, column % PANEL_COLUMNS);
        let size = PANEL_COLUMNS * self.n_in;
        let values = &mut self.values[self.start + panel_idx * size..][..size];
        for (depth, byte) in bytes.iter().enumerate() {
            values[K::place(depth, in_panel, self.n_in)] = *byte;
        }
    }

    #[inline(always)]
    pub(crate) fn panel(&self, panel_idx: usize) -> Panel<'_> {
        let size = PANEL_COLUMNS * self.n_in;
        let n_scales = self.scales_per_panel();
        Panel {
            values: &self.values[self.start + panel_idx * size..][..size],
            block_scales: &self.block_scales[panel_idx * n_scales..][..n_scales],
            n_in: self.n_in,
        }
    }

    /// Counts the bytes of the packed weights.
    pub(crate) fn n_bytes(&self) -> usize {
        self.values.len() + self.block_scales.len() * size_of::<i32>()
    }

    fn scales_per_panel(&self) -> usize {
        PANEL_COLUMNS * K::SCALE_DEPTH.map_or(0, |depth| self.n_in / depth)
    }
}

fn sum(bytes: &[i8]) -> i32 {
    bytes.iter().map(|byte| i32::from(*byte)).sum()
}

/// Rounds a column to bytes, and gives its scale.
fn to_bytes(numbers: &[f32], bytes: &mut [i8]) -> f32 {
    let largest = numbers.iter().fold(f32::MIN_POSITIVE, |most, number| most.max(number.abs()));
    let inverse = LARGEST / largest;
    for (byte, number) in bytes.iter_mut().zip(numbers) {
        *byte = (number * inverse).round() as i8;
    }
    largest / LARGEST
}
