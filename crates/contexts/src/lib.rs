//! The room `contexts`.
