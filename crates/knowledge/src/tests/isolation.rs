//! Random worlds: no answer contains, counts, ranks by or reveals what a caller may not see.
//!
//! Every document holds a word of its own. For each caller the test works out by itself what
//! they may see, and compares every answer with a second world that holds only that: if
//! anything hidden had an influence, an answer would differ.

use ingest::JobService as _;
use model::{Caller, Clearance};
use proptest::prelude::*;

use super::{Fixture, admin, member};
use crate::{BaseChange, Error, NewCollection, SearchResults, Sharing, Visibility};

const TENANTS: [&str; 2] = ["acme", "other"];
/// Users, and groups with a `*`; most things are shared with nobody.
const SHARED: [&[&str]; 6] = [&[], &[], &[], &["ann"], &["*board"], &["eve", "*crew"]];
const GROUPS: [&[&str]; 3] = [&[], &["board"], &["crew", "other"]];
const DEPARTMENTS: [Option<&str>; 3] = [None, Some("hr"), Some("it")];

#[derive(Debug, Clone)]
struct OneCollection {
    department: Option<&'static str>,
    clearance: Clearance,
    shared_with: &'static [&'static str],
    n_documents: usize,
}

#[derive(Debug, Clone)]
struct OneBase {
    tenant: &'static str,
    is_public: bool,
    owner: &'static str,
    shared_with: &'static [&'static str],
    collections: Vec<OneCollection>,
}

fn collections() -> impl Strategy<Value = OneCollection> {
    (0..3_usize, 0..4_usize, 0..6_usize, 1..3_usize).prop_map(
        |(department, clearance, shared_with, n_documents)| OneCollection {
            department: DEPARTMENTS[department],
            clearance: Clearance::ALL[clearance],
            shared_with: SHARED[shared_with],
            n_documents,
        },
    )
}

fn bases() -> impl Strategy<Value = Vec<OneBase>> {
    let one =
        (0..2_usize, any::<[bool; 2]>(), 0..6_usize, prop::collection::vec(collections(), 1..4))
            .prop_map(|(tenant, [is_public, is_anns], shared_with, collections)| OneBase {
                tenant: TENANTS[tenant],
                is_public,
                owner: if is_anns { "ann" } else { "bob" },
                shared_with: SHARED[shared_with],
                collections,
            });
    prop::collection::vec(one, 1..4)
}

fn callers() -> impl Strategy<Value = Caller> {
    (0..2_usize, any::<bool>(), 0..3_usize, 0..5_usize, 0..3_usize, 0..8_u8).prop_map(
        |(tenant, is_ann, department, clearance, groups, dice)| {
            let subject = if is_ann { "ann" } else { "eve" };
            let caller = Caller {
                department: DEPARTMENTS[department].map(str::to_owned),
                clearance: Clearance::ALL[clearance],
                roles: GROUPS[groups].iter().map(|group| Caller::role_of_group(group)).collect(),
                ..member(TENANTS[tenant], subject)
            };
            if dice == 0 { admin(TENANTS[tenant]) } else { caller }
        },
    )
}

/// The rules, written a second time.
fn reads(caller: &Caller, base: &OneBase) -> bool {
    caller.tenant.as_str() == base.tenant
        && (caller.is_admin()
            || base.is_public
            || caller.subject == base.owner
            || is_named(caller, base.shared_with))
}

fn is_named(caller: &Caller, shared_with: &[&str]) -> bool {
    shared_with.iter().any(|name| match name.strip_prefix('*') {
        Some(group) => caller.roles.contains(&format!("group:{group}")),
        None => caller.subject == *name,
    })
}

fn sharing(shared_with: &[&str]) -> Sharing {
    let (groups, users): (Vec<&str>, Vec<&str>) =
        shared_with.iter().partition(|name| name.starts_with('*'));
    let names = |names: Vec<&str>| {
        names.into_iter().map(|name| name.trim_start_matches('*').to_owned()).collect()
    };
    Sharing { users: names(users), groups: names(groups) }
}

fn sees(caller: &Caller, base: &OneBase, collection: &OneCollection) -> bool {
    let is_in =
        collection.department.is_none() || collection.department == caller.department.as_deref();
    let is_reached = is_in || is_named(caller, collection.shared_with);
    reads(caller, base)
        && (caller.is_admin() || (is_reached && collection.clearance <= caller.clearance))
}

fn text_of(base: usize, collection: usize, document: usize) -> String {
    let shared = ["rule", "policy", "guide"][(base + collection + document) % 3];
    format!("The {shared} about work number word{base}x{collection}x{document}.")
}

struct Built {
    world: Fixture,
    /// The id of each base, and what was made in it.
    bases: Vec<(crate::KnowledgeBaseId, Vec<Option<Made>>)>,
}

/// Ids of a collection, of its first chunk, and of the job that made it.
struct Made {
    collection: crate::CollectionId,
    chunk: String,
    job: String,
}

/// Builds a world with the collections that `keep` says.
fn build(plan: &[OneBase], keep: impl Fn(&OneBase, &OneCollection) -> bool) -> Built {
    let world = Fixture::new();
    let mut built = vec![];
    for (b, base) in plan.iter().enumerate() {
        let visibility = if base.is_public { Visibility::Public } else { Visibility::Private };
        let owner = member(base.tenant, base.owner);
        let boss = admin(base.tenant);
        let base_id = world.base(&owner, "Base", visibility);
        let shared_with = Some(sharing(base.shared_with));
        let change = BaseChange { shared_with, ..BaseChange::default() };
        world.service.update_base(&owner, &base_id, &change).unwrap();
        let mut ids = vec![];
        for (c, collection) in base.collections.iter().enumerate() {
            if !keep(base, collection) {
                ids.push(None);
                continue;
            }
            let new = NewCollection {
                name: format!("collection {b} {c}"),
                department: collection.department.map(str::to_owned),
                clearance: collection.clearance,
                shared_with: sharing(collection.shared_with),
                ..NewCollection::default()
            };
            let id = world.collection(&boss, &base_id, new);
            let texts: Vec<String> =
                (0..collection.n_documents).map(|d| text_of(b, c, d)).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let accepted = world.add(&boss, &id, &texts);
            let chunk = format!("{}:0", accepted.documents[0].id);
            ids.push(Some(Made { collection: id, chunk, job: accepted.job.id.to_string() }));
        }
        built.push((base_id, ids));
    }
    world.settle();
    Built { world, bases: built }
}

/// An answer without the ids, which are random: score, text, and why.
fn shape(found: &SearchResults) -> Vec<(String, String, String)> {
    let mut shape: Vec<(String, String, String)> = found
        .results
        .iter()
        .map(|chunk| {
            // Equal scores are ordered by ids, so a rank among equals is random too.
            let scores: Vec<String> = chunk
                .explanation
                .stages
                .iter()
                .map(|stage| format!("{:?} {:.6}", stage.stage, stage.score))
                .filter(|stage| !stage.starts_with("Rrf"))
                .collect();
            let why = (scores, &chunk.explanation.exact, &chunk.explanation.folded);
            (format!("{:.6}", chunk.score.get()), chunk.content.clone(), format!("{why:?}"))
        })
        .collect();
    shape.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    shape
}

/// What one question over all knowledge bases gives.
fn everywhere(world: &Fixture, caller: &Caller, query: &str) -> SearchResults {
    world.service.search_everywhere(caller, query, 50, &super::soon()).unwrap()
}

fn check(plan: &[OneBase], caller: &Caller) -> Result<(), TestCaseError> {
    let whole = build(plan, |_, _| true);
    let seen = build(plan, |base, collection| sees(caller, base, collection));
    let service = &whole.world.service;
    let n_readable = plan.iter().filter(|base| reads(caller, base)).count();
    prop_assert_eq!(service.list_bases(caller).unwrap().len(), n_readable);
    for query in ["rule work", "word0x0x0 word1x1x1", "nothing of the kind"] {
        let (one, same) =
            (everywhere(&whole.world, caller, query), everywhere(&seen.world, caller, query));
        prop_assert_eq!(shape(&one), shape(&same));
        prop_assert_eq!(&one.warnings, &same.warnings);
    }
    let ids = whole.bases.iter().zip(&seen.bases);
    for (base_idx, (base, ((id, collections), (seen_id, _)))) in plan.iter().zip(ids).enumerate() {
        let refused = (base.tenant != caller.tenant.as_str(), !reads(caller, base));
        let search = service.search(caller, &super::request(id, "rule work"), &super::soon());
        let summary = service.summary(caller, id);
        match refused {
            (true, _) => {
                let is_missing = |error: &Error| matches!(error, Error::BaseNotFound { .. });
                prop_assert!(search.as_ref().is_err_and(is_missing));
                prop_assert!(summary.as_ref().is_err_and(is_missing));
            }
            (false, true) => {
                prop_assert!(matches!(search, Err(Error::Denied)));
                prop_assert!(matches!(summary, Err(Error::Denied)));
            }
            (false, false) => {
                let other = &seen.world;
                for query in ["rule work", "policy about work", "word0x0x0 word1x1x1"] {
                    let one = whole.world.search(caller, id, query);
                    let same = other.search(caller, seen_id, query);
                    prop_assert_eq!(shape(&one), shape(&same));
                    prop_assert_eq!(&one.warnings, &same.warnings);
                }
                let (one, same) =
                    (summary.unwrap(), other.service.summary(caller, seen_id).unwrap());
                prop_assert_eq!(one.statistics, same.statistics);
                prop_assert_eq!(&one.warnings, &same.warnings);
                prop_assert_eq!(one.version, same.version);
                let n_visible =
                    base.collections.iter().filter(|each| sees(caller, base, each)).count();
                let listed = service.list_collections(caller, id).unwrap();
                prop_assert_eq!(listed.len(), n_visible);
                for (c, collection) in base.collections.iter().enumerate() {
                    let word = format!("word{base_idx}x{c}x");
                    let may = sees(caller, base, collection);
                    prop_assert!(may || !one.summary.contains(&word), "{}", one.summary);
                }
            }
        }
        for (collection, made) in base.collections.iter().zip(collections) {
            let Made { collection: collection_id, chunk, job } =
                made.as_ref().expect("the whole world holds all");
            let may = sees(caller, base, collection);
            prop_assert_eq!(service.get_collection(caller, collection_id).is_ok(), may);
            prop_assert_eq!(service.get_chunk(caller, &model::PassageId::new(chunk)).is_ok(), may);
            let document = chunk.trim_end_matches(":0");
            prop_assert_eq!(
                service.get_document(caller, &crate::KnowledgeDocumentId::new(document)).is_ok(),
                may
            );
            prop_assert_eq!(
                service
                    .document_text(caller, &crate::KnowledgeDocumentId::new(document), 100)
                    .is_ok(),
                may
            );
            prop_assert_eq!(service.list_documents(caller, collection_id, None, 10).is_ok(), may);
            prop_assert_eq!(service.summary_versions(caller, collection_id).is_ok(), may);
            prop_assert_eq!(service.job(caller, &ingest::JobId::new(job)).is_ok(), may);
            if refused.0 {
                let error = service.get_chunk(caller, &model::PassageId::new(chunk)).unwrap_err();
                prop_assert_eq!(error.to_string(), format!("Chunk not found: `{chunk}`"));
                let error = service
                    .document_text(caller, &crate::KnowledgeDocumentId::new(document), 100)
                    .unwrap_err();
                prop_assert_eq!(error.to_string(), format!("Document not found: `{document}`"));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn nobody_learns_what_they_may_not_see(plan in bases(), caller in callers()) {
        check(&plan, &caller)?;
    }
}
