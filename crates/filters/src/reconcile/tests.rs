//! Candidates, suggestions and properties mean what the lookup means.

use model::Caller;

use super::{
    MAX_EXTENDED, MAX_RECONCILE_QUERIES, PropertyValue, ReconcileCandidate, ReconcileEvidence,
    ReconcileQuery, WantedProperty,
};
use crate::Reconciliation;
use crate::tests::fixture;

fn reconciliation() -> (tempfile::TempDir, Reconciliation) {
    let (folder, service) = fixture();
    (folder, Reconciliation::new(service))
}

fn query(text: &str, types: &[&str], properties: &[(&str, &[&str])]) -> ReconcileQuery {
    let texts = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    let property = |(name, values): &(&str, &[&str])| WantedProperty {
        name: (*name).to_owned(),
        values: texts(values),
    };
    ReconcileQuery {
        text: text.to_owned(),
        types: texts(types),
        limit: 5,
        properties: properties.iter().map(property).collect(),
    }
}

fn ids(found: &[ReconcileCandidate]) -> Vec<&str> {
    found.iter().map(|candidate| candidate.id.as_str()).collect()
}

#[test]
fn every_query_has_its_candidates_the_best_first() {
    let (_folder, reconciliation) = reconciliation();
    let queries = [
        query("Cluj", &["uat"], &[]),
        query("Primăria Cluj-Napoca", &["entity"], &[]),
        query("zzz", &[], &[]),
        query("Cluj", &["uat"], &[("isCounty", &["false"])]),
        query("", &[], &[("countyCode", &["cj", "GJ"]), ("isCounty", &["false"])]),
        query("Cluj", &["nothing of the kind"], &[]),
        query(" ", &[], &[]),
    ];
    let found = reconciliation.candidates(&Caller::local_admin(), &queries).unwrap();
    assert_eq!(ids(&found[0])[0], "uat/123");
    assert!(found[0][0].is_match);
    assert!(found[0].iter().skip(1).all(|candidate| !candidate.is_match));
    assert_eq!(ids(&found[1])[0], "entity/4305857");
    assert!(found[2].is_empty());
    assert_eq!(ids(&found[3])[0], "uat/124", "the county contradicts");
    assert_eq!(ids(&found[4]), ["uat/124", "uat/125"]);
    assert_eq!(found[4][0].evidence, ReconcileEvidence::Properties { n_wanted: 2 });
    assert!(!found[4][0].is_match, "two of them fit alike");
    assert!(found[5].is_empty() && found[6].is_empty());
}

#[test]
fn limits_are_kept() {
    let (_folder, reconciliation) = reconciliation();
    let caller = Caller::local_admin();
    let limited = |limit: usize| {
        let query = ReconcileQuery { limit, ..query("Cluj", &[], &[]) };
        reconciliation.candidates(&caller, &[query]).unwrap()[0].len()
    };
    assert_eq!((limited(0), limited(2)), (1, 2));
    let queries = vec![query("Cluj", &[], &[]); MAX_RECONCILE_QUERIES + 1];
    assert!(reconciliation.candidates(&caller, &queries).unwrap_err().is_callers());
    let ids = vec!["uat/123".to_owned(); MAX_EXTENDED + 1];
    assert!(reconciliation.extend(&caller, &ids, &[]).unwrap_err().is_callers());
}

#[test]
fn what_is_typed_so_far_is_completed() {
    let (_folder, reconciliation) = reconciliation();
    let caller = Caller::local_admin();
    assert!(!reconciliation.suggested(&caller, "clu").is_empty());
    assert_eq!(reconciliation.types(&caller, "CLASS").len(), 2);
    assert_eq!(reconciliation.properties(&caller, "popu"), ["population"]);
}

#[test]
fn entities_are_extended_and_shown() {
    let (_folder, reconciliation) = reconciliation();
    let caller = Caller::local_admin();
    assert_eq!(reconciliation.properties_of(&caller, "uat", 3).unwrap().len(), 3);
    assert!(reconciliation.properties_of(&caller, "nope", 3).is_err());
    let ids = ["uat/123", "uat/nope"].map(str::to_owned);
    let properties = ["population", "isCounty", "name_en", "nope"].map(str::to_owned);
    let text = |value: &str| Some(PropertyValue::Text(value.to_owned()));
    assert_eq!(
        reconciliation.extend(&caller, &ids, &properties).unwrap(),
        [
            vec![Some(PropertyValue::Whole(691_106)), text("true"), text("Cluj County"), None],
            vec![None; 4],
        ]
    );
    let entity = reconciliation.entity(&caller, "uat/123").unwrap();
    assert_eq!((entity.name.as_str(), entity.filter_value.as_str()), ("JUDEȚUL CLUJ", "123"));
    assert!(reconciliation.entity(&caller, "uat/<script>").is_err());
}
