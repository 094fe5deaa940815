//! `dowse mcp`: one client over this process's pipes.

use ::serve::Shared;
use tokio_util::sync::CancellationToken;

use crate::cli::McpArgs;
use crate::commands::serve::{add_folders, choose_model};
use crate::commands::{block_on, variable};
use crate::config::load;
use crate::signals;
use crate::wiring::{Lasting, app};

pub(super) fn run(args: &McpArgs) -> anyhow::Result<()> {
    let mut config = load(args.config.config.as_deref(), &variable)?.config;
    add_folders(&mut config, &args.folders)?;
    choose_model(&mut config, args.model);
    let lasting = Lasting::open(&config)?;
    block_on(async move {
        let shutdown = CancellationToken::new();
        signals::shutdown_on_signal(shutdown.clone())?;
        let (app, families) = app(&config, &lasting)?;
        families.start_indexing(&lasting)?;
        let shared = Shared::new(app);
        ::serve::stdio(&shared, shutdown).await?;
        Ok(())
    })
}
