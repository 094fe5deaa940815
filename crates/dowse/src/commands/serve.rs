//! `dowse serve`: HTTP, until told to stop.

use ::serve::Shared;
use anyhow::Context;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cli::ServeArgs;
use crate::commands::{block_on, variable};
use crate::config::{Config, load};
use crate::wiring::{Lasting, app};
use crate::{print, reload, signals};

pub(super) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    let loaded = load(args.config.config.as_deref(), &variable)?;
    let listen = args.listen;
    let adjust = move |mut config: Config| {
        if let Some(listen) = listen {
            config.server.listen = listen;
        }
        config
    };
    let config = adjust(loaded.config);
    let lasting = Lasting::open(&config)?;
    block_on(async move {
        let shutdown = CancellationToken::new();
        signals::shutdown_on_signal(shutdown.clone())?;
        let (listener, config) = bind(config).await?;
        let address = config.server.listen;
        let shared = Shared::new(app(&config, &lasting)?);
        if let Some(file) = loaded.file {
            let path = file.clone();
            reload::watch(file, shared.clone(), shutdown.clone(), move || {
                let mut config = load(Some(&path), &variable)?.config;
                // The socket stays as it is; only a restart moves it.
                config.server.listen = address;
                app(&config, &lasting)
            })?;
        }
        print::note(format!("listening on http://{address}"));
        ::serve::run(listener, shared, shutdown).await?;
        Ok(())
    })
}

/// Binds the address, and puts the one that was given into the configuration.
pub(super) async fn bind(mut config: Config) -> anyhow::Result<(TcpListener, Config)> {
    config.check()?;
    let wanted = config.server.listen;
    let listener = TcpListener::bind(wanted).await.with_context(|| {
        format!("cannot listen on `{wanted}`\nhint: choose another address with `--listen`")
    })?;
    config.server.listen = listener.local_addr()?;
    Ok((listener, config))
}
