//! The embedded store keeps every law of the contract.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use model::{Clock, Timestamp};
use store::{Config, Store, conformance};

fn open(folder: &std::path::Path) -> Store {
    let clock = Clock::fixed(Timestamp(1_700_000_000_000));
    Store::open(folder, &Config::for_one_machine(), clock).unwrap()
}

#[test]
fn the_embedded_store_keeps_every_law() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    conformance::check_engine(&store);
}

#[test]
fn the_embedded_catalogue_keeps_every_law() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    conformance::check_catalogue(&*store.catalogue());
}
