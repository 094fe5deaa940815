//! The encoder in eight bits, for processors that multiply bytes: four times the products of f32
//! in the same time, and a quarter of the memory.
//!
//! - Weights have a scale for each output column (or keep the blocks of the model file, where the
//!   kernel wants that: [`matrix`]).
//! - Activations are brought to bytes just before each product, with a scale and a zero of their
//!   own for every token ([`byte_rows`]), so no calibration is needed and one odd token does not
//!   spoil its neighbours.
//! - Attention multiplies whole numbers too: bytes where the processor has dot products, 16 bits
//!   elsewhere ([`attention`]).
//! - Everything else, the residual path above all, is f32.
//!
//! The cosine of a text's vector with that of f32 is above 0.998 on real texts; the page on this
//! choice in the decisions has the figures.

mod approximate;
mod attention;
mod byte_rows;
mod encoder;
mod matrix;
mod product;

pub(crate) use encoder::Int8Encoder;
