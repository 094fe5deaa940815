//! What charts promise.
