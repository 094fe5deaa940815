//! What the database said, as errors of the store: away, full, in conflict, or a fault of ours.

use model::with_causes;
use store::Error;
use tokio_postgres::error::SqlState;

/// Turns an error of the client into one of the store.
pub(crate) fn of(error: tokio_postgres::Error) -> Error {
    let Some(state) = error.code() else {
        return away(with_causes(&error));
    };
    let code = state.code();
    if *state == SqlState::DISK_FULL {
        return Error::DiskFull { what: "the catalogue in PostgreSQL", source: Box::new(error) };
    }
    // Connections (08), resources (53), operators (57), read-only or in recovery (25006), and the
    // storage of the server (58): all pass without a change of ours.
    let is_passing = ["08", "53", "57", "58"].iter().any(|class| code.starts_with(class))
        || *state == SqlState::READ_ONLY_SQL_TRANSACTION;
    let reason = with_causes(&error);
    if is_passing {
        return away(reason);
    }
    if is_damage(state) {
        return Error::CatalogueDamaged { reason, source: None };
    }
    Error::CatalogueRefused { code: code.to_owned(), reason }
}

/// Says that the database cannot be reached.
pub(crate) fn away(reason: impl Into<String>) -> Error {
    Error::CatalogueUnavailable { reason: reason.into() }
}

/// Tells whether the same transaction, begun again, may go through: two of them were in each
/// other's way.
pub(crate) fn is_conflict(error: &Error) -> bool {
    let Error::CatalogueRefused { code, .. } = error else { return false };
    let transient = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
    transient.iter().any(|state| state.code() == code)
}

fn is_damage(state: &SqlState) -> bool {
    *state == SqlState::DATA_CORRUPTED || *state == SqlState::INDEX_CORRUPTED
}
