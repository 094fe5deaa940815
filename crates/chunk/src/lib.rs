//! Pages in, passages with exact spans out.
