//! Tests of the service over an embedded store.
