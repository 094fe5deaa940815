//! Does what was typed.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use knowledge::{
    BaseChange, Document, DocumentChange, KnowledgeBase, NewBase, SearchRequest, Visibility,
};
use model::{Deadline, iso};
use serde_json::{Value, json};
use serve::{Deleted, What};

use super::session::Session;
use crate::commands::check::Providers;
use crate::commands::host::Host;
use crate::commands::objects::{Effect, Opened};
use crate::commands::words::{add_failing_embedder, failures, in_flags};
use crate::commands::{Outcome, until_stopped};
use crate::control::Typed;
use crate::kb_cli::{KbArgs, KbCommand};
use crate::print;
use crate::wiring::{knowledge_by_words, knowledge_service};

/// How long a search may take.
const SEARCH_WAIT: Duration = Duration::from_secs(60);

/// Characters of a chunk on a terminal; whoever reads a pipe gets all of it.
const PRINTED_CHARS: usize = 200;

pub(crate) fn run(args: &KbArgs) -> anyhow::Result<Outcome> {
    let creates = matches!(args.command, KbCommand::Create { .. });
    let effect = Effect::of(creates, args.command.is_reading());
    let (config, common) = match args.objects.open(effect)? {
        Opened::Elsewhere(outcome) => return Ok(outcome),
        Opened::Here(here) => *here,
    };
    common.shared_state.served.store(Some(Arc::new(config.clone())));
    let service = knowledge_service(&config, &common.shared_state)?;
    let session = Session { common, service, providers: Providers::here() };
    let command = args.command.clone();
    until_stopped(move || {
        let outcome = session.run(&command)?;
        session.finish_vectors()?;
        Ok(outcome)
    })
}

/// Does it with the knowledge bases of a running server.
pub(crate) fn hosted(host: &Host, typed: &Typed, args: &KbArgs) -> anyhow::Result<Outcome> {
    let is_search = matches!(args.command, KbCommand::Search { .. });
    let service = match typed.is_without_model && is_search {
        true => knowledge_by_words(&host.shared_state)?,
        false => host.app().knowledge.clone().context("the server has no knowledge bases")?,
    };
    let providers = Providers::of(typed);
    let session = Session { common: args.objects.hosted(host, typed), service, providers };
    session.run(&args.command)
}

/// What is said of a document that is not there.
pub(super) fn no_document(id: &str) -> String {
    format!(
        "the document `{id}` cannot be used\n\
         hint: `dowse kb documents COLLECTION` lists the ids of documents"
    )
}

/// What is said of a collection that is not there.
pub(super) fn no_collection(id: &str) -> String {
    format!(
        "the collection `{id}` cannot be used\n\
         hint: `dowse kb collection list KB` lists the ids of collections"
    )
}

fn deleted(document: &Document) -> Deleted {
    let base = document.knowledge_base_id.to_string();
    let what = What::Document { base, id: document.id.to_string() };
    Deleted { since: document.created_at, what }
}

impl Session {
    fn run(&self, command: &KbCommand) -> anyhow::Result<Outcome> {
        match command {
            KbCommand::Create { name, description, public } => {
                let visibility = if *public { Visibility::Public } else { Visibility::Private };
                let new = NewBase {
                    name: name.clone(),
                    description: description.clone(),
                    visibility,
                    ..NewBase::default()
                };
                self.made(self.service.create_base(&self.caller, &new)?.id.as_str())?;
            }
            KbCommand::List => self.list()?,
            KbCommand::Update { kb, name, description, public, private } => {
                let visibility = match (public, private) {
                    (true, _) => Some(Visibility::Public),
                    (false, true) => Some(Visibility::Private),
                    (false, false) => None,
                };
                let change = BaseChange {
                    name: name.clone(),
                    description: description.clone(),
                    visibility,
                    ..BaseChange::default()
                };
                let base = self.base(kb)?;
                let base = self.service.update_base(&self.caller, &base.id, &change)?;
                self.done(base.id.as_str(), format!("changed `{}`", base.name))?;
            }
            KbCommand::Delete { kb } => {
                let base = self.base(kb)?;
                self.wait(&self.service.delete_base(&self.caller, &base.id)?)?;
                self.shared_state.erase_answers(Some(&self.caller.tenant));
                self.done(base.id.as_str(), format!("deleted `{}`", base.name))?;
            }
            KbCommand::Collection(command) => self.collections(command)?,
            KbCommand::Add(args) => return self.add(args),
            KbCommand::Documents { collection } => self.list_documents(collection)?,
            KbCommand::Replace { document, file, normalize_ocr } => {
                return self.replace(document, file, *normalize_ocr);
            }
            KbCommand::Set { document, title, tags, metadata } => {
                let metadata = metadata.as_deref().map(serde_json::from_str).transpose();
                let metadata = metadata.context("`--metadata` is no JSON object")?;
                let tags = (!tags.is_empty()).then(|| tags.clone());
                let change = DocumentChange { title: title.clone(), metadata, tags };
                let changed = self.service.update_document(
                    &self.caller,
                    &knowledge::KnowledgeDocumentId::new(document),
                    &change,
                );
                let changed = changed.with_context(|| no_document(document))?;
                self.done(changed.id.as_str(), format!("changed `{}`", changed.title))?;
            }
            KbCommand::Remove { document } => {
                let known = self
                    .service
                    .get_document(&self.caller, &knowledge::KnowledgeDocumentId::new(document))
                    .ok();
                let job = self
                    .service
                    .delete_document(&self.caller, &knowledge::KnowledgeDocumentId::new(document));
                self.wait(&job.with_context(|| no_document(document))?)?;
                let tenant = Some(&self.caller.tenant);
                match known.map(|known| deleted(&known)) {
                    Some(deleted) => self.shared_state.erase_answers_of(tenant, &deleted),
                    None => self.shared_state.erase_answers(tenant),
                }
                self.done(document, format!("deleted the document `{document}`"))?;
            }
            KbCommand::Search { kb, query, threshold, max_results } => {
                return self.search(&SearchRequest {
                    query: query.clone(),
                    knowledge_base_id: self.base(kb)?.id.clone(),
                    threshold: *threshold,
                    max_results: (*max_results).min(knowledge::limits::MAX_RESULTS),
                });
            }
            KbCommand::Summary { kb, versions: false } => self.summary(&self.base(kb)?)?,
            KbCommand::Summary { kb, versions: true } => self.versions(&self.base(kb)?)?,
            KbCommand::Jobs => self.list_jobs()?,
        }
        Ok(Outcome::Done)
    }

    fn list(&self) -> anyhow::Result<()> {
        let mut rows = print::Table::new(["id", "name", "visibility", "documents", "chunks"]);
        for base in self.service.list_bases(&self.caller)? {
            let statistics = self.service.summary(&self.caller, &base.id)?.statistics;
            let visibility = match base.visibility {
                Visibility::Private => "private",
                Visibility::Public => "public",
            };
            rows.row([
                json!(base.id),
                json!(base.name),
                json!(visibility),
                json!(statistics.total_documents),
                json!(statistics.total_chunks),
            ]);
        }
        rows.print(self.is_json)
    }

    /// Searches; the exit code says whether something was found.
    fn search(&self, request: &SearchRequest) -> anyhow::Result<Outcome> {
        let deadline = Deadline::after(SEARCH_WAIT);
        let mut found = self.service.search(&self.caller, request, &deadline)?;
        add_failing_embedder(&self.shared_state, self.providers, &mut found.warnings);
        let failed = failures(&found.warnings);
        let outcome = match (failed.is_empty(), found.results.is_empty()) {
            (false, _) => Outcome::Failed,
            (true, true) => Outcome::Problems,
            (true, false) => Outcome::Done,
        };
        let is_other = |warning: &&model::Warning| self.is_json || !failed.contains(warning);
        let warnings: Vec<String> = found
            .warnings
            .iter()
            .filter(is_other)
            .map(|warning| in_flags(&warning.message))
            .collect();
        let failed: Vec<&str> = failed.iter().map(|warning| warning.message.as_str()).collect();
        if self.is_json {
            let results: Vec<Value> = found
                .results
                .iter()
                .map(|chunk| {
                    json!({
                        "score": chunk.score.get(),
                        "title": chunk.title,
                        "pointer": chunk.pointer.to_string(),
                        "text": guard::redacted_piece(&chunk.content, &chunk.around).0,
                    })
                })
                .collect();
            let query = &request.query;
            print::json(&json!({
                "query": query, "results": results, "warnings": warnings, "failures": failed,
            }))?;
            failed.iter().for_each(|failure| print::failure(failure));
            return Ok(outcome);
        }
        for warning in warnings {
            print::note(format!("warning: {warning}"));
        }
        for chunk in &found.results {
            let text = guard::redacted_piece(&chunk.content, &chunk.around).0;
            let text = print::on_one_line(&text, self.is_terminal.then_some(PRINTED_CHARS));
            print::line(format!("{:.2}  {} ({})", chunk.score.get(), chunk.title, chunk.pointer));
            print::line(format!("      {text}"));
        }
        failed.iter().for_each(|failure| print::failure(failure));
        Ok(outcome)
    }

    fn summary(&self, base: &KnowledgeBase) -> anyhow::Result<()> {
        let summary = self.service.summary(&self.caller, &base.id)?;
        let statistics = summary.statistics;
        let at = iso(summary.generated_at);
        if self.is_json {
            return print::json(&json!({
                "summary": summary.summary,
                "documents": statistics.total_documents,
                "collections": statistics.total_collections,
                "chunks": statistics.total_chunks,
                "generated_at": at,
            }));
        }
        print::line(summary.summary);
        print::line(format!(
            "{}, {}, {}; {}",
            print::counted(statistics.total_documents, "document", "documents"),
            print::counted(statistics.total_collections, "collection", "collections"),
            print::counted(statistics.total_chunks, "chunk", "chunks"),
            print::time(&at),
        ));
        for warning in &summary.warnings {
            print::note(format!("warning: {}", warning.message));
        }
        Ok(())
    }

    /// Prints every version of every collection's summary, the newest first.
    fn versions(&self, base: &KnowledgeBase) -> anyhow::Result<()> {
        let mut versions = Vec::new();
        for collection in self.service.list_collections(&self.caller, &base.id)? {
            for version in self.service.summary_versions(&self.caller, &collection.id)? {
                let at = iso(version.generated_at);
                if !self.is_json {
                    print::line(format!(
                        "{}  version {}  {}  {at}",
                        collection.name, version.version, version.engine
                    ));
                    print::line(format!("      {}", version.text));
                }
                versions.push(json!({
                    "collection": collection.name,
                    "version": version.version,
                    "engine": version.engine.to_string(),
                    "generated_at": at,
                    "text": version.text,
                }));
            }
        }
        if self.is_json { print::json(&Value::Array(versions)) } else { Ok(()) }
    }
}
