//! `dowse kb`: knowledge bases of this machine, without a server.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use ingest::{Job, JobState};
use knowledge::{
    Collection, Content, KnowledgeBase, NewBase, NewCollection, NewDocument, OcrRepair,
    SearchRequest, Service, Visibility, iso,
};
use model::{Caller, Deadline, TenantId};
use serde_json::Value;

use crate::cli::{KbArgs, KbCommand};
use crate::commands::variable;
use crate::config::load;
use crate::print;
use crate::wiring::{Lasting, knowledge_service};

/// How long a command waits between two looks at its job.
const JOB_WAIT: Duration = Duration::from_secs(5);

/// How long a search may take.
const SEARCH_WAIT: Duration = Duration::from_secs(60);

/// Characters of a chunk that are printed.
const PRINTED_CHARS: usize = 200;

pub(super) fn run(args: &KbArgs) -> anyhow::Result<()> {
    let config = load(args.config.config.as_deref(), &variable)?.config;
    let lasting = Lasting::open(&config)?;
    let service = knowledge_service(&config, &lasting).context(
        "hint: a server that runs on the same data folder has it open; use its REST interface",
    )?;
    // Whoever can read the data folder owns what is in it.
    let caller = Caller { tenant: TenantId::new(args.tenant.as_str()), ..Caller::local_admin() };
    let desk = Desk { service, lasting, caller };
    match &args.command {
        KbCommand::Create { name, description, public } => {
            let visibility = if *public { Visibility::Public } else { Visibility::Private };
            let new = NewBase { name: name.clone(), description: description.clone(), visibility };
            print::line(desk.service.create_base(&desk.caller, &new)?.id);
            Ok(())
        }
        KbCommand::List => desk.list(),
        KbCommand::Add { kb, files, collection, clearance, department, normalize_ocr } => {
            let base = desk.base(kb)?;
            let new = NewCollection {
                name: collection.clone(),
                description: String::new(),
                department: department.clone(),
                clearance: *clearance,
            };
            let collection = desk.collection(&base, &new)?;
            let ocr = if *normalize_ocr { OcrRepair::On } else { OcrRepair::Off };
            files.iter().try_for_each(|file| desk.add(&collection, file, ocr))
        }
        KbCommand::Search { kb, query, threshold, max_results } => desk.search(&SearchRequest {
            query: query.clone(),
            knowledge_base_id: desk.base(kb)?.id,
            threshold: *threshold,
            max_results: (*max_results).min(knowledge::limits::MAX_RESULTS),
        }),
        KbCommand::Summary { kb } => desk.summary(&desk.base(kb)?),
        KbCommand::Delete { kb } => {
            let base = desk.base(kb)?;
            let job = desk.service.delete_base(&desk.caller, &base.id)?;
            desk.wait(&job)?;
            print::note(format!("deleted `{}`", base.name));
            Ok(())
        }
    }
}

struct Desk {
    service: Service,
    lasting: Lasting,
    caller: Caller,
}

impl Desk {
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

    /// Finds a knowledge base by its id, or by a name that only one has.
    fn base(&self, wanted: &str) -> anyhow::Result<KnowledgeBase> {
        let bases = self.service.list_bases(&self.caller)?;
        if let Some(base) = bases.iter().find(|base| base.id == wanted) {
            return Ok(base.clone());
        }
        let mut named = bases.into_iter().filter(|base| base.name == wanted);
        match (named.next(), named.next()) {
            (Some(base), None) => Ok(base),
            (None, _) => {
                bail!("no knowledge base is called `{wanted}`\nhint: `dowse kb list` shows them")
            }
            (Some(_), Some(_)) => {
                bail!("several knowledge bases are called `{wanted}`\nhint: name one by its id")
            }
        }
    }

    fn collection(&self, base: &KnowledgeBase, new: &NewCollection) -> anyhow::Result<Collection> {
        let known = self.service.list_collections(&self.caller, &base.id)?;
        match known.into_iter().find(|collection| collection.name == new.name) {
            Some(collection) => Ok(collection),
            None => Ok(self.service.create_collection(&self.caller, &base.id, new)?),
        }
    }

    fn add(&self, collection: &Collection, file: &Path, ocr: OcrRepair) -> anyhow::Result<()> {
        let bytes = fs_err::read(file)?;
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("file").to_owned();
        let new = NewDocument {
            title: String::new(),
            content: Content::File { bytes, name },
            metadata: Value::Null,
            ocr,
        };
        let accepted = self.service.add_documents(&self.caller, &collection.id, vec![new])?;
        match self.wait(&accepted.job) {
            Ok(()) => {}
            // One bad file does not keep the others out.
            Err(error) => print::note(format!("`{}`: {error}", file.display())),
        }
        if let Some(document) = accepted.documents.first() {
            let document = self.service.get_document(&self.caller, &document.id)?;
            print::line(format!(
                "{}  {} chunks  {}",
                document.id,
                document.n_chunks,
                file.display()
            ));
        }
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

    /// Waits for a job, however long it takes.
    fn wait(&self, job: &Job) -> anyhow::Result<()> {
        let queue = &self.lasting.kept()?.queue;
        loop {
            let job = queue.wait(&job.id, &Deadline::after(JOB_WAIT))?;
            match job.state {
                JobState::Done => return Ok(()),
                JobState::Failed => bail!("{}", job.error.unwrap_or_default()),
                JobState::Queued | JobState::Running => {}
            }
        }
    }
}
