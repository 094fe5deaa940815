//! The read path: a query in, ranked hits with reasons out.
