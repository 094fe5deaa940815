//! The real binary, from outside: what it answers to good callers, to bad ones, and to none.

mod house;

mod bad_headers;
mod bad_messages;
mod connections;
mod identity;
mod pipes;
mod records;
mod reload;
