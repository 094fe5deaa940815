//! A database as its URL names it.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, NoTls};
use url::Url;

use super::tls::Tls;

/// The parameter that names a file of trusted certificates; libpq calls it so.
const ROOTS: &str = "sslrootcert";

/// A database that can be reached. Cheap to clone.
#[derive(Clone)]
pub struct PostgresAddress {
    config: Config,
    tls: Option<Tls>,
}

/// Why an address cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// The URL is not one of a PostgreSQL.
    #[error("the address of a PostgreSQL must look like `postgres://user@host/database`")]
    BadAddress(#[source] Option<tokio_postgres::Error>),
    /// The file of trusted certificates cannot be used.
    #[error("`sslrootcert` names `{}`, which holds no certificates in PEM form", path.display())]
    BadRoots {
        /// The file.
        path: PathBuf,
    },
    /// The system's own list of trusted certificates cannot be used.
    #[error("the system's trusted certificates cannot be read; name a file with `sslrootcert`")]
    NoRoots(#[source] rustls::Error),
}

/// Drives a connection until it ends.
type Driver = Pin<Box<dyn Future<Output = Result<(), tokio_postgres::Error>> + Send>>;

impl PostgresAddress {
    /// Reads an address; connecting may take as long as `connect_limit`.
    ///
    /// Fails when it is no address of a PostgreSQL, or its certificates cannot be read.
    pub fn parse(url: &str, connect_limit: Duration) -> Result<Self, PostgresError> {
        let (url, roots) = without_roots(url);
        let bad = |cause| PostgresError::BadAddress(Some(cause));
        let mut config: Config = url.parse().map_err(bad)?;
        config.connect_timeout(connect_limit);
        let is_encrypted = config.get_ssl_mode() == SslMode::Require;
        let tls = is_encrypted.then(|| Tls::new(roots.as_deref())).transpose()?;
        if !is_encrypted {
            // Without certificates to check there is nothing to prefer.
            config.ssl_mode(SslMode::Disable);
        }
        Ok(PostgresAddress { config, tls })
    }

    /// Begins a session, which lasts until its client is dropped. It is to be waited for with
    /// [`crate::wait_for`], on whose threads it is driven.
    pub async fn begin(&self) -> Result<Client, tokio_postgres::Error> {
        let (client, driver) = self.connect().await?;
        tokio::spawn(async move {
            if let Err(error) = driver.await {
                tracing::debug!(%error, "a connection to PostgreSQL ended");
            }
        });
        Ok(client)
    }

    /// Connects, and gives the client with what drives it.
    async fn connect(&self) -> Result<(Client, Driver), tokio_postgres::Error> {
        match &self.tls {
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await?;
                Ok((client, Box::pin(connection)))
            }
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                Ok((client, Box::pin(connection)))
            }
        }
    }

    /// Gives the longest that connecting may take.
    pub(super) fn connect_limit(&self) -> Duration {
        self.config.get_connect_timeout().copied().unwrap_or(Duration::MAX)
    }

    /// Tells whether connections are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }
}

impl std::fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The configuration holds a password.
        f.debug_struct("PostgresAddress").field("is_encrypted", &self.is_encrypted()).finish()
    }
}

/// Takes the file of certificates out of a URL: the client library does not know it.
fn without_roots(url: &str) -> (String, Option<PathBuf>) {
    let Ok(mut parsed) = Url::parse(url) else { return (url.to_owned(), None) };
    let roots = parsed.query_pairs().find(|(name, _)| name == ROOTS);
    let Some(roots) = roots.map(|(_, path)| Path::new(path.as_ref()).to_owned()) else {
        return (url.to_owned(), None);
    };
    let others: Vec<(String, String)> = parsed
        .query_pairs()
        .filter(|(name, _)| name != ROOTS)
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    parsed.set_query(None);
    if !others.is_empty() {
        parsed.query_pairs_mut().extend_pairs(others);
    }
    (parsed.into(), Some(roots))
}
