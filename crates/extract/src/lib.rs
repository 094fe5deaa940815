//! Bytes in, pages with pointers and warnings out. Pure, capped, never panics.
