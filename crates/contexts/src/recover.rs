//! What an earlier process left undone: uploads that broke off, documents and chunks without a
//! table, tools whose index was never made.

use std::collections::HashSet;
use std::time::Duration;

use store::{ObjectPage, TypedObject};

use crate::document::{self, Document};
use crate::objects::{IndexStatus, Table, Tool, table_of_namespace};
use crate::{Error, Result, Service, limits};

/// Younger leftovers may belong to an upload that is still under way.
const LEFTOVER_AGE: Duration = Duration::from_secs(3_600);

impl Service {
    /// Puts in order what an earlier process left behind, and asks for indexes that are missing
    /// or were made under other settings. Called when a server starts.
    pub fn recover(&self) -> Result<()> {
        self.sweep_staging()?;
        self.sweep_documents()?;
        self.sweep_namespaces()?;
        self.ask_for_missing()
    }

    fn sweep_staging(&self) -> Result<()> {
        let entries = match fs_err::read_dir(&self.0.staging) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(Error::Document)?,
        };
        for entry in entries {
            let entry = entry.map_err(Error::Document)?;
            let changed = entry.metadata().and_then(|metadata| metadata.modified());
            let millis = changed
                .ok()
                .and_then(|changed| changed.duration_since(std::time::UNIX_EPOCH).ok())
                .map_or(0, |since| since.as_millis() as i64);
            if self.is_leftover(millis) {
                // One that cannot be removed costs its space and nothing else.
                let _ = fs_err::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Erases documents that no table has.
    fn sweep_documents(&self) -> Result<()> {
        let mut page = ObjectPage { limit: limits::LIST_PAGE, ..ObjectPage::of(Document::KIND) };
        loop {
            let documents = Document::list(self.catalogue(), &page)?;
            let Some(last) = documents.last() else { return Ok(()) };
            page.after = Some(last.id.to_string());
            let ids = documents.iter().map(|document| &document.table_id);
            let tables = Table::load_many(self.catalogue(), ids)?;
            for (document, table) in documents.into_iter().zip(tables) {
                let is_kept = table.is_some_and(|(table, _)| {
                    table.document == document.id || table.former.contains(&document.id)
                });
                if !is_kept && self.is_leftover(document.created_at.millis()) {
                    document::forget(self.catalogue(), &document.id)?;
                }
            }
        }
    }

    /// Erases chunks that no table has.
    fn sweep_namespaces(&self) -> Result<()> {
        for info in self.0.store.namespaces()? {
            if let Some(table) = table_of_namespace(&info.id)
                && Table::load(self.catalogue(), &table)?.is_none()
            {
                self.0.store.drop_namespace(&info.id)?;
            }
        }
        Ok(())
    }

    fn ask_for_missing(&self) -> Result<()> {
        let settings = self.0.settings.settings_name();
        let mut asked = HashSet::new();
        let mut page = ObjectPage { limit: limits::LIST_PAGE, ..ObjectPage::of(Tool::KIND) };
        loop {
            let tools = Tool::list(self.catalogue(), &page)?;
            let Some(last) = tools.last() else { return Ok(()) };
            page.after = Some(last.id.to_string());
            for tool in tools {
                let Some(index) = &tool.search_index else { continue };
                let is_made = index.status == IndexStatus::Ready && index.settings == settings;
                if is_made || !asked.insert(tool.table_id.clone()) {
                    continue;
                }
                if let Some((table, _)) = Table::load(self.catalogue(), &tool.table_id)? {
                    self.submit_index(&table)?;
                }
            }
        }
    }

    fn is_leftover(&self, millis: i64) -> bool {
        self.0.clock.now().millis() - millis >= LEFTOVER_AGE.as_millis() as i64
    }
}
