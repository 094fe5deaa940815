//! Links to whole results: random, short-lived, for one caller's rows.
//!
//! A server of its own keeps links in memory only: they die with their time, with the server, and
//! with the configuration under which their caller had the right to the rows. Servers that share a
//! catalogue keep them there, under the hash of their random part, so that a link opens on all of
//! them; their time is counted by the catalogue's own clock.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use columns::Direction;
use model::{Caller, Clearance, Identity, TenantId, hex};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{Catalogue, Change, ObjectKey, ObjectPage, TypedObject};

use crate::Result;
use crate::export::ExportFormat;
use crate::field_filter::Filters;
use crate::request::{Formulas, QueryRequest, SortRequest};

/// How long a link is good when the configuration does not say.
pub const EXPORT_LINK_MINUTES: u64 = 15;
/// The most links at a time; the oldest make room.
const MAX_LINKS: usize = 10_000;
/// Random bytes of a link.
const TOKEN_BYTES: usize = 24;
/// Links that are made between two looks for those whose time is over.
const SWEEP_EVERY: usize = 100;

/// What a link stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportLink {
    /// Whose rows.
    pub caller: Caller,
    /// Which rows.
    pub request: QueryRequest,
    /// How they are written.
    pub format: ExportFormat,
}

/// The links of a service. Cheap to clone.
#[derive(Clone)]
pub(crate) enum ExportLinks {
    Here(Arc<Mutex<HashMap<String, (Instant, ExportLink)>>>),
    Shared { catalogue: Arc<dyn Catalogue>, n_made: Arc<Mutex<usize>> },
}

/// A link as a row: what an export reads of a request, and whose it is. Who reads the catalogue
/// cannot open it.
#[derive(Serialize, Deserialize)]
struct StoredLink {
    hash: String,
    subject: String,
    tenant: TenantId,
    department: Option<String>,
    clearance: Clearance,
    roles: BTreeSet<String>,
    identity: String,
    table: Option<String>,
    filters: Filters,
    sort: Vec<(String, bool)>,
    columns: Option<Vec<String>>,
    time_zone: Option<String>,
    is_defused: bool,
    format: String,
}

/// The ways to prove an identity, as rows name them.
const IDENTITIES: [(&str, Identity); 4] = [
    ("local", Identity::Local),
    ("key", Identity::Key),
    ("token", Identity::Token),
    ("endpoint", Identity::Endpoint),
];

impl StoredLink {
    fn of(hash: String, link: ExportLink) -> Self {
        let ExportLink { caller, request, format } = link;
        let identity = IDENTITIES.iter().find(|(_, one)| *one == caller.identity);
        let by_field = |sort: SortRequest| (sort.id, sort.direction == Direction::Descending);
        StoredLink {
            hash,
            subject: caller.subject,
            tenant: caller.tenant,
            department: caller.department,
            clearance: caller.clearance,
            roles: caller.roles,
            identity: identity.map_or("", |(name, _)| name).to_owned(),
            table: request.table,
            filters: request.filters,
            sort: request.sort.into_iter().map(by_field).collect(),
            columns: request.columns,
            time_zone: request.time_zone,
            is_defused: request.formulas == Formulas::Defused,
            format: format.as_str().to_owned(),
        }
    }

    /// Gives the link; nothing where a later program wrote something that this one does not know.
    fn link(self) -> Option<ExportLink> {
        let (_, identity) = IDENTITIES.iter().find(|(name, _)| *name == self.identity)?;
        let format = ExportFormat::ALL.into_iter().find(|one| one.as_str() == self.format)?;
        let by_field = |(id, is_descending): (String, bool)| {
            let direction =
                if is_descending { Direction::Descending } else { Direction::Ascending };
            SortRequest { id, direction }
        };
        let request = QueryRequest {
            table: self.table,
            filters: self.filters,
            sort: self.sort.into_iter().map(by_field).collect(),
            columns: self.columns,
            time_zone: self.time_zone,
            formulas: if self.is_defused { Formulas::Defused } else { Formulas::Kept },
            ..QueryRequest::default()
        };
        let caller = Caller {
            subject: self.subject,
            tenant: self.tenant,
            department: self.department,
            clearance: self.clearance,
            roles: self.roles,
            identity: *identity,
        };
        Some(ExportLink { caller, request, format })
    }
}

impl TypedObject for StoredLink {
    type Id = str;

    const KIND: &'static str = "moment_export_link";

    fn id(&self) -> String {
        self.hash.clone()
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }
}

impl Default for ExportLinks {
    fn default() -> Self {
        ExportLinks::Here(Arc::default())
    }
}

impl ExportLinks {
    /// Keeps links in a catalogue that is shared.
    pub(crate) fn shared(catalogue: Arc<dyn Catalogue>) -> Self {
        ExportLinks::Shared { catalogue, n_made: Arc::default() }
    }

    /// Makes a link and gives its random part.
    pub(crate) fn add(&self, link: ExportLink, lifetime: Duration) -> Result<String> {
        let bytes: [u8; TOKEN_BYTES] = rand::random();
        let token = hex(bytes);
        match self {
            ExportLinks::Here(links) => add_here(&mut links.lock(), &token, link, lifetime),
            ExportLinks::Shared { catalogue, n_made } => {
                let mut n_made = n_made.lock();
                if n_made.is_multiple_of(SWEEP_EVERY) {
                    sweep(&**catalogue)?;
                }
                *n_made += 1;
                drop(n_made);
                let kept = StoredLink::of(hash_of(&token), link);
                // First, since a row without a lease is taken for one that is over.
                catalogue.take_lease(&lease_of(&kept.hash), &kept.hash, lifetime)?;
                kept.save(&**catalogue)?;
            }
        }
        Ok(token)
    }

    /// Gives what a link stands for, while it is good.
    pub(crate) fn get(&self, token: &str) -> Result<Option<ExportLink>> {
        match self {
            ExportLinks::Here(links) => {
                let links = links.lock();
                let known = links.get(token).filter(|(until, _)| *until > Instant::now());
                Ok(known.map(|(_, link)| link.clone()))
            }
            ExportLinks::Shared { catalogue, .. } => {
                let hash = hash_of(token);
                if catalogue.lease(&lease_of(&hash))?.is_none() {
                    return Ok(None);
                }
                Ok(StoredLink::load(&**catalogue, &hash)?.and_then(|(kept, _)| kept.link()))
            }
        }
    }
}

fn add_here(
    links: &mut HashMap<String, (Instant, ExportLink)>,
    token: &str,
    link: ExportLink,
    lifetime: Duration,
) {
    let now = Instant::now();
    links.retain(|_, (until, _)| *until > now);
    if links.len() >= MAX_LINKS
        && let Some(oldest) =
            links.iter().min_by_key(|(_, (until, _))| *until).map(|(token, _)| token.clone())
    {
        links.remove(&oldest);
    }
    links.insert(token.to_owned(), (now + lifetime, link));
}

/// Erases the links whose time is over.
fn sweep(catalogue: &dyn Catalogue) -> Result<()> {
    for kept in StoredLink::list(catalogue, &ObjectPage::of(StoredLink::KIND))? {
        if catalogue.lease(&lease_of(&kept.hash))?.is_none() {
            catalogue.apply(&[Change::Delete(ObjectKey::new(StoredLink::KIND, &kept.hash))])?;
        }
    }
    Ok(())
}

fn lease_of(hash: &str) -> String {
    format!("export/{hash}")
}

fn hash_of(token: &str) -> String {
    hex(Sha256::digest(token.as_bytes()))
}

#[cfg(test)]
mod tests {
    use model::{Clock, Timestamp};
    use store::{Config, Objects, Store};

    use super::*;

    fn link() -> ExportLink {
        ExportLink {
            caller: Caller::local_admin(),
            request: QueryRequest {
                table: Some("visits".to_owned()),
                filters: Filters::from_iter([("city", "Lisbon")]),
                sort: vec![SortRequest { id: "n".to_owned(), direction: Direction::Descending }],
                columns: Some(vec!["n".to_owned()]),
                time_zone: Some("Europe/Lisbon".to_owned()),
                formulas: Formulas::Defused,
                ..QueryRequest::default()
            },
            format: ExportFormat::Csv,
        }
    }

    fn check(links: &ExportLinks, other: &ExportLinks) {
        let good = links.add(link(), Duration::from_secs(60)).unwrap();
        let over = links.add(link(), Duration::ZERO).unwrap();
        assert_eq!(good.len(), 2 * TOKEN_BYTES);
        assert_ne!(good, over);
        for links in [links, other] {
            assert_eq!(links.get(&good).unwrap(), Some(link()));
            assert_eq!(links.get(&over).unwrap(), None);
            assert_eq!(links.get("00").unwrap(), None);
        }
    }

    #[test]
    fn a_link_is_random_and_ends() {
        let links = ExportLinks::default();
        check(&links, &links.clone());
    }

    #[test]
    fn a_link_in_a_catalogue_opens_for_all_who_share_it_and_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::fixed(Timestamp(0));
        let store = Store::open(folder.path(), &Config::for_one_machine(), clock).unwrap();
        let catalogue = store.catalogue();
        let one = ExportLinks::shared(Arc::clone(&catalogue));
        let other = ExportLinks::shared(Arc::clone(&catalogue));
        check(&one, &other);
        // The random part itself is nowhere in the catalogue.
        let token = one.add(link(), Duration::from_secs(60)).unwrap();
        let rows = Objects::list(&*catalogue, &ObjectPage::of(StoredLink::KIND)).unwrap();
        assert_eq!(rows.len(), 3);
        assert!(
            rows.iter()
                .all(|row| !row.key.id.contains(&token) && !row.body.to_string().contains(&token))
        );
        // What is over goes when another one looks.
        check(&other, &one);
        let n_left = Objects::list(&*catalogue, &ObjectPage::of(StoredLink::KIND)).unwrap().len();
        assert_eq!(n_left, 4, "one of the three was over, and two came");
    }
}
