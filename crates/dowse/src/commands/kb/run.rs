//! Does what was typed.

use std::time::Duration;

use anyhow::Context;
use knowledge::{BaseChange, KnowledgeBase, NewBase, SearchRequest, Visibility};
use model::{Caller, Deadline, TenantId, iso};

use super::session::Session;
use crate::commands::variable;
use crate::config::load;
use crate::kb_cli::{KbArgs, KbCommand};
use crate::print;
use crate::wiring::{SharedState, knowledge_service};

/// How long a search may take.
const SEARCH_WAIT: Duration = Duration::from_secs(60);

/// Characters of a chunk that are printed.
const PRINTED_CHARS: usize = 200;

pub(crate) fn run(args: &KbArgs) -> anyhow::Result<()> {
    let config = load(args.config.config.as_deref(), &variable)?.config;
    let shared_state = SharedState::open(&config)?;
    let service = knowledge_service(&config, &shared_state).context(
        "hint: a server that runs on the same data folder has it open; use its REST interface",
    )?;
    // Whoever can read the data folder owns what is in it.
    let caller = Caller { tenant: TenantId::new(args.tenant.as_str()), ..Caller::local_admin() };
    let session = Session { service, shared_state, caller };
    match &args.command {
        KbCommand::Create { name, description, public } => {
            let visibility = if *public { Visibility::Public } else { Visibility::Private };
            let new = NewBase {
                name: name.clone(),
                description: description.clone(),
                visibility,
                ..NewBase::default()
            };
            print::line(session.service.create_base(&session.caller, &new)?.id);
            Ok(())
        }
        KbCommand::List => session.list(),
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
            session.service.update_base(&session.caller, &session.base(kb)?.id, &change)?;
            Ok(())
        }
        KbCommand::Delete { kb } => {
            let base = session.base(kb)?;
            session.wait(&session.service.delete_base(&session.caller, &base.id)?)?;
            print::note(format!("deleted `{}`", base.name));
            Ok(())
        }
        KbCommand::Collection(command) => session.collections(command),
        KbCommand::Add(args) => session.add(args),
        KbCommand::Documents { collection } => session.list_documents(collection),
        KbCommand::Replace { document, file, normalize_ocr } => {
            session.replace(document, file, *normalize_ocr)
        }
        KbCommand::Remove { document } => {
            session.wait(&session.service.delete_document(&session.caller, document)?)
        }
        KbCommand::Search { kb, query, threshold, max_results } => session.search(&SearchRequest {
            query: query.clone(),
            knowledge_base_id: session.base(kb)?.id,
            threshold: *threshold,
            max_results: (*max_results).min(knowledge::limits::MAX_RESULTS),
        }),
        KbCommand::Summary { kb, versions: false } => session.summary(&session.base(kb)?),
        KbCommand::Summary { kb, versions: true } => session.versions(&session.base(kb)?),
        KbCommand::Jobs => session.list_jobs(),
    }
}

impl Session {
    fn list(&self) -> anyhow::Result<()> {
        let head = ["id", "name", "visibility", "documents", "chunks"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for base in self.service.list_bases(&self.caller)? {
            let statistics = self.service.summary(&self.caller, &base.id)?.statistics;
            let visibility = match base.visibility {
                Visibility::Private => "private",
                Visibility::Public => "public",
            };
            rows.push(vec![
                base.id,
                base.name,
                visibility.to_owned(),
                statistics.total_documents.to_string(),
                statistics.total_chunks.to_string(),
            ]);
        }
        print::line(print::table(&rows));
        Ok(())
    }

    fn search(&self, request: &SearchRequest) -> anyhow::Result<()> {
        let found = self.service.search(&self.caller, request, &Deadline::after(SEARCH_WAIT))?;
        for warning in &found.warnings {
            print::note(format!("warning: {}", warning.message));
        }
        for chunk in &found.results {
            let text: String = chunk.content.chars().take(PRINTED_CHARS).collect();
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            print::line(format!("{:.2}  {} ({})", chunk.score.get(), chunk.title, chunk.pointer));
            print::line(format!("      {text}"));
        }
        Ok(())
    }

    fn summary(&self, base: &KnowledgeBase) -> anyhow::Result<()> {
        let summary = self.service.summary(&self.caller, &base.id)?;
        let statistics = summary.statistics;
        print::line(summary.summary);
        print::line(format!(
            "{} documents, {} collections, {} chunks; {}",
            statistics.total_documents,
            statistics.total_collections,
            statistics.total_chunks,
            iso(summary.generated_at)
        ));
        for warning in &summary.warnings {
            print::note(format!("warning: {}", warning.message));
        }
        Ok(())
    }

    /// Prints every version of every collection's summary, the newest first.
    fn versions(&self, base: &KnowledgeBase) -> anyhow::Result<()> {
        for collection in self.service.list_collections(&self.caller, &base.id)? {
            for version in self.service.summary_versions(&self.caller, &collection.id)? {
                print::line(format!(
                    "{}  version {}  {}  {}",
                    collection.name,
                    version.version,
                    version.engine,
                    iso(version.generated_at)
                ));
                print::line(format!("      {}", version.text));
            }
        }
        Ok(())
    }
}
