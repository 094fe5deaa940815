//! What tests of every room share: a fixed clock, callers, temporary folders, free ports.
