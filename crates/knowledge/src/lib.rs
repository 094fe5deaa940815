//! The room `knowledge`.
