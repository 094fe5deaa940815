//! The room `guard`.
