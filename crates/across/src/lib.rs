//! The room `across`.
