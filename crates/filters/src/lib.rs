//! The room `filters`.
