//! `dowse mcp`: one client over this process's pipes.

use ::serve::Shared;
use tokio_util::sync::CancellationToken;

use crate::cli::McpArgs;
use crate::commands::host::{Hosting, serve_commands};
use crate::commands::reach::{Reach, reach};
use crate::commands::serve::{add_folders, strangers};
use crate::commands::{block_on, variable};
use crate::config::{Purpose, load, place_data};
use crate::platform;
use crate::wiring::{app, work_in_background};

pub(super) fn run(args: &McpArgs) -> anyhow::Result<()> {
    let loaded = load(args.config.config.as_deref(), &variable)?;
    let strangers = strangers(loaded.file.as_deref());
    let mut config = loaded.config;
    add_folders(&mut config, &args.folders)?;
    let data_dir = args.data.data_dir.as_deref();
    place_data(&mut config, loaded.file.as_deref(), data_dir, Purpose::Make, &variable)?;
    // Two clients may start this command for the same folders: the second speaks through the first.
    let shared_state = match reach(&config)? {
        Reach::Running(connection) => return connection.mcp(),
        Reach::Here(shared_state) => *shared_state,
    };
    block_on(async move {
        let shutdown = CancellationToken::new();
        platform::shutdown_on_signal(shutdown.clone())?;
        let (app, families) = app(&config, &shared_state)?;
        families.start_indexing(&shared_state, strangers)?;
        work_in_background(&shared_state, &shutdown);
        let shared = Shared::new(app);
        serve_commands(Hosting::Mcp, &shared_state, shared.clone(), shutdown.clone())?;
        ::serve::stdio(&shared, shutdown).await?;
        Ok(())
    })
}
