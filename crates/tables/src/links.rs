//! Links to whole results: random, short-lived, for one caller's rows.
//!
//! A link is kept in memory only. It dies with its time, with the server, and with the
//! configuration under which its caller had the right to the rows.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::Caller;
use parking_lot::Mutex;

use crate::export::ExportFormat;
use crate::request::QueryRequest;

/// How long a link is good when the configuration does not say.
pub const EXPORT_LINK_MINUTES: u64 = 15;
/// The most links at a time; the oldest make room.
const MAX_LINKS: usize = 10_000;
/// Random bytes of a link.
const TOKEN_BYTES: usize = 24;

/// What a link stands for.
#[derive(Debug, Clone)]
pub struct ExportLink {
    /// Whose rows.
    pub caller: Caller,
    /// Which rows.
    pub request: QueryRequest,
    /// How they are written.
    pub format: ExportFormat,
}

/// The links of a service. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct ExportLinks(Arc<Mutex<HashMap<String, (Instant, ExportLink)>>>);

impl ExportLinks {
    /// Makes a link and gives its random part.
    pub(crate) fn add(&self, link: ExportLink, lifetime: Duration) -> String {
        let bytes: [u8; TOKEN_BYTES] = rand::random();
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut links = self.0.lock();
        let now = Instant::now();
        links.retain(|_, (until, _)| *until > now);
        if links.len() >= MAX_LINKS
            && let Some(oldest) =
                links.iter().min_by_key(|(_, (until, _))| *until).map(|(token, _)| token.clone())
        {
            links.remove(&oldest);
        }
        links.insert(token.clone(), (now + lifetime, link));
        token
    }

    /// Gives what a link stands for, while it is good.
    pub(crate) fn get(&self, token: &str) -> Option<ExportLink> {
        let links = self.0.lock();
        let (until, link) = links.get(token)?;
        (*until > Instant::now()).then(|| link.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_random_and_ends() {
        let links = ExportLinks::default();
        let link = ExportLink {
            caller: Caller::local_admin(),
            request: QueryRequest::default(),
            format: ExportFormat::Csv,
        };
        let good = links.add(link.clone(), Duration::from_secs(60));
        let over = links.add(link, Duration::ZERO);
        assert_eq!(good.len(), 2 * TOKEN_BYTES);
        assert_ne!(good, over);
        assert!(links.get(&good).is_some());
        assert!(links.get(&over).is_none());
        assert!(links.get("00").is_none());
    }
}
