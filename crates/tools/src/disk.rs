//! A full disk, recognised wherever it shows up.

use crate::{Code, ToolError};

/// What SQLite says, whose error is no I/O error.
const SQLITE_FULL: &str = "database or disk is full";

/// Gives the error for a caller when a full disk is among the causes of a failure.
///
/// What was there stays readable; what was sent is not taken, and can be sent again.
pub fn disk_full(error: &(dyn std::error::Error + 'static)) -> Option<ToolError> {
    use std::io::ErrorKind;
    let mut cause = Some(error);
    while let Some(error) = cause {
        let is_full = error.downcast_ref::<std::io::Error>().is_some_and(|error| {
            matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
        });
        if is_full || error.to_string().contains(SQLITE_FULL) {
            tracing::error!("the disk of `data_dir` is full: nothing can be written");
            return Some(
                ToolError::new(Code::Unavailable, "the disk of the server is full").with_hint(
                    "nothing was taken: send it again when the operator has freed space for \
                     `data_dir`; `/readyz` says `writes: false` until then",
                ),
            );
        }
        cause = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the upload could not be kept")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn a_full_disk_is_seen_through_its_wrapping() {
        let full = Outer(std::io::ErrorKind::StorageFull.into());
        assert_eq!(disk_full(&full).unwrap().code, Code::Unavailable);
        let full = Outer(std::io::Error::other("database or disk is full: error code 13"));
        assert!(disk_full(&full).is_some());
        assert!(disk_full(&Outer(std::io::ErrorKind::PermissionDenied.into())).is_none());
    }
}
