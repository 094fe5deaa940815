//! What the console needs beyond the services: its secret, its files, and facts for Operations.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fs_err::OpenOptions;
use model::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::seal::SECRET_BYTES;

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
}

impl Default for ConsoleConfig {
    fn default() -> Self {
        ConsoleConfig { session_hours: 12, secret_env: None }
    }
}

/// The console of a running server.
pub struct ConsoleSettings {
    /// What cookies and forms are sealed with.
    pub secret: [u8; SECRET_BYTES],
    /// How long a session lasts.
    pub session: Duration,
    /// Where everything is kept.
    pub data_dir: PathBuf,
    /// When the server started.
    pub started_at: Timestamp,
    /// The configuration in force, without secrets.
    pub configuration: Value,
    /// What Operations shows of store, models and backups; asked for each time it is looked at.
    pub facts: Arc<dyn Fn() -> Value + Send + Sync>,
}

impl ConsoleSettings {
    /// Takes the secret from a data folder, making it there at the first start.
    ///
    /// Fails when the folder cannot be written.
    pub fn open(data_dir: &Path, config: &ConsoleConfig) -> std::io::Result<Self> {
        Ok(ConsoleSettings {
            secret: secret_of(&data_dir.join(SECRET_FILE))?,
            session: Duration::from_secs(config.session_hours.saturating_mul(3_600)),
            data_dir: data_dir.to_owned(),
            started_at: Timestamp(0),
            configuration: Value::Null,
            facts: Arc::new(|| Value::Null),
        })
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
    use super::*;

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
