//! Tables: documents are taken in, replaced, deleted.

use std::path::{Path, PathBuf};

use ingest::{Job, ObjectError, new_id, room_for};
use model::{Caller, Deadline};
use store::{Change, ObjectKey, TypedObject};

use crate::access::Right;
use crate::document::{self, Owner};
use crate::json::Summary;
use crate::locks::UploadLock;
use crate::object_ids::{ProjectId, TableId};
use crate::objects::{Table, Tool};
use crate::service::named;
use crate::{Error, Result, Service, limits};

/// What becomes of a document once all of it has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upload<'a> {
    /// A new table of this project.
    NewTable(&'a ProjectId),
    /// A new document of this table.
    Replacement(&'a TableId),
}

/// A place on disk for a document that arrives. The file is removed with this value.
pub struct Staged {
    path: PathBuf,
    _place: UploadLock,
}

impl Staged {
    /// Gives the path of the file, which does not exist yet.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // A file that was never written, or cannot be removed now, is swept at the next start.
        let _ = fs_err::remove_file(&self.path);
    }
}

impl Service {
    /// Prepares for an upload: whoever may not make the table is refused before it begins.
    pub fn stage(&self, caller: &Caller, upload: Upload<'_>) -> Result<Staged> {
        match upload {
            Upload::NewTable(project) => {
                self.project_of(caller, project, Right::Edit).map(|_| ())?
            }
            Upload::Replacement(table) => self.table_of(caller, table, Right::Edit).map(|_| ())?,
        }
        self.0.store.accepts_changes()?;
        let Some(place) = self.0.locks.upload(limits::MAX_UPLOADS) else {
            let what = "the number of uploads at the same time";
            let allowed = limits::MAX_UPLOADS;
            return Err(Error::Object(ObjectError::TooLarge {
                what,
                received: allowed + 1,
                allowed,
            }));
        };
        fs_err::create_dir_all(&self.0.staging).map_err(Error::Document)?;
        Ok(Staged { path: self.0.staging.join(new_id()), _place: place })
    }

    /// Makes a table from a file that holds a JSON document.
    pub fn create_table(
        &self,
        caller: &Caller,
        project: &ProjectId,
        name: &str,
        file: &Path,
        deadline: &Deadline,
    ) -> Result<Table> {
        let (project, _) = self.project_of(caller, project, Right::Edit)?;
        let name = named(name)?;
        let n_tables = self.tables_of_project(&project.id)?.len();
        room_for("the number of tables", n_tables, limits::MAX_TABLES)?;
        let now = self.0.clock.now();
        let id = TableId::new(new_id());
        let owner = Owner { table: &id, tenant: &project.tenant };
        let (document, summary) = self.keep(&owner, file, deadline)?;
        let mut table = Table {
            id,
            project_id: project.id.clone(),
            tenant: project.tenant,
            name,
            document: document.id.clone(),
            former: vec![],
            version: 1,
            n_bytes: 0,
            n_nodes: 0,
            n_strings: 0,
            depth: 0,
            sha256: String::new(),
            created_at: now,
            updated_at: now,
        };
        take_on(&mut table, &document, summary);
        table.save(self.catalogue())?;
        // The project may have been deleted while the document was read.
        if let Err(error) = self.project_of(caller, &project.id, Right::Edit) {
            self.catalogue()
                .apply(&[Change::Delete(ObjectKey::new(Table::KIND, table.id.as_str()))])?;
            document::forget(self.catalogue(), &document.id)?;
            return Err(error);
        }
        Ok(table)
    }

    /// Replaces the document of a table; a job lets the index follow.
    pub fn replace_table(
        &self,
        caller: &Caller,
        id: &TableId,
        file: &Path,
        deadline: &Deadline,
    ) -> Result<(Table, Option<Job>)> {
        self.replace_table_as(caller, id, None, file, deadline)
    }

    /// Replaces the document of a table, and its name where one is given, together.
    pub fn replace_table_as(
        &self,
        caller: &Caller,
        id: &TableId,
        name: Option<&str>,
        file: &Path,
        deadline: &Deadline,
    ) -> Result<(Table, Option<Job>)> {
        let (table, _) = self.table_of(caller, id, Right::Edit)?;
        let name = name.map(named).transpose()?;
        let owner = Owner { table: &table.id, tenant: &table.tenant };
        let (document, summary) = self.keep(&owner, file, deadline)?;
        let now = self.0.clock.now();
        let changed = self.change::<Table>(&table.id, |table| {
            table.former.push(table.document.clone());
            take_on(table, &document, summary);
            if let Some(name) = &name {
                table.name.clone_from(name);
            }
            table.version += 1;
            table.updated_at = now;
            Ok(())
        });
        match changed {
            Ok(Some(table)) => {
                let job = self.submit_index(&table)?;
                Ok((table, job))
            }
            failed => {
                document::forget(self.catalogue(), &document.id)?;
                failed?;
                Err(Error::missing("Table", id))
            }
        }
    }

    /// Gives a table another name.
    pub fn rename_table(&self, caller: &Caller, id: &TableId, name: &str) -> Result<Table> {
        let (table, _) = self.table_of(caller, id, Right::Edit)?;
        let name = named(name)?;
        let now = self.0.clock.now();
        let changed = self.change::<Table>(&table.id, |table| {
            table.name.clone_from(&name);
            table.updated_at = now;
            Ok(())
        })?;
        changed.ok_or_else(|| Error::missing("Table", id))
    }

    /// Lists the tables of a project, by name.
    pub fn list_tables(&self, caller: &Caller, project: &ProjectId) -> Result<Vec<Table>> {
        let (project, _) = self.project_of(caller, project, Right::Read)?;
        let mut tables = self.tables_of_project(&project.id)?;
        tables.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        Ok(tables)
    }

    /// Finds a table of a project that the caller may see.
    pub fn get_table(&self, caller: &Caller, id: &TableId) -> Result<Table> {
        Ok(self.table_of(caller, id, Right::Read)?.0)
    }

    /// Deletes a table with its tools and takes them off their endpoints. It is gone for every
    /// caller at once; a job erases the document and its chunks.
    pub fn delete_table(&self, caller: &Caller, id: &TableId) -> Result<Job> {
        let (table, _) = self.table_of(caller, id, Right::Edit)?;
        let tools = self.tools_of_table(&table.id)?;
        for tool in &tools {
            self.unbind_everywhere(&tool.id)?;
        }
        let mut changes: Vec<Change> = tools
            .iter()
            .map(|tool| Change::Delete(ObjectKey::new(Tool::KIND, tool.id.as_str())))
            .collect();
        changes.push(Change::Delete(ObjectKey::new(Table::KIND, table.id.as_str())));
        self.catalogue().apply(&changes)?;
        self.submit_purge(&table.tenant, &table.project_id, vec![table.id.clone()])
    }

    fn keep(
        &self,
        owner: &Owner<'_>,
        file: &Path,
        deadline: &Deadline,
    ) -> Result<(document::Document, Summary)> {
        let max_bytes = self.0.settings.max_document_bytes;
        document::keep(self.catalogue(), owner, file, max_bytes, self.0.clock.now(), deadline)
    }
}

fn take_on(table: &mut Table, document: &document::Document, summary: Summary) {
    table.document.clone_from(&document.id);
    table.n_bytes = document.n_bytes;
    table.sha256.clone_from(&document.sha256);
    table.n_nodes = summary.n_nodes;
    table.n_strings = summary.n_strings;
    table.depth = summary.depth;
}
