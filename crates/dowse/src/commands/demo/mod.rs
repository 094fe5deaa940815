//! `dowse demo`: a small world to try, in one command.

mod bundle;
mod objects;

use std::net::TcpListener;
use std::path::Path;

use ::serve::Shared;
use anyhow::Context;
use files::Strangers;
use infer::ModelState;
use model::{Caller, Deadline};
use tokio_util::sync::CancellationToken;

use crate::cli::DemoArgs;
use crate::commands::host::{COMMANDS_GRACE, Hosting, serve_commands};
use crate::commands::reach::open_to_serve;
use crate::commands::serve::{bind, cannot_listen};
use crate::commands::{block_on, connect, models, variable};
use crate::config::{Config, DEFAULT_FILE, DEMO, EmbedderProvider, load_as_written};
use crate::wiring::{Families, SharedState, app, models_dir, work_in_background};
use crate::{platform, print};

/// How long the demo waits for its files to be indexed before it says how far it is.
const INDEX_WAIT: std::time::Duration = std::time::Duration::from_secs(20);

pub(super) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    let world = args.data_dir.join("world");
    bundle::unpack(&world).with_context(|| {
        format!(
            "`{}` cannot be written\n\
             hint: start the demo in another folder, or name one with `--data-dir`",
            args.data_dir.display()
        )
    })?;
    // `--data-dir` holds the whole demo, of which the data is a part.
    let mut config = load_as_written(Some(&world.join(bundle::CONFIG)), &variable)?.config;
    config.server.listen = args.listen;
    // Nobody should wait for a download to learn that the port is taken.
    drop(TcpListener::bind(args.listen).with_context(|| cannot_listen(args.listen))?);
    if config.embedder.provider == EmbedderProvider::Local {
        pull_model(&config);
    }
    let is_json = args.json;
    let shared_state = open_to_serve(&config)?;
    block_on(async move {
        let shutdown = CancellationToken::new();
        platform::shutdown_on_signal(shutdown.clone())?;
        let (listener, config) = bind(config).await?;
        let (app, families) = app(&config, &shared_state)?;
        let base = app.server.link_base();
        let served = {
            let (world, shared_state, base) = (world.clone(), shared_state.clone(), base.clone());
            tokio::task::spawn_blocking(move || served(&families, &shared_state, &world, &base))
                .await??
        };
        // Tools are listed once there is something for them: the demo has just made it.
        let tools: Vec<String> = app
            .tools
            .list(&Caller::local_admin())
            .iter()
            .map(|listed| listed.spec.name.clone())
            .collect();
        work_in_background(&shared_state, &shutdown);
        print::note(served);
        print::note(welcome(&base, &tools, &world));
        print::note(format!("listening on {base}"));
        if is_json {
            print::line(connect::addresses(&base));
        }
        let shared = Shared::new(app);
        let commands =
            serve_commands(Hosting::Demo, &shared_state, shared.clone(), shutdown.clone())?;
        ::serve::run(listener, shared, shutdown).await?;
        tokio::task::spawn_blocking(move || commands.finish_within(COMMANDS_GRACE)).await?;
        Ok(())
    })
}

/// Gets the default model when it is not here. Without it the demo works on words alone.
fn pull_model(config: &Config) {
    let folder = models_dir(config);
    let model = &config.embedder.model;
    if matches!(infer::models::state(&folder, model), ModelState::Ready { .. }) {
        return;
    }
    print::note(format!("getting the model `{model}` once, about 95 MB (skip with --no-model)"));
    if let Err(error) = models::pull(&folder, model) {
        print::note(format!("the model could not be downloaded: {error}"));
        print::note("everything works on words alone; `dowse models pull` gets it later");
    }
}

/// Indexes what there is and says what is served, a line for each family.
fn served(
    families: &Families,
    shared_state: &SharedState,
    world: &Path,
    links: &str,
) -> anyhow::Result<String> {
    let caller = Caller::local_admin();
    let mut lines = Vec::new();
    if let Some(files) = &families.files {
        for root in files.roots(&caller) {
            let deadline = Deadline::after(INDEX_WAIT);
            let answer =
                files.index(&caller, &root, false, ingest::Priority::High, &deadline, &|_| {})?;
            lines.push(match answer {
                files::IndexAnswer::Done(done) => format!(
                    "documents  {} indexed, {} unchanged, in {} ms",
                    done.indexed, done.skipped, done.duration_ms
                ),
                files::IndexAnswer::Running { progress, .. } => {
                    format!("documents  {} indexed so far", progress.n_done)
                }
            });
        }
    }
    if let Some(tables) = &families.tables {
        let names: Vec<&str> =
            tables.schemas(&caller).iter().map(|schema| schema.name.as_str()).collect();
        lines.push(format!("tables     {}", names.join(", ")));
    }
    if let Some(filters) = &families.filters {
        lines.push(format!("names      {}", filters.categories(&caller).join(", ")));
    }
    let queue = &shared_state.open_store()?.queue;
    lines.push(objects::knowledge(&families.knowledge, queue, world)?);
    lines.push(objects::contexts(
        &families.contexts,
        queue,
        world,
        shared_state.data_dir(),
        links,
    )?);
    lines.push(format!("world      {}", world.display()));
    families.start_indexing(shared_state, Strangers::Keep)?;
    Ok(lines.join("\n"))
}

fn welcome(base: &str, tools: &[String], world: &Path) -> String {
    let documents = std::path::absolute(world).unwrap_or_else(|_| world.to_owned());
    // Commands find the demo that was started in their folder, unless a configuration is there.
    let is_found = world.parent() == Some(Path::new(DEMO)) && !Path::new(DEFAULT_FILE).exists();
    let file = print::in_shell(documents.join(bundle::CONFIG));
    format!(
        r#"
Dowse serves {n_tools} tools: {names}

Open the console in a browser
  {base}/

{connecting}

Try it
  curl -s {base}/mcp -H 'Content-Type: application/json' -d '{call}'

In another terminal{beside}
  dowse status{config}
  dowse search{config} remote work allowance

The documents behind it are in {documents}
"#,
        beside = if is_found { ", in this folder" } else { "" },
        config = if is_found { String::new() } else { format!(" --config {file}") },
        n_tools = tools.len(),
        names = tools.join(", "),
        connecting = connect::lines_for_clients(base, false),
        call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"searchFiles","arguments":{"query":"remote work allowance","k":3}}}"#,
        documents = documents.join("documents").display(),
    )
}
