//! Everything that is kept: the catalogue, passages, full text and vectors, behind one contract.
