//! Search through a tool: a question in, chunks with their pointers out.

use std::collections::BTreeMap;

use ingest::ObjectError;
use model::{Around, Caller, Deadline, DocumentId, Explanation, PassageId, Score, Stage, Warning};
use retrieve::{Grouping, Pipeline, Ranked, Request, Scope, StageTiming};
use serde::Serialize;
use store::limits::MAX_CANDIDATES;
use store::{DocumentInfo, Filter, Place, TypedObject};

use crate::ids::chunk_id;
use crate::json::pointer;
use crate::object_ids::{TableId, ToolId};
use crate::objects::{IndexStatus, ShortStringsUse, Table, Tool, ToolKind};
use crate::source::CHARS;
use crate::{Error, Result, Service, limits};

/// Candidates by vector of a page in a fixed order: the same for all pages of a walk.
const N_BY_VECTOR_IN_ORDER: usize = 2_000;

/// Hits asked for beyond those wanted, since a string may be replaced meanwhile.
const SPARE_HITS: usize = 5;

/// One chunk with everything that is known about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chunk {
    /// Names table, place, version of the content and chunk.
    pub id: String,
    /// Whose document it is in.
    pub table_id: TableId,
    /// The absolute RFC 6901 pointer of the string that the chunk is from.
    pub json_pointer: String,
    /// The position among the chunks of the string, from 0.
    pub chunk_index: u32,
    /// How many chunks the string has.
    pub total_chunks: usize,
    /// The text, unredacted.
    pub chunk_text: String,
    /// Where the text begins in the string, in characters.
    pub char_start: usize,
    /// Where it ends.
    pub char_end: usize,
    /// SHA-256 of the whole string.
    pub content_hash: String,
    /// The namespace in the engine.
    pub turbopuffer_namespace: String,
    /// The chunk's id in the engine.
    pub turbopuffer_doc_id: String,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChunkHit {
    /// Calibrated relevance.
    pub score: Score,
    /// Reciprocal rank fusion, divided by its theoretical maximum.
    pub rrf_score: Option<f64>,
    /// The pointer as it is seen from the tool.
    pub json_path: String,
    /// What was found, unredacted.
    pub chunk: Chunk,
    /// What the string says around the chunk; it is looked at and never leaves.
    #[serde(skip)]
    pub around: Around,
    /// What each stage thought.
    #[serde(skip)]
    pub explanation: Explanation,
    /// What a walk knows the chunk by: its id in the store.
    #[serde(skip)]
    pub walk_name: String,
}

/// Gives the place of a chunk, by what a walk knows it by, in an order that never moves; nothing
/// for one that is left out.
pub type ChunkOrder<'a> = dyn Fn(&str) -> Option<u64> + 'a;

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchResults {
    /// The question.
    pub query: String,
    /// Chunks, best first.
    pub results: Vec<ChunkHit>,
    /// What was skipped, cut or is missing.
    pub warnings: Vec<Warning>,
    /// Of a page in a fixed order: the place up to which chunks were looked at, where others are
    /// behind it.
    #[serde(skip)]
    pub looked_to: Option<u64>,
}

/// What was found in every table that the caller may read: the table's name with each result.
#[derive(Debug, Clone, PartialEq)]
pub struct TableHits {
    /// The best chunk of each string, best first.
    pub results: Vec<(String, ChunkHit)>,
    /// What was skipped, cut or is missing.
    pub warnings: Vec<Warning>,
    /// What each stage took, in order.
    pub timings: Vec<StageTiming>,
    /// How many chunks were searched.
    pub n_passages: usize,
}

/// Chunks of one string among the candidates of a search for strings.
const CHUNKS_OF_STRING: usize = 4;

/// Strings that are looked at in one step.
const FIND_PAGE: usize = 500;

impl Service {
    /// Finds the indexed string of a table whose absolute pointer `is_it` knows; looks at all.
    ///
    /// Fails when the table does not exist for the caller.
    pub fn find_pointer(
        &self,
        caller: &Caller,
        table: &TableId,
        is_it: &dyn Fn(&str) -> bool,
    ) -> Result<Option<String>> {
        let namespace = self.get_table(caller, table)?.namespace();
        let mut after = None;
        loop {
            let page = store::DocumentPage { prefix: String::new(), after, limit: FIND_PAGE };
            let found = match self.0.store.documents(&namespace, &page) {
                Err(store::Error::UnknownNamespace { .. }) => return Ok(None),
                found => found?,
            };
            let pointers = found.iter().filter_map(|one| one.metadata["json_pointer"].as_str());
            if let Some(pointer) = pointers.into_iter().find(|pointer| is_it(pointer)) {
                return Ok(Some(pointer.to_owned()));
            }
            after = found.last().map(|one| one.id.clone());
            if found.len() < FIND_PAGE {
                return Ok(None);
            }
        }
    }

    /// Searches what a tool covers, for whoever may read its project or holds a key of an
    /// endpoint that it is bound to.
    pub fn search(
        &self,
        caller: &Caller,
        tool: &ToolId,
        query: &str,
        top_k: usize,
        deadline: &Deadline,
    ) -> Result<SearchResults> {
        self.search_by(caller, tool, query, None, top_k, deadline)
    }

    /// Gives the chunks that [`Service::search`] finds in an order that never moves, and not best
    /// first: those behind what a walk has given by rank.
    pub fn search_in_order(
        &self,
        caller: &Caller,
        tool: &ToolId,
        query: &str,
        order: &ChunkOrder<'_>,
        top_k: usize,
        deadline: &Deadline,
    ) -> Result<SearchResults> {
        self.search_by(caller, tool, query, Some(order), top_k, deadline)
    }

    fn search_by(
        &self,
        caller: &Caller,
        tool: &ToolId,
        query: &str,
        order: Option<&ChunkOrder<'_>>,
        top_k: usize,
        deadline: &Deadline,
    ) -> Result<SearchResults> {
        let tool = self.usable_tool(caller, tool)?;
        if tool.kind != ToolKind::Search {
            let problem = format!("the tool `{}` does not search, it reads nodes", tool.name);
            return Err(Error::Object(ObjectError::BadRequest { problem }));
        }
        if text::is_blank(query) {
            let problem = "`query` is blank: say in words what to look for".to_owned();
            return Err(Error::Object(ObjectError::BadRequest { problem }));
        }
        let missing = || Error::missing("Tool", tool.id.as_str());
        let (table, _) = Table::load(self.catalogue(), &tool.table_id)?.ok_or_else(missing)?;
        let mut found = SearchResults {
            query: query.to_owned(),
            results: vec![],
            warnings: vec![],
            looked_to: None,
        };
        found.warnings.extend(unready(&tool));
        let namespace = table.namespace();
        if self.0.store.namespace(&namespace)?.is_none() {
            return Ok(found);
        }
        let scopes = [Scope { namespace, filter: self.found_by(&tool) }];
        // Whoever walks asks for what the answers before gave as well.
        let top_k = top_k.clamp(1, limits::MAX_RANKED);
        let mut pipeline = pipeline();
        if order.is_some() {
            // Everything is put in order, and only the chunks of the page are judged.
            pipeline.n_by_words = MAX_CANDIDATES;
            pipeline.n_by_vector = N_BY_VECTOR_IN_ORDER;
        }
        let request = Request {
            query,
            scopes: &scopes,
            limit: top_k + SPARE_HITS,
            offset: 0,
            threshold: None,
            grouping: Grouping::Passages,
            pipeline: &pipeline,
            deadline,
        };
        let searched = match order {
            None => self.0.retriever.search(&request),
            Some(order) => {
                let of_chunk = |_: &DocumentId, chunk: &PassageId| order(chunk.as_str());
                self.0.retriever.search_in_order(&request, &of_chunk)
            }
        };
        let response = match searched {
            // The last chunk went while the question was on its way.
            Err(retrieve::Error::Store(store::Error::UnknownNamespace { .. })) => return Ok(found),
            response => response?,
        };
        if order.is_some() && !response.total.is_exact && response.total.n >= MAX_CANDIDATES {
            let message = format!(
                "more match than a walk goes through: it ends behind {MAX_CANDIDATES}; narrow the \
                 query for the others"
            );
            found.warnings.push(Warning::new(retrieve::WALK_TOO_LONG, message));
        }
        found.looked_to = response.looked_to;
        found.warnings.extend(response.warnings);
        let coverage = response.coverage;
        let (n_passages, n_vectors) = (coverage.n_passages, coverage.n_vectors);
        let hits = response.hits.iter().map(|ranked| &ranked.hit);
        let asked = scopes.iter().map(|scope| scope.namespace.clone());
        found.warnings.extend(self.0.vectors.notice(n_passages, n_vectors, asked, hits));
        // Behind a page in a fixed order the next one begins: nothing of it is left out.
        let n_given = if order.is_some() { usize::MAX } else { top_k };
        let results = self.results(&table, &tool.json_path, response.hits)?;
        found.results.extend(results.into_iter().flatten().take(n_given));
        Ok(found)
    }

    /// Searches what the search tools of every project cover that the caller may read.
    pub fn search_all(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<TableHits> {
        let mut found =
            TableHits { results: vec![], warnings: vec![], timings: vec![], n_passages: 0 };
        let mut tables = vec![];
        for project in self.list_projects(caller)? {
            for table in self.tables_of_project(&project.id)? {
                // Only a table that some tool covers has a namespace.
                if self.0.store.namespace(&table.namespace())?.is_some() {
                    tables.push(table);
                }
            }
        }
        if tables.len() > limits::MAX_TABLES_AT_ONCE {
            let message = format!(
                "{} of {} JSON documents were searched",
                limits::MAX_TABLES_AT_ONCE,
                tables.len()
            );
            found.warnings.push(Warning::new("contexts_cut", message));
            tables.truncate(limits::MAX_TABLES_AT_ONCE);
        }
        if tables.is_empty() {
            return Ok(found);
        }
        let scopes: Vec<Scope> = tables
            .iter()
            .map(|table| Scope { namespace: table.namespace(), filter: Filter::All })
            .collect();
        let mut pipeline = pipeline();
        // A string has many chunks, so that many strings need more candidates than a few do.
        let n_candidates = limit.saturating_mul(CHUNKS_OF_STRING).min(MAX_CANDIDATES);
        pipeline.n_by_words = pipeline.n_by_words.max(n_candidates);
        let response = self.0.retriever.search(&Request {
            query,
            scopes: &scopes,
            limit,
            offset: 0,
            threshold: None,
            grouping: Grouping::Documents,
            pipeline: &pipeline,
            deadline,
        })?;
        found.warnings.extend(response.warnings);
        found.timings = response.timings;
        found.n_passages = response.coverage.n_passages;
        let mut by_rank = BTreeMap::new();
        for table in &tables {
            let namespace = table.namespace();
            let is_of_table = |(_, ranked): &(usize, &Ranked)| ranked.hit.namespace == namespace;
            let (ranks, hits): (Vec<usize>, Vec<Ranked>) = response
                .hits
                .iter()
                .enumerate()
                .filter(is_of_table)
                .map(|(rank, ranked)| (rank, ranked.clone()))
                .unzip();
            if hits.is_empty() {
                continue;
            }
            for (rank, result) in ranks.into_iter().zip(self.results(table, "", hits)?) {
                by_rank.extend(result.map(|result| (rank, (table.name.clone(), result))));
            }
        }
        found.results.extend(by_rank.into_values());
        Ok(found)
    }

    /// Gives what a tool finds: what is under its path, without strings that are shorter than its
    /// threshold and are indexed for another tool.
    fn found_by(&self, tool: &Tool) -> Filter {
        let under = Filter::pointer_scope(&tool.json_path);
        let index = tool.search_index.as_ref();
        if !index.is_some_and(|index| index.has_others && !index.short_strings) {
            return under;
        }
        let usual = self.0.settings.chunk_threshold_chars;
        let threshold = tool.chunk_threshold_chars.unwrap_or(usual);
        let from = Some(i64::try_from(threshold).unwrap_or(i64::MAX));
        Filter::And(vec![under, Filter::Range { attribute: CHARS.to_owned(), from, to: None }])
    }

    /// Writes hits of one table as results, in their order; nothing where the string is gone by now.
    fn results(
        &self,
        table: &Table,
        scope: &str,
        hits: Vec<Ranked>,
    ) -> Result<Vec<Option<ChunkHit>>> {
        if hits.is_empty() {
            return Ok(vec![]);
        }
        let (store, namespace) = (&self.0.store, table.namespace());
        let documents: Vec<_> = hits.iter().map(|ranked| ranked.hit.document.clone()).collect();
        let strings = store.documents_by_id(&namespace, &documents)?;
        let passages: Vec<_> = hits.iter().map(|ranked| ranked.hit.passage.clone()).collect();
        let places = store.places(&namespace, &passages)?;
        let passages: Vec<_> =
            hits.iter().map(|ranked| (&namespace, &ranked.passage.passage)).collect();
        let surroundings = store.surroundings_of(&passages)?;
        let details = strings.into_iter().zip(places).zip(surroundings);
        let results = hits.into_iter().zip(details).map(|(ranked, ((string, place), around))| {
            result(&table.id, scope, ranked, &string?, place, around.into())
        });
        Ok(results.collect())
    }
}

/// Writes a hit as a result; nothing when it is outside the scope.
fn result(
    table: &TableId,
    scope: &str,
    ranked: Ranked,
    string: &DocumentInfo,
    place: Option<Place>,
    around: Around,
) -> Option<ChunkHit> {
    let (hit, passage) = (ranked.hit, ranked.passage.passage);
    let text_of = |name: &str| string.metadata[name].as_str().unwrap_or_default();
    let (json_pointer, content_hash) = (text_of("json_pointer"), text_of("content_hash"));
    let json_path = pointer::relative(scope, json_pointer)?;
    // An engine that cannot take our ids has its own; one that is behind has none yet.
    let place = place.unwrap_or_else(|| Place {
        namespace: hit.namespace.to_string(),
        id: hit.passage.to_string(),
    });
    Some(ChunkHit {
        around: Around { name: crate::node::name_of(json_pointer), ..around },
        score: hit.score,
        rrf_score: hit.explanation.stage(Stage::Rrf).map(rounded),
        json_path: json_path.to_owned(),
        explanation: hit.explanation,
        walk_name: hit.passage.to_string(),
        chunk: Chunk {
            id: chunk_id(table, json_pointer, content_hash, passage.ordinal),
            table_id: table.clone(),
            json_pointer: json_pointer.to_owned(),
            chunk_index: passage.ordinal,
            total_chunks: string.n_passages,
            chunk_text: passage.text,
            char_start: passage.span.start,
            char_end: passage.span.end,
            content_hash: content_hash.to_owned(),
            turbopuffer_namespace: place.namespace,
            turbopuffer_doc_id: place.id,
        },
    })
}

/// A question to a tool is plain words: no field of it filters.
fn pipeline() -> Pipeline {
    Pipeline { fields: vec![], ..Pipeline::default() }
}

/// Says when results may be missing.
fn unready(tool: &Tool) -> Vec<Warning> {
    let Some(index) = &tool.search_index else { return vec![] };
    let state = match index.status {
        IndexStatus::Ready => None,
        IndexStatus::Pending => Some("waits to be made"),
        IndexStatus::Indexing => Some("is being made"),
        IndexStatus::Error => Some("could not be made completely"),
    };
    let mut warnings = vec![];
    if let Some(state) = state {
        let message = format!("the index of this tool {state}; results may be missing");
        warnings.push(Warning::new("index_incomplete", message));
    }
    if index.status == IndexStatus::Ready && index.nodes_count == 0 {
        let message = format!(
            "the part at `{}` holds no text that is indexed: nothing can be found there",
            tool.json_path
        );
        warnings.push(Warning::new("no_text", message));
    } else if index.short_strings && tool.short_strings == ShortStringsUse::Auto {
        let message = "short strings of the part that this tool covers are indexed together: a \
                       result may be their object or list";
        warnings.push(Warning::new("short_strings", message));
    }
    if let Some(reason) = &index.last_error {
        warnings.push(Warning::new("not_indexed", format!("not indexed: {reason}")));
    }
    warnings
}

fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}
