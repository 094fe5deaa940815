//! What the console is given beyond the services.

use anyhow::Context;
use serve::ConsoleSettings;

use super::Lasting;
use crate::config::Config;

/// A secret shorter than this can be guessed.
const MIN_SECRET_CHARS: usize = 32;

/// Makes the console's settings. Fails when its secret cannot be read or written.
pub(super) fn console(config: &Config, lasting: &Lasting) -> anyhow::Result<ConsoleSettings> {
    let mut settings = ConsoleSettings::open(&config.data_dir, &config.console)
        .context("hint: set `data_dir` to a folder that can be written")?;
    if let Some(name) = &config.console.secret_env {
        let secret = std::env::var(name).unwrap_or_default();
        anyhow::ensure!(
            secret.len() >= MIN_SECRET_CHARS,
            "`console.secret_env` names the variable `{name}`, which holds {} characters: at least \
             {MIN_SECRET_CHARS} are needed",
            secret.chars().count()
        );
        settings = settings.with_secret(&secret);
    }
    settings.started_at = lasting.clock.now();
    Ok(settings)
}
