//! The room `tools`.
