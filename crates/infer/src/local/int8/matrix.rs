//! Weight matrices in bytes, packed for one kernel.

use std::marker::PhantomData;

use crate::Result;
use crate::local::container::{BLOCK_LENGTH, Container};
use crate::local::kernels::{Int8Kernel, PANEL_COLUMNS, Panel};

/// The largest weight in a byte.
const LARGEST: f32 = 127.0;

/// The weights and the bias of a linear layer.
#[derive(Debug)]
pub(crate) struct Matrix<K> {
    pub(crate) n_out: usize,
    /// The padded depth.
    pub(crate) n_in: usize,
    values: Vec<i8>,
    /// Scales by panel: one for each column, or for each block of a column.
    scales: Vec<f32>,
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
        let scales_per_panel = PANEL_COLUMNS * K::SCALE_DEPTH.map_or(1, |depth| n_padded / depth);
        let mut matrix = Matrix {
            n_out: n_columns,
            n_in: n_padded,
            values: vec![0; n_panels * PANEL_COLUMNS * n_padded],
            scales: vec![0.0; n_panels * scales_per_panel],
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
                let column = matrix.column_sums.len();
                if K::SCALE_DEPTH.is_some() {
                    if !tensor.read_blocks(row_idx, &mut bytes, &mut scales) {
                        return Err(container.unusable(format!("`{name}.w` is not in blocks")));
                    }
                } else {
                    tensor.read_row(row_idx, &mut numbers);
                    scales.fill(to_bytes(&numbers, &mut bytes));
                }
                matrix.set_column(column, &bytes, &scales);
            }
            matrix.bias.extend(container.vector(&format!("{name}.b"), n_out)?);
        }
        Ok(matrix)
    }

    /// Sets a column whose depths have a scale for each block, and adds its sum.
    fn set_column(&mut self, column: usize, bytes: &[i8], scales: &[f32]) {
        let (panel_idx, in_panel) = (column / PANEL_COLUMNS, column % PANEL_COLUMNS);
        let n_in = self.n_in;
        let values = &mut self.values[panel_idx * PANEL_COLUMNS * n_in..][..PANEL_COLUMNS * n_in];
        for (depth, byte) in bytes.iter().enumerate() {
            values[K::place(depth, in_panel, n_in)] = *byte;
        }
        let first_scale = panel_idx * self.scales_per_panel();
        let mut sum = 0.0;
        for (block_idx, (block, scale)) in bytes.chunks(BLOCK_LENGTH).zip(scales).enumerate() {
            let place = K::scale_place(block_idx * BLOCK_LENGTH, in_panel, n_in);
            self.scales[first_scale + place] = *scale;
            sum += f64::from(*scale)
                * f64::from(block.iter().map(|byte| i32::from(*byte)).sum::<i32>());
        }
        self.column_sums.push(sum as f32);
    }

    /// Gives one panel.
    #[inline(always)]
    pub(crate) fn panel(&self, panel_idx: usize) -> Panel<'_> {
        let size = PANEL_COLUMNS * self.n_in;
        let n_scales = self.scales_per_panel();
        Panel {
            values: &self.values[panel_idx * size..][..size],
            scales: &self.scales[panel_idx * n_scales..][..n_scales],
            n_in: self.n_in,
        }
    }

    /// Counts the bytes of the packed weights.
    pub(crate) fn n_bytes(&self) -> usize {
        self.values.len() + self.scales.len() * size_of::<f32>()
    }

    fn scales_per_panel(&self) -> usize {
        PANEL_COLUMNS * K::SCALE_DEPTH.map_or(1, |depth| self.n_in / depth)
    }
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
