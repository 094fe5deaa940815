//! Measurements of the lookup engine on real registers.
