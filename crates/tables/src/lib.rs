//! The room `tables`.
