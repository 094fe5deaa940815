//! What the console needs beyond the services: its secret, its files, and facts for Operations.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fs_err::OpenOptions;
use model::{Caller, Identity, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::judged;
use super::seal::SECRET_BYTES;
use super::sessions::Sessions;
use crate::App;

/// The file in the data folder that holds the secret.
const SECRET_FILE: &str = "console.secret";

/// `[console]`: pages for people.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConsoleConfig {
    /// Hours after which a person has to sign in again.
    pub session_hours: u64,
    /// The variable that holds the secret of sessions, at least 32 characters; servers behind one
    /// address share it. Without one, a secret is made and kept in `data_dir`.
    pub secret_env: Option<String>,
    /// Administrators who may look at the console as callers of any tenant, with any role, as
    /// `tenant/name`; others stay in their own tenant. They change nothing while they look.
    pub operators: Vec<String>,
}

impl Default for ConsoleConfig {
    fn default() -> Self {
        ConsoleConfig { session_hours: 12, secret_env: None, operators: Vec::new() }
    }
}

/// Gives what is wrong with a running server, or why that cannot be told.
pub type Check = Arc<dyn Fn(&App) -> Result<Value, String> + Send + Sync>;

/// The console of a running server.
pub struct ConsoleSettings {
    /// What cookies and forms are sealed with.
    pub secret: [u8; SECRET_BYTES],
    /// How long a session lasts.
    pub session: Duration,
    /// What is remembered of sessions.
    pub sessions: Sessions,
    /// Administrators who may look as callers of any tenant, as `tenant/name`.
    pub operators: Vec<String>,
    /// Where everything is kept.
    pub data_dir: PathBuf,
    /// When the server started.
    pub started_at: Timestamp,
    /// The configuration in force, without secrets.
    pub configuration: Value,
    /// How many changes the store has seen, as of about now, for answers that are kept.
    pub generation: Arc<dyn Fn() -> Option<u64> + Send + Sync>,
    /// What `dowse check` says of the running server; reads everything that is kept.
    pub check: Check,
    /// What Operations shows of store, models and backups; asked for each time it is looked at.
    pub facts: Arc<dyn Fn() -> Value + Send + Sync>,
}

impl ConsoleSettings {
    /// Takes the secret from a data folder, making it there at the first start.
    ///
    /// Fails when the folder cannot be written.
    pub fn open(data_dir: &Path, config: &ConsoleConfig) -> std::io::Result<Self> {
        let secret = secret_of(&data_dir.join(SECRET_FILE))?;
        if let Err(error) = judged::drop_texts(data_dir) {
            tracing::error!(%error, "texts could not be taken out of the files of judgements");
        }
        Ok(ConsoleSettings {
            secret,
            session: Duration::from_secs(config.session_hours.saturating_mul(3_600)),
            sessions: Sessions::default(),
            operators: config.operators.clone(),
            data_dir: data_dir.to_owned(),
            started_at: Timestamp(0),
            configuration: Value::Null,
            generation: Arc::new(|| None),
            check: Arc::new(|_| Err("nothing can be checked here".to_owned())),
            facts: Arc::new(|| Value::Null),
        })
    }

    /// Tells whether a person may look as callers of any tenant: where authentication is off, or
    /// the configuration names them.
    pub(super) fn is_operator(&self, caller: &Caller) -> bool {
        // The first slash ends the tenant: one whose own name holds a slash must not be taken for a
        // person of another.
        let is_named = self.operators.iter().any(|operator| {
            operator.split_once('/') == Some((caller.tenant.as_str(), caller.subject.as_str()))
        });
        caller.identity == Identity::Local || (is_named && caller.is_admin())
    }

    /// Uses a secret that several servers share.
    pub fn with_secret(mut self, secret: &str) -> Self {
        let digest = ring::digest::digest(&ring::digest::SHA256, secret.as_bytes());
        self.secret.copy_from_slice(digest.as_ref());
        self
    }
}

fn secret_of(path: &Path) -> std::io::Result<[u8; SECRET_BYTES]> {
    if let Ok(bytes) = fs_err::read(path)
        && let Ok(secret) = <[u8; SECRET_BYTES]>::try_from(bytes)
    {
        return Ok(secret);
    }
    let mut secret = [0; SECRET_BYTES];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut secret)
        .map_err(|_| std::io::Error::other("the system gives no randomness"))?;
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(true);
    #[cfg(unix)]
    {
        use fs_err::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)?.write_all(&secret)?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use model::TenantId;

    use super::*;

    #[test]
    fn an_operator_is_one_person_of_one_tenant() {
        let folder = testkit::Folder::new();
        let operators = vec!["acme/team/ann".to_owned()];
        let config = ConsoleConfig { operators, ..ConsoleConfig::default() };
        let settings = ConsoleSettings::open(folder.path(), &config).unwrap();
        let is_operator = |tenant: &str, subject: &str| {
            settings.is_operator(&Caller {
                tenant: TenantId::new(tenant),
                subject: subject.to_owned(),
                identity: Identity::Token,
                ..Caller::local_admin()
            })
        };
        assert!(is_operator("acme", "team/ann"));
        assert!(!is_operator("acme/team", "ann"));
        assert!(!is_operator("acme", "ann"));
    }

    #[test]
    fn the_secret_is_made_once_and_is_nobody_elses() {
        let folder = testkit::Folder::new();
        let config = ConsoleConfig::default();
        let first = ConsoleSettings::open(folder.path(), &config).unwrap();
        let again = ConsoleSettings::open(folder.path(), &config).unwrap();
        assert_eq!(first.secret, again.secret);
        let other = ConsoleSettings::open(testkit::Folder::new().path(), &config).unwrap();
        assert_ne!(first.secret, other.secret);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs_err::metadata(folder.join(SECRET_FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0);
        }
        let shared = again.with_secret("the same for all servers, long enough");
        assert_ne!(shared.secret, first.secret);
    }
}
