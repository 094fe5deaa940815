//! Knowledge bases as a source.

use knowledge::{ChunkHit, DocumentText, SearchResults, Service};
use model::{Around, Caller, Deadline, Warning};
use retrieve::Given;
use serde_json::json;

use crate::{Error, Explanation, Fetched, Hit, Part, Result, Source, SourceHits};

/// The longest text that is read of a document, in characters: as long as an upload may be.
const MAX_TEXT_CHARS: usize = 50_000_000;

/// Documents that are looked at in one step.
const FIND_PAGE: usize = 500;

/// The warning that nothing was found, which says nothing about the other families.
const NO_RESULTS: &str = "no_results";

/// The knowledge bases of a server.
pub struct KnowledgeBases(Service);

impl KnowledgeBases {
    /// Searches the knowledge bases of a service.
    pub fn new(service: Service) -> Self {
        KnowledgeBases(service)
    }
}

impl Source for KnowledgeBases {
    fn name(&self) -> &'static str {
        "knowledge"
    }

    fn search(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
        deadline: &Deadline,
    ) -> SourceHits {
        hits_of(self.0.search_everywhere(caller, query, limit, deadline))
    }

    fn search_in_order(
        &self,
        caller: &Caller,
        query: &str,
        given: &Given,
        limit: usize,
        deadline: &Deadline,
    ) -> SourceHits {
        let order = |document: &str| {
            let name = self.walk_name(document, 0);
            (!given.holds(&name)).then(|| Given::place_of(&name))
        };
        hits_of(self.0.search_everywhere_in_order(caller, query, &order, limit, deadline))
    }

    fn letter(&self) -> char {
        'k'
    }

    fn key(&self, thing: &str, position: u32) -> String {
        format!("{thing}:{position}")
    }

    fn find(&self, caller: &Caller, is_it: &dyn Fn(&str) -> bool) -> Result<Option<String>> {
        let failed = |cause: knowledge::Error| Error::Failed {
            source_name: "knowledge",
            cause: Box::new(cause),
        };
        for base in self.0.list_bases(caller).map_err(failed)? {
            for collection in self.0.list_collections(caller, &base.id).map_err(failed)? {
                let mut after: Option<String> = None;
                loop {
                    let found = self
                        .0
                        .list_documents(caller, &collection.id, after.as_deref(), FIND_PAGE)
                        .map_err(failed)?;
                    if let Some(document) = found.iter().find(|one| is_it(one.id.as_str())) {
                        return Ok(Some(document.id.to_string()));
                    }
                    after = found.last().map(|one| one.id.to_string());
                    if found.len() < FIND_PAGE {
                        break;
                    }
                }
            }
        }
        Ok(None)
    }

    fn fetch(&self, caller: &Caller, key: &str, part: &Part) -> Result<Option<Fetched>> {
        let Some((document, _)) = key.rsplit_once(':') else { return Ok(None) };
        // A chunk that is gone leaves its document, which is then read from its start.
        let at = self
            .0
            .get_chunk(caller, &model::PassageId::new(key))
            .map_or(0, |chunk| chunk.span.start);
        match self.0.document_text(
            caller,
            &knowledge::KnowledgeDocumentId::new(document),
            MAX_TEXT_CHARS,
        ) {
            Ok(DocumentText { document, text, is_cut }) => Ok(Some(
                Fetched {
                    title: document.title,
                    text,
                    around: Around::default(),
                    span: None,
                    metadata: json!({
                        "knowledge_base_id": document.knowledge_base_id,
                        "collection_id": document.collection_id,
                        "document_id": document.id,
                        "chunk_id": key,
                        "truncated": is_cut,
                    }),
                }
                .cut_to(part, at),
            )),
            Err(
                knowledge::Error::BaseNotFound { .. }
                | knowledge::Error::Object(ingest::ObjectError::NotFound { .. })
                | knowledge::Error::Denied,
            ) => Ok(None),
            Err(error) => Err(Error::Failed { source_name: "knowledge", cause: Box::new(error) }),
        }
    }
}

fn hits_of(found: knowledge::Result<SearchResults>) -> SourceHits {
    match found {
        Ok(found) => SourceHits {
            n_passages: found.n_passages,
            hits: found.results.into_iter().map(hit_of).collect(),
            warnings: found
                .warnings
                .into_iter()
                .filter(|warning| warning.code != NO_RESULTS)
                .collect(),
            timings: found.timings,
            ..SourceHits::default()
        },
        Err(error) => SourceHits {
            warnings: vec![Warning::new("knowledge_failed", format!("knowledge: {error}"))],
            ..SourceHits::default()
        },
    }
}

fn hit_of(chunk: ChunkHit) -> Hit {
    let is_whole = chunk.snippet.trim().is_empty();
    Hit {
        around: if is_whole { chunk.around } else { chunk.around_snippet },
        thing: chunk.document_id.to_string(),
        position: chunk.chunk_index,
        title: chunk.title,
        snippet: if is_whole { chunk.content } else { chunk.snippet },
        pointer: Some(chunk.pointer),
        score: chunk.score,
        chance: chunk.explanation.chance,
        explanation: Some(Explanation::Passage(chunk.explanation)),
        same: vec![],
        no_text: None,
    }
}
