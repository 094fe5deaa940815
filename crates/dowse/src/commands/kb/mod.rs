//! `dowse kb`: knowledge bases of this machine, without a server.

mod collections;
mod desk;
mod documents;
mod run;

pub(super) use run::run;
