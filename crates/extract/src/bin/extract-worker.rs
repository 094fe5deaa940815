//! A worker of its own, for the tests of the pool and for measurements outside the server.

fn main() {
    extract::worker::main_if_asked();
}
