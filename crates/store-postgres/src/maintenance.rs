//! Looking after the database: whether it takes writes, whether its counts are right, and a copy.

use std::path::Path;

use store::{Error, Result};

use crate::catalogue::PostgresCatalogue;
use crate::database::Database;
use crate::rows;

impl Database {
    /// Tells whether writes are possible: a standby and a database that was set to read-only take
    /// none.
    pub(crate) fn can_write(&self) -> Result<()> {
        let is_read_only = self.read(async |connection| {
            let sql = "SELECT pg_is_in_recovery() OR
                           current_setting('default_transaction_read_only')::boolean";
            Ok(connection.query_one(sql, &[]).await?.get::<_, bool>(0))
        })?;
        if is_read_only {
            let reason = "the database takes no writes: it is a standby or set to read-only";
            return Err(Error::CatalogueUnavailable { reason: reason.to_owned() });
        }
        Ok(())
    }

    /// Compares the counts of every namespace with its rows.
    pub(crate) fn verify(&self) -> Result<()> {
        let sql = format!(
            "SELECT n.id, n.n_documents, n.n_passages, n.n_vectors,
                 (SELECT count(*) FROM documents d WHERE d.namespace = n.number),
                 (SELECT count(*) FROM {with_document} WHERE p.namespace = n.number AND {living}),
                 (SELECT count(*) FROM {with_document} JOIN vectors v
                      ON v.namespace = p.namespace AND v.number = p.number
                  WHERE p.namespace = n.number AND {living})
             FROM namespaces n WHERE NOT n.is_dropped",
            with_document = rows::WITH_DOCUMENT,
            living = rows::IS_LIVING
        );
        let found = self.read_at_once(async |connection| connection.query(&sql, &[]).await)?;
        for row in &found {
            let counts = |first: usize| [0, 1, 2].map(|at| row.get::<_, i64>(first + at));
            let (noted, counted) = (counts(1), counts(4));
            if noted != counted {
                let reason = format!(
                    "namespace `{}` notes `{noted:?}` documents, passages and vectors and has \
                     `{counted:?}`",
                    rows::text(row, 0)
                );
                return Err(Error::CatalogueDamaged { reason, source: None });
            }
        }
        Ok(())
    }
}

impl PostgresCatalogue {
    /// Writes everything of this moment to a new file, as a SQLite catalogue.
    pub(crate) fn back_up(&self, file: &Path) -> Result<()> {
        store::export(&self.of_this_moment()?, file, &self.clock)
    }
}
