//! The configured tables of a server: which there are, who may ask, and what can be asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use columns::{LoadReport, ReopeningTable};
use model::{Access, Caller, Deadline};
use store::Catalogue;

use crate::aggregate::{self, AggregateRequest, AggregateResponse};
use crate::config::TableConfig;
use crate::describe::{Description, describe};
use crate::error::did_you_mean;
use crate::export::ExportFormat;
use crate::links::{ExportLink, ExportLinks};
use crate::relations::related;
use crate::request::QueryRequest;
use crate::response::QueryResponse;
use crate::seal::{Seal, TokenSecret};
use crate::served_table::ServedTable;
use crate::{Error, Result, Schema, schema};

/// What the service needs to open its tables.
#[derive(Debug, Clone)]
pub struct ServiceConfig {
    /// The tables, in the order of the configuration.
    pub tables: Vec<TableConfig>,
    /// What relative paths are relative to.
    pub base_folder: PathBuf,
    /// Where column files are kept, and the secret that cursors are sealed with.
    pub cache_folder: PathBuf,
    /// How long a link to an export is good.
    pub export_link_minutes: u64,
}

/// The tables of a server. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    tables: Arc<Vec<ServedTable>>,
    links: ExportLinks,
    link_lifetime: Duration,
}

impl Service {
    /// Opens every table.
    ///
    /// Fails on the first whose schema cannot be used. A source that is away stops nothing: its
    /// calls fail as unavailable until it is back.
    pub fn open(config: ServiceConfig) -> Result<Self> {
        let ServiceConfig { tables: configured, base_folder, cache_folder, export_link_minutes } =
            config;
        let mut tables: Vec<ServedTable> = Vec::new();
        let secret = TokenSecret::of_folder(cache_folder.clone());
        for table in &configured {
            if tables.iter().any(|known| known.schema.name == table.name) {
                return Err(Error::DuplicateTable { table: table.name.clone() });
            }
            let seal = Seal::of(&table.source, secret.clone());
            tables.push(open_table(table, &configured, &base_folder, &cache_folder, seal)?);
        }
        let link_lifetime = Duration::from_secs(60 * export_link_minutes);
        Ok(Service { tables: Arc::new(tables), links: ExportLinks::default(), link_lifetime })
    }

    /// Keeps links to exports, and the secret that cursors are sealed with, in the catalogue that
    /// several servers share: they open on all of them.
    #[must_use]
    pub fn shared_by(self, catalogue: Arc<dyn Catalogue>) -> Self {
        let secret = TokenSecret::of_catalogue(Arc::clone(&catalogue));
        let sealed = |table: &ServedTable| ServedTable {
            seal: table.seal.with_secret(secret.clone()),
            ..table.clone()
        };
        let tables = Arc::new(self.tables.iter().map(sealed).collect());
        Service { tables, links: ExportLinks::shared(catalogue), ..self }
    }

    /// Gives the schemas of the tables that a caller may use, in the order of the
    /// configuration.
    pub fn schemas(&self, caller: &Caller) -> Vec<&Schema> {
        self.visible(caller).into_iter().map(|table| &table.schema).collect()
    }

    /// Answers a question for rows.
    pub fn query(
        &self,
        caller: &Caller,
        request: &QueryRequest,
        deadline: &Deadline,
    ) -> Result<QueryResponse> {
        let table = self.table(caller, request.table.as_deref())?;
        table.query(request, deadline)
    }

    /// Answers a question for groups.
    pub fn aggregate(
        &self,
        caller: &Caller,
        request: &AggregateRequest,
        deadline: &Deadline,
    ) -> Result<AggregateResponse> {
        let table = self.table(caller, request.table.as_deref())?;
        aggregate::aggregate(table, request, deadline)
    }

    /// Tells what is in a table.
    pub fn describe(
        &self,
        caller: &Caller,
        table: Option<&str>,
        deadline: &Deadline,
    ) -> Result<Description> {
        let table = self.table(caller, table)?;
        describe(table, deadline)
    }

    /// Tells, for each table that a caller may use, what of its source does not fit its schema.
    pub fn load_reports(
        &self,
        caller: &Caller,
        deadline: &Deadline,
    ) -> Vec<(&str, columns::Result<LoadReport>)> {
        let report = |table: &'_ ServedTable| table.engine.load_report(deadline);
        let tables = self.tables.iter().filter(|table| caller.may_use(&table.access));
        tables.map(|table| (table.schema.name.as_str(), report(table))).collect()
    }

    /// Gives who may use a table, where it exists for the caller.
    pub fn access(&self, caller: &Caller, table: Option<&str>) -> Result<&Access> {
        Ok(&self.table(caller, table)?.access)
    }

    /// Lists the tables whose source is away, each with the reason: for the operator.
    pub fn away(&self) -> Vec<(String, String)> {
        let tables = self.tables.iter();
        tables.filter_map(|table| Some((table.schema.name.clone(), table.engine.away()?))).collect()
    }

    /// Makes a link to all rows of a query, for its caller; gives its random part and how long it
    /// is good.
    ///
    /// Fails when the request is wrong, or its rows are too many for one export.
    pub fn link_export(
        &self,
        caller: &Caller,
        request: &QueryRequest,
        format: ExportFormat,
        deadline: &Deadline,
    ) -> Result<(String, Duration)> {
        self.check_export(caller, request, deadline)?;
        let link = ExportLink { caller: caller.clone(), request: request.clone(), format };
        Ok((self.links.add(link, self.link_lifetime)?, self.link_lifetime))
    }

    /// Gives what a link stands for, while it is good.
    ///
    /// Fails when the catalogue that keeps links does not answer.
    pub fn export_link(&self, token: &str) -> Result<Option<ExportLink>> {
        self.links.get(token)
    }

    /// Gives a service with one of the tables only: `/api/mcp` serves the first.
    pub fn only(&self, name: &str) -> Option<Service> {
        let table = self.tables.iter().find(|table| table.schema.name == name)?;
        Some(Service { tables: Arc::new(vec![table.clone()]), ..self.clone() })
    }

    /// Gives the name of the first configured table.
    pub fn first_name(&self) -> Option<&str> {
        self.tables.first().map(|table| table.schema.name.as_str())
    }

    fn visible(&self, caller: &Caller) -> Vec<&ServedTable> {
        self.tables.iter().filter(|table| caller.may_use(&table.access)).collect()
    }

    pub(crate) fn table(&self, caller: &Caller, name: Option<&str>) -> Result<&ServedTable> {
        let tables = self.visible(caller);
        let allowed = || tables.iter().map(|table| table.schema.name.clone()).collect::<Vec<_>>();
        match (name, tables.as_slice()) {
            (None, [table]) => Ok(table),
            (None, _) => Err(Error::TableRequired { allowed: allowed() }),
            (Some(name), tables) => named(tables, name).ok_or_else(|| {
                let allowed = allowed();
                Error::UnknownTable {
                    received: name.to_owned(),
                    did_you_mean: did_you_mean(name, &allowed),
                    allowed,
                }
            }),
        }
    }
}

/// Finds a table by its name, in any case where only one can be meant.
fn named<'a>(tables: &[&'a ServedTable], name: &str) -> Option<&'a ServedTable> {
    let exact = tables.iter().find(|table| table.schema.name == name);
    let folded = name.trim().to_lowercase();
    let mut alike = tables.iter().filter(|table| table.schema.name.to_lowercase() == folded);
    let only = alike.next().filter(|_| alike.next().is_none());
    exact.or(only).copied()
}

fn open_table(
    config: &TableConfig,
    tables: &[TableConfig],
    base: &Path,
    cache: &Path,
    seal: Seal,
) -> Result<ServedTable> {
    let related = related(config, tables)?;
    let mut fields = config.fields.clone();
    fields.0.extend(related.fields);
    let schema = Schema::new(&config.name, config.description.clone(), fields)?
        .with_secrets(related.secrets);
    let spec = schema::table_spec(config, related.hidden_keys);
    let lookups = related.lookups;
    let engine = ReopeningTable::open_related(&config.source, spec, lookups, base, cache);
    let engine = engine.map_err(|cause| {
        if matches!(cause, columns::Error::Apart { .. }) {
            Error::BadSchema {
                table: config.name.clone(),
                field: "relations".to_owned(),
                problem: cause.to_string(),
            }
        } else {
            Error::of_source(&config.name, cause)
        }
    })?;
    Ok(ServedTable {
        schema,
        access: config.allow.clone(),
        engine: Arc::new(engine),
        unknown_values: Arc::default(),
        identifiers: Arc::default(),
        seal,
    })
}
