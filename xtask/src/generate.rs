//! Reference pages under docs/reference, written from the sources so that they cannot drift.
