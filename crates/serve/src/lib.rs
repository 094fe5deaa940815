//! The room `serve`.
