//! What a lookup promises.
//!
//! 1. The seed's rows rank as the seed shows them.
