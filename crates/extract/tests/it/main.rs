//! The promises of the crate, kept from outside: what is read of every format, what hostile bytes
//! cannot do, what becomes of workers.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made is a failed test")]

mod fixtures;

mod docx;
mod embedded;
mod formats;
mod formulas;
mod hostile;
mod lists;
mod mail;
mod names;
mod outcomes;
mod pdf;
mod pool;
