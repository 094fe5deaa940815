//! What the demo serves beside files: a knowledge base, and search tools over a JSON document
//! with an endpoint of their own.
//!
//! They are made at the first start and found at the next ones.

use std::path::Path;

use anyhow::Context;
use contexts::{NewEndpoint, NewProject, NewTool, ToolKind};
use ingest::{Job, JobQueue};
use knowledge::{NewBase, NewCollection, NewDocument, Visibility};
use model::{Caller, Deadline};
use serde::{Deserialize, Serialize};

use super::{INDEX_WAIT, bundle};
use crate::print;
use crate::unfinished::write_whole;

/// The name of the knowledge base.
const BASE: &str = "Meridian service desk";

/// The name of the project, and of the endpoint in it.
const PROJECT: &str = "Meridian manuals";

/// Makes the knowledge base, and says what is in it.
pub(super) fn knowledge(
    service: &knowledge::Service,
    queue: &JobQueue,
    world: &Path,
) -> anyhow::Result<String> {
    let caller = Caller::local_admin();
    let known = service.list_bases(&caller)?.into_iter().find(|base| base.name == BASE);
    let is_new = known.is_none();
    let new = NewBase {
        name: BASE.to_owned(),
        description: "Calibration and everyday rules of the plants.".to_owned(),
        visibility: Visibility::Public,
        ..NewBase::default()
    };
    let base = known.map_or_else(|| service.create_base(&caller, &new), Ok)?;
    if is_new {
        for collection in bundle::collections() {
            let name = collection.to_owned();
            let new = NewCollection { name, ..NewCollection::default() };
            let made = service.create_collection(&caller, &base.id, &new)?;
            let documents = bundle::documents_of(collection)
                .map(|path| read(&world.join(path)))
                .collect::<anyhow::Result<_>>()?;
            let job = service.add_documents(&caller, &made.id, documents)?.job;
            wait(queue, &job)?;
        }
    }
    let names = bundle::collections().join(", ");
    Ok(format!("knowledge  {names} in {BASE}, knowledge_base_id {}", base.id))
}

/// Makes the search tools over the manual and an endpoint, and says how to reach it; the next
/// start finds both again.
pub(super) fn contexts(
    service: &contexts::Service,
    queue: &JobQueue,
    world: &Path,
    data_dir: &Path,
    links: &str,
) -> anyhow::Result<String> {
    let caller = Caller::local_admin();
    let project = service.list_projects(&caller)?.into_iter().find(|known| known.name == PROJECT);
    let project = match project {
        Some(project) => project,
        None => {
            let new = NewProject { name: PROJECT.to_owned(), members: vec![] };
            service.create_project(&caller, &new)?
        }
    };
    if service.list_tables(&caller, &project.id)?.is_empty() {
        let file = world.join(bundle::MANUAL);
        let deadline = Deadline::after(INDEX_WAIT);
        let table = service.create_table(&caller, &project.id, "t200", &file, &deadline)?;
        let tools = [
            (ToolKind::Search, "search_manual", "Search the manual of the T200 torque sensor."),
            (ToolKind::Get, "read_manual", "Read a part of the manual by its json_path."),
        ];
        for (kind, name, description) in tools {
            let new = NewTool {
                kind,
                description: description.to_owned(),
                ..NewTool::of(&table.id, name)
            };
            let (_, job) = service.create_tool(&caller, &new)?;
            job.map_or(Ok(()), |job| wait(queue, &job))?;
        }
    }
    let tools = service.list_tools(&caller, &project.id)?;
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let known = service.list_endpoints(&caller, &project.id)?;
    let remembered = Remembered::read(data_dir).filter(|remembered| {
        known.iter().any(|endpoint| endpoint.id.as_str() == remembered.endpoint)
    });
    let Remembered { endpoint, key } = match remembered {
        Some(remembered) => remembered,
        None => {
            for endpoint in known {
                service.delete_endpoint(&caller, &endpoint.id)?;
            }
            let made = service.create_endpoint(
                &caller,
                &NewEndpoint {
                    name: PROJECT.to_owned(),
                    tool_ids: tools.iter().map(|tool| tool.id.clone()).collect(),
                    project_id: Some(project.id.clone()),
                },
            )?;
            let made = Remembered { endpoint: made.endpoint.id.to_string(), key: made.api_key };
            made.write(data_dir)?;
            made
        }
    };
    Ok(format!("contexts   {} at {links}/mcp/{endpoint} with the key {key}", names.join(", ")))
}

/// The endpoint and its key, so that a client that was connected stays connected over a restart.
/// The store has only the key's hash; the demo's data is public, and this file in its folder is
/// for its owner alone.
#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    endpoint: String,
    key: String,
}

impl Remembered {
    const FILE: &str = "demo-endpoint.json";

    fn read(data_dir: &Path) -> Option<Self> {
        let file = data_dir.join(Self::FILE);
        let read = serde_json::from_slice(&fs_err::read(&file).ok()?).ok();
        if read.is_none() {
            // What is wrong in it is not shown: it holds a key.
            print::note(format!(
                "note: `{}` is damaged: the demo's endpoint gets a new address and key",
                file.display()
            ));
        }
        read
    }

    fn write(&self, data_dir: &Path) -> anyhow::Result<()> {
        write_whole(&data_dir.join(Self::FILE), &serde_json::to_vec(self)?)?;
        Ok(())
    }
}

fn read(path: &Path) -> anyhow::Result<NewDocument> {
    let text = fs_err::read_to_string(path)?;
    let title = text.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned();
    Ok(NewDocument::text(title, text))
}

/// What is not indexed after this follows while the demo serves.
fn wait(queue: &JobQueue, job: &Job) -> anyhow::Result<()> {
    queue.wait(&job.id, &Deadline::after(INDEX_WAIT)).context("the demo could not be indexed")?;
    Ok(())
}
