//! The services that a configuration asks for, and the tools in front of them.

use std::sync::Arc;
use std::time::Duration;

use extract::{Pool, PoolConfig};
use files::{Indexer, IndexerConfig, Roots, Strangers};
use filters::charts::{ChartSettings, Charts, ChartsConfig};
use model::Deadline;
use retrieve::{EmbedderSource, Retriever};
use store::Access;
use tools::everywhere::{Fetch, Search, Things};
use tools::files::{
    FilePlaces, IndexFolder, ListFiles, ListRoots, OpenFile, RewriteQuery, SearchFiles,
    SummarizeResults,
};
use tools::filters::{ChartFigures, GenerateChartData, SearchFilters, SearchFiltersBatch};
use tools::knowledge::{
    GetKnowledgeBaseSummary, ListKnowledgeBases, NormalizeOcrText, SearchDocuments,
};
use tools::tables::{
    AggregateTable, ChartTable, DescribeSchema, QueryTable, SavedView, View, ViewAddresses,
    ViewForm,
};
use tools::{Registry, ResourceSet, Resources, Tool};

use super::configured::forget_columns;
use super::feeds::Feeds;
use super::shared_state::{CHARTS, store_folder};
use super::{SharedState, claims, models};
use crate::config::{Config, EmbedderProvider};

/// How long `indexFolder` waits before it gives the job's handle instead of its result.
pub(super) const INDEX_WAIT: Duration = Duration::from_secs(25);

/// How long a search waits for the model to load; afterwards it goes on with words alone.
const MODEL_WAIT: Duration = Duration::from_secs(5);

/// The services of a configuration.
#[derive(Clone)]
pub(crate) struct Families {
    pub(crate) filters: Option<filters::Service>,
    pub(crate) tables: Option<tables::Service>,
    pub(crate) views: Vec<View>,
    pub(crate) files: Option<files::Service>,
    pub(crate) across: across::Service,
    pub(crate) charts: Option<Arc<Charts>>,
    pub(crate) knowledge: knowledge::Service,
    pub(crate) contexts: contexts::Service,
}

impl Families {
    /// Opens the services.
    pub(crate) fn open(config: &Config, shared_state: &SharedState) -> anyhow::Result<Self> {
        shared_state.away.begin();
        let category = |dimension: &filters::DimensionConfig| dimension.category.clone();
        let filters =
            shared_state.away.open("dimension", &config.dimensions, category, |dimensions| {
                Ok(filters::Service::open(filters::Settings {
                    folder: config.base.clone(),
                    filters: config.filters,
                    dimensions,
                    name_embedder: name_embedder(config, shared_state)?,
                })?)
            })?;
        let name = |table: &tables::TableConfig| table.name.clone();
        let tables = shared_state.away.open("table", &config.tables, name, |tables| {
            let service = tables::Service::open(tables::ServiceConfig {
                tables,
                base_folder: config.base.clone(),
                cache_folder: shared_state.made_again("tables")?,
                export_link_minutes: config.exports.link_minutes,
            })?;
            Ok(match shared_state.shared_catalogue()? {
                Some(catalogue) => service.shared_by(catalogue),
                None => service,
            })
        })?;
        let views = views(config, tables.as_ref())?;
        if let Some(service) = filters.clone() {
            shared_state.away.watch("dimension", move || service.away());
        }
        if let Some(service) = tables.clone() {
            shared_state.away.watch("table", move || service.away());
        }
        let files = files_service(config, shared_state)?;
        shared_state.filters.store(filters.clone().map(Arc::new));
        let mut sources: Vec<Box<dyn across::Source>> = Vec::new();
        if let Some(service) = &files {
            sources.push(Box::new(across::Folders::new(service.clone())));
        }
        let knowledge = knowledge_service(config, shared_state)?;
        let has_feeds = !config.knowledge.folders.is_empty();
        shared_state.feeds.store(has_feeds.then(|| {
            Arc::new(Feeds {
                knowledge: config.knowledge.clone(),
                files: config.files.clone(),
                base: config.base.clone(),
            })
        }));
        sources.push(Box::new(across::KnowledgeBases::new(knowledge.clone())));
        if let Some(service) = &tables {
            sources.push(Box::new(across::Tables::new(service.clone())));
        }
        if let Some(service) = &filters {
            sources.push(Box::new(across::Dimensions::new(service.clone())));
        }
        let contexts = contexts_service(config, shared_state)?;
        sources.push(Box::new(across::Contexts::new(contexts.clone())));
        let charts = charts_service(config, shared_state, filters.as_ref())?;
        let across = across::Service::new(sources);
        Ok(Families { filters, tables, views, files, across, charts, knowledge, contexts })
    }

    /// Starts to index what is configured, and erases what is not any more; searches by words
    /// work while it goes on.
    pub(super) fn try_indexing(
        &self,
        shared_state: &SharedState,
        strangers: Strangers,
    ) -> anyhow::Result<()> {
        if strangers == Strangers::Forget {
            self.forget_what_nobody_has(shared_state)?;
            self.forget_what_was_taken_out(shared_state)?;
            if let Some(config) = shared_state.served.load_full() {
                forget_columns(&config);
            }
        }
        if let Some(files) = &self.files {
            // Those that are not named here may be another server's, or named on a command line.
            let n_forgotten = files.forget_other_roots(Strangers::Keep)?;
            if n_forgotten > 0 {
                shared_state.erase_answers(None);
                tracing::info!(
                    n_forgotten,
                    "files that belong to another folder now were removed from this one"
                );
            }
            if files.is_watched() {
                files.expect_watcher();
            }
            files.index_all()?;
        }
        self.contexts.recover()?;
        shared_state.open_store()?.start_vectors()
    }

    /// Where servers share a catalogue, erases what was read from folders that this server was the
    /// last to have, and what is kept of answers when it was the last with a table or a dimension.
    fn forget_what_nobody_has(&self, shared_state: &SharedState) -> anyhow::Result<()> {
        let kept = shared_state.open_store()?;
        let catalogue = kept.store.catalogue();
        if !catalogue.is_shared() {
            return Ok(());
        }
        let server = claims::server_in(&store_folder(shared_state.data_dir()))?;
        let row_sources = shared_state.served_row_sources();
        let mut claimed = self.files.as_ref().map(files::Service::root_names).unwrap_or_default();
        claimed.extend(row_sources);
        let gone = claims::claim(&*catalogue, &server, &claimed)?;
        if gone.is_empty() {
            return Ok(());
        }
        files::stop_jobs(&kept.queue, |root| gone.contains(root))?;
        let n_forgotten = files::forget_roots(&kept.store, &gone)?;
        shared_state.erase_answers(None);
        tracing::info!(n_forgotten, ?gone, "what no server has any more was removed");
        Ok(())
    }

    /// Puts the tools at `/mcp` in their order; links in their answers begin with `link_base`.
    pub(crate) fn registry(&self, link_base: &str) -> Registry {
        let mut tools: Vec<Box<dyn Tool>> = vec![
            Box::new(Search::new(self.across.clone(), link_base.to_owned())),
            Box::new(Fetch::new(self.across.clone(), link_base.to_owned())),
        ];
        if let Some(service) = &self.files {
            tools.push(Box::new(ListRoots::new(service.clone())));
            tools.push(Box::new(ListFiles::new(service.clone())));
            tools.push(Box::new(SearchFiles::new(service.clone())));
            tools.push(Box::new(OpenFile::new(service.clone())));
            tools.push(Box::new(IndexFolder::new(service.clone())));
            tools.push(Box::new(SummarizeResults::new(service.clone())));
            tools.push(Box::new(RewriteQuery::new(service.clone())));
        }
        if let Some(service) = &self.tables {
            tools.push(Box::new(QueryTable::with_exports(service.clone(), link_base)));
            tools.push(Box::new(AggregateTable::new(service.clone())));
            tools.push(Box::new(DescribeSchema::brief(service.clone())));
            if let Some(charts) = &self.charts {
                tools.push(Box::new(ChartTable::new(service.clone(), Arc::clone(charts))));
            }
            for view in self.views.iter().filter(|view| view.config.form == ViewForm::Tool) {
                tools.push(Box::new(SavedView::new(service.clone(), view.clone())));
            }
        }
        if let Some(service) = &self.filters {
            tools.push(Box::new(SearchFilters::new(service.clone())));
            tools.push(Box::new(SearchFiltersBatch::new(service.clone())));
        }
        if let Some(charts) = &self.charts {
            tools.push(Box::new(GenerateChartData::new(Arc::clone(charts))));
        }
        tools.push(Box::new(ListKnowledgeBases::new(self.knowledge.clone())));
        tools.push(Box::new(SearchDocuments::new(self.knowledge.clone())));
        tools.push(Box::new(GetKnowledgeBaseSummary::new(self.knowledge.clone())));
        tools.push(Box::new(NormalizeOcrText::new(self.knowledge.clone())));
        Registry::new(tools)
    }

    /// What can be read by its address.
    pub(crate) fn resources(&self) -> ResourceSet {
        let mut families: Vec<Arc<dyn Resources>> =
            vec![Arc::new(Things::new(self.across.clone()))];
        if let Some(service) = &self.files {
            families.push(Arc::new(FilePlaces::new(service.clone())));
        }
        if let Some(service) = &self.tables {
            families.push(Arc::new(ViewAddresses::new(service.clone(), &self.views)));
        }
        if let Some(charts) = &self.charts {
            families.push(Arc::new(ChartFigures::new(Arc::clone(charts))));
        }
        ResourceSet::new(families)
    }

    /// The tools at `/api/mcp`: the first table, as if it were the only one.
    pub(crate) fn first_table(&self) -> Option<Registry> {
        let service = self.tables.as_ref()?;
        let only = service.only(service.first_name()?)?;
        Some(Registry::new(vec![
            Box::new(QueryTable::new(only.clone())),
            Box::new(DescribeSchema::new(only)),
        ]))
    }
}

/// Names are compared by vector, too, unless the configuration asks for no embedder.
fn name_embedder(
    config: &Config,
    shared_state: &SharedState,
) -> anyhow::Result<Option<Arc<dyn filters::NameEmbedder>>> {
    if config.embedder.provider == EmbedderProvider::None {
        return Ok(None);
    }
    let embedder = Arc::new(filters::ModelNameEmbedder::new(Arc::clone(&shared_state.embedder)));
    let folder = shared_state.made_again("names")?;
    Ok(Some(Arc::new(filters::CachedNameEmbedder::new(embedder, &folder))))
}

/// Checks the saved views against their tables.
fn views(config: &Config, tables: Option<&tables::Service>) -> anyhow::Result<Vec<View>> {
    let mut views: Vec<View> = Vec::new();
    for view in &config.views {
        let name = &view.name;
        anyhow::ensure!(
            config.tables.iter().any(|table| table.name == view.table),
            "view `{name}`: there is no table `{}`\nhint: `table` names one of `[[tables]]`",
            view.table
        );
        let is_taken = SERVED_NAMES.contains(&name.as_str())
            || views.iter().any(|other| other.config.name == *name);
        anyhow::ensure!(
            !is_taken,
            "view `{name}`: a tool or another view has this name\nhint: give the view another one"
        );
        // A table that is away takes its views with it, and brings them back.
        let Some(service) = tables else { continue };
        let is_open = service
            .schemas(&model::Caller::local_admin())
            .iter()
            .any(|schema| schema.name == view.table);
        if is_open {
            views.push(View::new(view.clone(), service)?);
        }
    }
    Ok(views)
}

/// The names of the tools that are not views.
const SERVED_NAMES: [&str; 21] = [
    "search",
    "fetch",
    "listRoots",
    "searchFiles",
    "openFile",
    "indexFolder",
    "summarizeResults",
    "rewriteQuery",
    "query_table",
    "aggregate_table",
    "chart_table",
    "describe_schema",
    "search_filters",
    "search_filters_batch",
    "generate_chart_data",
    "list_knowledge_bases",
    "search_documents",
    "get_knowledge_base_summary",
    "normalize_ocr_text",
    "get_node",
    "search_chunks",
];

fn charts_service(
    config: &Config,
    shared_state: &SharedState,
    dimensions: Option<&filters::Service>,
) -> anyhow::Result<Option<Arc<Charts>>> {
    if let Some(charts) = &config.charts {
        anyhow::ensure!(
            !config.dimensions.is_empty(),
            "`[charts]` needs `[[dimensions]]`\nhint: charts take what `search_filters` gives"
        );
        // Every dimension may be away; the charts of facts come back with them.
        if let Some(dimensions) = dimensions {
            let facts = Some(charts.clone());
            let charts = open_charts(config, shared_state, facts, Some(dimensions.clone()))?;
            let charts = Arc::new(charts);
            let watched = Arc::clone(&charts);
            shared_state.away.watch("charts", move || watched.away());
            return Ok(Some(charts));
        }
    }
    if config.tables.is_empty() {
        return Ok(None);
    }
    open_charts(config, shared_state, None, None).map(|charts| Some(Arc::new(charts)))
}

fn open_charts(
    config: &Config,
    shared_state: &SharedState,
    facts: Option<ChartsConfig>,
    dimensions: Option<filters::Service>,
) -> anyhow::Result<Charts> {
    let charts = Charts::open(ChartSettings {
        config: facts,
        folder: config.base.clone(),
        data_folder: shared_state.made_again(CHARTS)?,
        base_url: config.server.link_base(),
        clock: shared_state.clock.clone(),
        dimensions,
    })?;
    Ok(match shared_state.shared_catalogue()? {
        Some(catalogue) => charts.kept_in(catalogue)?,
        None => charts,
    })
}

/// Opens the folders alone, for commands that look something up: the other families, their tools
/// and their schemas would take longer than a search.
pub(crate) fn files_alone(
    config: &Config,
    shared_state: &SharedState,
) -> anyhow::Result<Option<files::Service>> {
    config.check()?;
    shared_state.served.store(Some(Arc::new(config.clone())));
    files_service(config, shared_state)
}

fn files_service(
    config: &Config,
    shared_state: &SharedState,
) -> anyhow::Result<Option<files::Service>> {
    if config.files.roots.is_empty() {
        shared_state.files.switch_off("no folders are configured any more");
        return Ok(None);
    }
    let kept = shared_state.open_store()?;
    let pool = Pool::new(PoolConfig::this_executable()?);
    let indexer = Arc::new(Indexer::new(IndexerConfig {
        store: kept.store.clone(),
        pool: Some(Arc::new(pool)),
        vectors: Arc::clone(&kept.vectors),
        files: config.files.clone(),
        roots: Roots::open(&config.files.roots, &config.base)?,
        data_dir: Some(shared_state.data_dir().to_owned()),
        n_extractors: extract::default_workers(),
        left: Some(Box::new({
            let eraser = shared_state.eraser()?;
            move |paths| eraser.left(paths)
        })),
    })?);
    let service = files::Service::new(files::ServiceConfig {
        indexer,
        retriever: retriever(config, shared_state)?,
        queue: Arc::clone(&kept.queue),
        llm: models::llm(config)?,
        clock: shared_state.clock.clone(),
        index_wait: INDEX_WAIT,
    });
    shared_state.files.set(service.clone());
    Ok(Some(service))
}

/// Opens the knowledge bases alone, for commands.
pub(crate) fn knowledge_service(
    config: &Config,
    shared_state: &SharedState,
) -> anyhow::Result<knowledge::Service> {
    let kept = shared_state.open_store()?;
    let parts = knowledge::ServiceConfig {
        store: kept.store.clone(),
        catalogue: kept.store.catalogue(),
        queue: Arc::clone(&kept.queue),
        retriever: retriever(config, shared_state)?,
        vectors: Arc::clone(&kept.vectors),
        pool: Some(Arc::new(Pool::new(PoolConfig::this_executable()?))),
        llm: models::llm(config)?,
        uploads: shared_state.uploads()?,
        settings: config.knowledge.clone(),
        clock: shared_state.clock.clone(),
    };
    let service = match shared_state.knowledge.get() {
        Some(before) => knowledge::Service::succeeding(parts, &before),
        None => knowledge::Service::new(parts),
    };
    // Only at the first opening: a server that takes another configuration while it runs may
    // be taking uploads that have no job yet.
    if !shared_state.knowledge.is_set() && shared_state.access() == Access::Write {
        let left_behind = service.resume_uploads()?;
        let sweeping = service.clone();
        let wait = left_behind.sweep_after(shared_state.clock.now());
        // Each file is looked up: nobody waits for that.
        std::thread::Builder::new().name("sweep".to_owned()).spawn(move || {
            std::thread::sleep(wait);
            match sweeping.sweep(&left_behind) {
                Ok(0) => {}
                Ok(n_removed) => tracing::info!(n_removed, "uploads without a document removed"),
                Err(error) => tracing::warn!(%error, "uploads could not be swept"),
            }
        })?;
    }
    shared_state.knowledge.set(service.clone());
    Ok(service)
}

/// Opens the projects alone, for commands.
pub(crate) fn contexts_service(
    config: &Config,
    shared_state: &SharedState,
) -> anyhow::Result<contexts::Service> {
    let kept = shared_state.open_store()?;
    let service = contexts::Service::new(contexts::ServiceConfig {
        store: kept.store.clone(),
        catalogue: kept.store.catalogue(),
        queue: Arc::clone(&kept.queue),
        retriever: retriever(config, shared_state)?,
        vectors: Arc::clone(&kept.vectors),
        staging: shared_state.data_dir().join("staging"),
        locks: shared_state.context_locks.clone(),
        settings: config.contexts.clone(),
        clock: shared_state.clock.clone(),
    });
    shared_state.contexts.set(service.clone());
    Ok(service)
}

/// Gives the one retriever of all families, so that a cross-encoder is loaded once and its circuit
/// breaker counts every failure; a new one when the configuration names another re-ranker.
fn retriever(config: &Config, shared_state: &SharedState) -> anyhow::Result<Retriever> {
    let mut shared = shared_state.retriever.lock();
    if let Some((section, retriever)) = &*shared
        && *section == config.reranker
    {
        return Ok(retriever.clone());
    }
    let slot = Arc::clone(&shared_state.embedder);
    let embedder: EmbedderSource = Arc::new(move || slot.get(&Deadline::after(MODEL_WAIT)));
    let metrics = Arc::clone(&shared_state.metrics);
    let open = shared_state.open_store()?;
    let vectors = Arc::clone(&open.vectors);
    let retriever = Retriever::new(open.store.clone(), embedder)
        .with_passage_vectors(Arc::new(move |embedder, namespace, passages, deadline| {
            vectors.make_now(embedder, namespace, passages, deadline)
        }))
        .with_observer(Arc::new(move |timings| {
            for timing in timings {
                let (stage, ms) = (timing.stage, timing.took.as_millis());
                let skipped = timing.skipped.as_deref();
                tracing::debug!(stage, ms, skipped, "stage of a search");
                match timing.skipped {
                    None => metrics.stage_ran(timing.stage, timing.took),
                    Some(_) => metrics.stage_skipped(timing.stage),
                }
            }
        }));
    let retriever = match models::reranker(config)? {
        models::Reranking::Builtin => retriever,
        models::Reranking::Off => retriever.without_reranker(),
        models::Reranking::By(reranker) => retriever.with_reranker(reranker),
    };
    *shared = Some((config.reranker.clone(), retriever.clone()));
    Ok(retriever)
}
