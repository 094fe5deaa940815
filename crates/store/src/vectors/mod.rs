//! The vector file of a namespace: every vector in eight bits a dimension and, where there are
//! many, in one bit a dimension as well, scanned from end to end.
//!
//! A scan needs no build, applies any filter exactly and forgets a deleted vector at once.
//! It reads one bit a dimension for all, eight bits for the shortlist, and the question in full
//! for the last few.

mod kernels;

mod column;
mod file;
mod head;
mod quantise;

mod scan;
mod view;

#[cfg(test)]
mod tests;

pub(crate) use file::VectorFile;
pub use quantise::normalised;
pub use scan::cosine_as_stored;
pub(crate) use view::VectorView;
