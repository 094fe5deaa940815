//! A full disk, recognised wherever it shows up.

use crate::{Code, ToolError};

/// Gives the error for a caller when a full disk is among the causes of a failure.
///
/// What was there stays readable; what was sent is not taken, and can be sent again.
pub fn disk_full(error: &(dyn std::error::Error + 'static)) -> Option<ToolError> {
    use std::io::ErrorKind;
    let of_system = |error: &std::io::Error| {
        matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
    };
    // The store says it for its databases and indexes, whose own errors are no I/O errors.
    let is_full = model::causes(error).any(|error| {
        error.downcast_ref::<std::io::Error>().is_some_and(of_system)
            || error.downcast_ref::<store::Error>().is_some_and(store::Error::is_disk_full)
    });
    if !is_full {
        return None;
    }
    tracing::error!("the disk of `data_dir` is full: nothing can be written");
    Some(ToolError::new(Code::Unavailable, "the disk of the server is full").with_hint(
        "nothing was taken: send it again when the operator has freed space for `data_dir`; \
         `/readyz` says `writes: false` until then",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the upload could not be kept")]
    struct Outer<E: std::error::Error + 'static>(#[source] E);

    #[test]
    fn a_full_disk_is_seen_through_its_wrapping() {
        let of_system = |kind: std::io::ErrorKind| Outer(std::io::Error::from(kind));
        let full = of_system(std::io::ErrorKind::StorageFull);
        assert_eq!(disk_full(&full).unwrap().code, Code::Unavailable);
        let source = Box::new(std::io::Error::other("error code 13"));
        let full = store::Error::DiskFull { what: "the catalogue", source };
        assert!(disk_full(&Outer(Outer(full))).is_some());
        assert!(disk_full(&of_system(std::io::ErrorKind::PermissionDenied)).is_none());
    }
}
