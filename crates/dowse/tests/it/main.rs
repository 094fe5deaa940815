//! The real binary, from outside: what it answers to good callers, to bad ones, and to none.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod test_server;

mod backup;
mod bad_headers;
mod bad_messages;
mod beside;
mod cells;
mod chat;
mod check;
mod connections;
mod console;
mod console_pages;
mod contexts;
mod contract;
mod cross_encoder;
mod demo;
mod denial;
mod documents;
mod engines;
mod erasure;
mod everywhere;
mod exposure;
mod files;
mod first_index;
mod forgiving;
mod guides;
mod identity;
mod kb;
mod knowledge;
mod language_model;
mod law;
mod library;
mod lists;
mod meaning;
mod messages;
mod openapi;
mod own_dimensions;
mod pictures;
mod pipes;
mod private_pieces;
mod reconcile;
mod records;
mod reload;
mod servers;
mod upgrade;
