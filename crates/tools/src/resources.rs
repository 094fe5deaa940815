//! What an agent may read by its address: a document, a file, a chart.
//!
//! Addresses are `dowse://FAMILY/…`. Each family that has something to read implements
//! [`Resources`]; [`ResourceSet`] puts the families of a server together. Like a tool, a resource
//! that a caller may not use does not exist for them.

use std::sync::Arc;

use model::{Around, Caller, Deadline, Identity};

use crate::{Exposure, ToolError};

/// The scheme of every address.
const SCHEME: &str = "dowse://";

/// Something that can be read, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceEntry {
    /// The address.
    pub uri: String,
    /// What a person reads.
    pub name: String,
    /// A media type, where it is known before it is read.
    pub mime_type: Option<String>,
}

/// A pattern of addresses, with `{name}` for what the reader fills in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourcePattern {
    /// The pattern, such as `dowse://files/{root}/{path}`.
    pub pattern: String,
    /// What a person reads.
    pub name: String,
    /// What to fill in, written for an agent; holds no text from sources.
    pub description: String,
    /// The type of what is there, where it is always the same.
    pub mime_type: Option<String>,
}

/// What is at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceContent {
    /// A media type.
    pub mime_type: String,
    /// The content itself.
    pub body: ResourceBody,
}

/// What a reader of an address is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text from a source: redacted before it leaves.
    SourceText {
        /// Not redacted yet.
        text: String,
        /// What the source says around it: it is looked at and never leaves.
        around: Around,
        /// Where it goes on, if it is a part of something longer.
        next: Option<String>,
    },
    /// Text that this server wrote, such as the data of a chart.
    OwnText(String),
    /// Bytes as they are.
    Bytes(Vec<u8>),
}

/// The resources of one family.
pub trait Resources: Send + Sync {
    /// The family's word in an address: `files` in `dowse://files/…`.
    fn family(&self) -> &str;

    /// The tool that gives the same: whoever may not call it reads nothing here.
    fn tool(&self) -> Option<&str> {
        None
    }

    /// Lists at most `limit` resources in the order of their addresses, beginning after `after`.
    ///
    /// A family that may have millions lists none: its search is the way to them.
    fn list(&self, _caller: &Caller, _after: Option<&str>, _limit: usize) -> Vec<ResourceEntry> {
        Vec::new()
    }

    /// Lists the patterns of addresses.
    fn patterns(&self, _caller: &Caller) -> Vec<ResourcePattern> {
        Vec::new()
    }

    /// Reads one; nothing when it does not exist for this caller.
    fn read(
        &self,
        caller: &Caller,
        uri: &str,
        deadline: &Deadline,
    ) -> Result<Option<ResourceContent>, ToolError>;
}

/// The resources of all families, in a fixed order. Empty where no family has any.
#[derive(Default, Clone)]
pub struct ResourceSet {
    families: Vec<Arc<dyn Resources>>,
    exposure: Arc<Exposure>,
}

impl ResourceSet {
    /// Keeps the families in the given order.
    pub fn new(families: Vec<Arc<dyn Resources>>) -> Self {
        ResourceSet { families, exposure: Arc::new(Exposure::default()) }
    }

    /// Gives the same to those whom an exposure allows the tools that read it.
    #[must_use]
    pub fn exposed(&self, exposure: Exposure) -> Self {
        ResourceSet { families: self.families.clone(), exposure: Arc::new(exposure) }
    }

    fn allows(&self, family: &dyn Resources, caller: &Caller) -> bool {
        !is_shut_out(caller) && family.tool().is_none_or(|tool| self.exposure.allows(tool, caller))
    }

    /// Lists one page, beginning after an address, and tells whether there is more.
    pub fn page(
        &self,
        caller: &Caller,
        after: Option<&str>,
        limit: usize,
    ) -> (Vec<ResourceEntry>, bool) {
        if is_shut_out(caller) {
            return (Vec::new(), false);
        }
        let begin = after.and_then(|uri| self.position(uri));
        let mut entries = Vec::new();
        for (family_idx, family) in self.families.iter().enumerate().skip(begin.unwrap_or(0)) {
            if !self.allows(&**family, caller) {
                continue;
            }
            // Only the family in which the last page ended goes on in its middle.
            let after = after.filter(|_| begin == Some(family_idx));
            let wanted = limit + 1 - entries.len();
            entries.extend(family.list(caller, after, wanted).into_iter().take(wanted));
            if entries.len() > limit {
                break;
            }
        }
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        (entries, has_more)
    }

    /// Lists the patterns of all families.
    pub fn patterns(&self, caller: &Caller) -> Vec<ResourcePattern> {
        let families = self.families.iter().filter(|family| self.allows(&***family, caller));
        families.flat_map(|family| family.patterns(caller)).collect()
    }

    /// Reads one; nothing when it does not exist for this caller.
    pub fn read(
        &self,
        caller: &Caller,
        uri: &str,
        deadline: &Deadline,
    ) -> Result<Option<ResourceContent>, ToolError> {
        match self.position(uri).map(|family_idx| &self.families[family_idx]) {
            Some(family) if self.allows(&**family, caller) => family.read(caller, uri, deadline),
            Some(_) | None => Ok(None),
        }
    }

    fn position(&self, uri: &str) -> Option<usize> {
        let (family, _) = uri.strip_prefix(SCHEME)?.split_once('/')?;
        self.families.iter().position(|known| known.family() == family)
    }
}

/// The key of an endpoint opens its tools and nothing that can be read beside them.
fn is_shut_out(caller: &Caller) -> bool {
    caller.identity == Identity::Endpoint
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A family with as many numbered resources as it says.
    struct Numbers(&'static str, usize);

    impl Resources for Numbers {
        fn family(&self) -> &str {
            self.0
        }

        fn list(&self, _caller: &Caller, after: Option<&str>, limit: usize) -> Vec<ResourceEntry> {
            (0..self.1)
                .map(|n| format!("{SCHEME}{}/{n:03}", self.0))
                .filter(|uri| after.is_none_or(|after| uri.as_str() > after))
                .take(limit)
                .map(|uri| ResourceEntry { name: uri.clone(), uri, mime_type: None })
                .collect()
        }

        fn read(
            &self,
            _caller: &Caller,
            uri: &str,
            _deadline: &Deadline,
        ) -> Result<Option<ResourceContent>, ToolError> {
            let body = ResourceBody::OwnText(uri.to_owned());
            Ok(Some(ResourceContent { mime_type: "text/plain".to_owned(), body }))
        }
    }

    fn set() -> ResourceSet {
        ResourceSet::new(vec![
            Arc::new(Numbers("files", 5)),
            Arc::new(Numbers("charts", 0)),
            Arc::new(Numbers("notes", 4)),
        ])
    }

    #[test]
    fn pages_together_hold_everything_once() {
        let caller = Caller::local_admin();
        let (all, has_more) = set().page(&caller, None, 100);
        assert_eq!((all.len(), has_more), (9, false));
        for limit in 1..=10 {
            let mut seen: Vec<ResourceEntry> = Vec::new();
            loop {
                let after = seen.last().map(|entry| entry.uri.clone());
                let (page, has_more) = set().page(&caller, after.as_deref(), limit);
                assert!(page.len() <= limit);
                seen.extend(page);
                if !has_more {
                    break;
                }
            }
            assert_eq!(seen, all, "pages of {limit}");
        }
    }

    #[test]
    fn an_address_leads_to_its_family() {
        let deadline = Deadline::after(Duration::from_secs(1));
        let read = |uri: &str| set().read(&Caller::local_admin(), uri, &deadline).unwrap();
        assert!(read("dowse://notes/001").is_some());
        assert!(read("dowse://nothing/001").is_none());
        assert!(read("dowse://notes").is_none());
        assert!(read("file:///etc/passwd").is_none());
        assert!(ResourceSet::default().page(&Caller::local_admin(), None, 10).0.is_empty());
    }
    #[test]
    fn the_key_of_an_endpoint_reads_nothing() {
        let agent = Caller { identity: Identity::Endpoint, ..Caller::local_admin() };
        let deadline = Deadline::after(Duration::from_secs(1));
        assert_eq!(set().page(&agent, None, 10), (Vec::new(), false));
        assert!(set().patterns(&agent).is_empty());
        assert!(set().read(&agent, "dowse://notes/001", &deadline).unwrap().is_none());
    }
}
