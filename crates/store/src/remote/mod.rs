//! What engines on a server share, so that another one costs only its own code.
//!
//! A server finds candidates by numbers of its own; **scores** are computed here from what it gives
//! back ([`Scorer`]), so that a score means the same in every engine, and more rows are asked for
//! until enough of them fit ([`RowsAsked`]). What has to be remembered of a server is in the
//! catalogue ([`Entry`], [`ServerNamespace`]), and following its log is a sequence of [`Step`]s.

mod counted;
mod rows;
mod scoring;

mod following;
mod ledger;

pub use counted::{Counted, Field, counted_in, fields_of};
pub use following::{Step, each_source, next_step};
pub use ledger::{
    Entry, ServerNamespace, entries, entry, erasures, forget, is_noted, is_taken, let_go, lost,
    note_unfinished, outdate, put, searched,
};
pub use rows::{More, RowsAsked, Scored, best};
pub use scoring::{Occurrences, Scorer, Statistics, Words, coded_length};
