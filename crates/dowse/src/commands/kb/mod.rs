//! `dowse kb`: knowledge bases of this machine, with and without a server.

mod collections;
mod documents;
mod run;
mod session;

pub(super) use run::{hosted, run};
