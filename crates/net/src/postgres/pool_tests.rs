//! Proves, against a PostgreSQL of the test's own, that: sessions are used again; there are never
//! more of them than the limit, and whoever comes later waits for one; a session that is dropped
//! ends and leaves its place; whoever waits for too long is told so.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use testkit::Postgres;
use tokio_postgres::Client;

use super::pool::{MAX_SESSIONS, SessionError};
use super::{PostgresAddress, PostgresPool, wait_for};

const LONG: Duration = Duration::from_secs(60);

fn pool(postgres: &Postgres) -> PostgresPool {
    let address = PostgresAddress::parse(&postgres.url(), LONG).unwrap();
    PostgresPool::new(address, "SET application_name = 'pooled'")
}

/// Gives the number of the process that serves a session.
fn process(client: &Client) -> i32 {
    let asked = client.query_one("SELECT pg_backend_pid()", &[]);
    wait_for(asked).unwrap().unwrap().get(0)
}

#[test]
fn sessions_are_used_again_and_never_too_many() {
    let Some(postgres) = Postgres::start() else { return };
    let pool = pool(&postgres);
    let first = pool.take(LONG).unwrap();
    let its_process = process(&first);
    first.give_back();
    let again = pool.take(LONG).unwrap();
    assert_eq!(process(&again), its_process);
    drop(again);
    assert_ne!(process(&pool.take(LONG).unwrap()), its_process, "a dropped session has ended");

    let n_taken = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 * MAX_SESSIONS {
            scope.spawn(|| {
                let session = pool.take(LONG).unwrap();
                assert!(n_taken.fetch_add(1, Ordering::SeqCst) < MAX_SESSIONS);
                process(&session);
                n_taken.fetch_sub(1, Ordering::SeqCst);
                session.give_back();
            });
        }
    });
}

#[test]
fn whoever_waits_for_too_long_is_told() {
    let Some(postgres) = Postgres::start() else { return };
    let pool = pool(&postgres);
    let mut taken: Vec<_> = (0..MAX_SESSIONS).map(|_| pool.take(LONG).unwrap()).collect();
    let late = pool.take(Duration::from_millis(20)).err();
    assert!(matches!(late, Some(SessionError::InUse)), "{late:?}");
    taken.pop();
    let mut session = pool.take(LONG).unwrap();
    wait_for(session.limit_statements(Duration::from_millis(50))).unwrap().unwrap();
    let slow = wait_for(session.batch_execute("SELECT pg_sleep(60)")).unwrap().unwrap_err();
    assert_eq!(slow.code(), Some(&tokio_postgres::error::SqlState::QUERY_CANCELED));
}
