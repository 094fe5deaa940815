//! Laws of what servers share: leases, files in pieces, and what is left to do.

use std::time::Duration;

use model::PassageId;

use super::fixtures::{WithVectors, document, made_in, space, vector};
use crate::{Catalogue, Error, limits};

pub(super) fn fingerprints_are_listed(catalogue: &dyn Catalogue) {
    let namespace = made_in(catalogue, "fingerprints", WithVectors::No);
    let documents = ["b/1", "a/2", "a/1"].map(|id| {
        let mut document = document(id, &["x"]);
        document.fingerprint = format!("of {id}");
        document
    });
    catalogue.upsert(&namespace, &documents).unwrap();
    let list = |prefix: &str| {
        let found = catalogue.fingerprints(&namespace, prefix).unwrap();
        let shown = found.into_iter().map(|found| {
            assert_eq!(found.n_passages, 1);
            format!("{}={}", found.id, found.fingerprint)
        });
        shown.collect::<Vec<_>>()
    };
    assert_eq!(list(""), ["a/1=of a/1", "a/2=of a/2", "b/1=of b/1"]);
    assert_eq!(list("a/"), ["a/1=of a/1", "a/2=of a/2"]);
    assert_eq!(list("c"), [""; 0]);
}

pub(super) fn passages_without_vectors_are_counted(catalogue: &dyn Catalogue) {
    let name = "waiting";
    let namespace = made_in(catalogue, name, WithVectors::Yes);
    let counts = || {
        let states = catalogue.namespaces().unwrap();
        assert!(states.is_sorted_by(|left, right| left.info.id < right.info.id));
        let state = states.into_iter().find(|state| state.info.id == namespace).unwrap();
        assert_eq!(state.info.manifest.vectors, Some(space()));
        (state.counts.n_passages, state.counts.n_vectors)
    };
    assert_eq!(counts(), (0, 0));
    catalogue.upsert(&namespace, &[document("a", &["one", "two", "three"])]).unwrap();
    assert_eq!(counts(), (3, 0));
    catalogue.set_vectors(&namespace, &[(PassageId::new("a#1"), vector(1, 0.1))]).unwrap();
    assert_eq!(counts(), (3, 1));
    let rest = [0, 2].map(|at| (PassageId::new(format!("a#{at}")), vector(at, 0.1)));
    catalogue.set_vectors(&namespace, &rest).unwrap();
    assert_eq!(counts(), (3, 3));
}

pub(super) fn leases_have_one_holder(catalogue: &dyn Catalogue) {
    let long = Duration::from_secs(3_600);
    assert_eq!(catalogue.lease("law").unwrap(), None);
    assert!(catalogue.take_lease("law", "one", long).unwrap());
    assert!(!catalogue.take_lease("law", "two", long).unwrap(), "somebody has it");
    assert!(catalogue.take_lease("law", "one", long).unwrap(), "the holder renews it");
    assert_eq!(catalogue.lease("law").unwrap().unwrap().holder, "one");
    assert!(!catalogue.end_lease("law", "two").unwrap());
    assert!(catalogue.end_lease("law", "one").unwrap());
    assert!(!catalogue.end_lease("law", "one").unwrap());
    assert!(catalogue.take_lease("law", "two", Duration::ZERO).unwrap());
    assert!(catalogue.take_lease("law", "one", long).unwrap(), "a lease that is over is free");
    let n_holders = std::thread::scope(|scope| {
        let take = |at: u32| {
            let holder = format!("holder {at}");
            scope.spawn(move || catalogue.take_lease("raced", &holder, long).unwrap())
        };
        let raced: Vec<_> = (0..8).map(take).collect();
        raced.into_iter().map(|taken| usize::from(taken.join().unwrap())).sum::<usize>()
    });
    assert_eq!(n_holders, 1);
}

pub(super) fn files_come_in_pieces(catalogue: &dyn Catalogue) {
    let (first, second) = (vec![1; 70_000], vec![2; 10]);
    catalogue.put_piece("law", 0, &first).unwrap();
    catalogue.put_piece("law", 1, b"draft").unwrap();
    catalogue.put_piece("law", 1, &second).unwrap();
    catalogue.put_piece("other", 0, b"other").unwrap();
    assert_eq!(catalogue.piece("law", 0).unwrap(), Some(first));
    assert_eq!(catalogue.piece("law", 1).unwrap(), Some(second));
    assert_eq!(catalogue.piece("law", 2).unwrap(), None);
    let huge = vec![0; limits::MAX_PIECE_BYTES + 1];
    let error = catalogue.put_piece("law", 3, &huge).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert_eq!(catalogue.erase_file("law").unwrap(), 2);
    assert_eq!(catalogue.erase_file("law").unwrap(), 0);
    assert_eq!(catalogue.piece("law", 0).unwrap(), None);
    assert_eq!(catalogue.piece("other", 0).unwrap(), Some(b"other".to_vec()));
    catalogue.erase_file("other").unwrap();
}

pub(super) fn the_identity_stays(catalogue: &dyn Catalogue) {
    let identity = catalogue.identity().unwrap();
    assert!(identity.len() >= 16, "{identity}");
    assert_eq!(catalogue.identity().unwrap(), identity);
}
