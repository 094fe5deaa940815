//! Opening the usual pairs of a catalogue and an engine.

use std::path::Path;
use std::sync::Arc;

use model::Clock;

use super::Store;
use crate::sqlite::{FolderLock, SqliteCatalogue};
use crate::turbopuffer_engine::{TurbopufferConfig, TurbopufferEngine};
use crate::{Catalogue, Config, EmbeddedEngine, Engine, Result};

/// The name of the only follower of a catalogue that one process has.
const ONLY_FOLLOWER: &str = "local";

impl Store {
    /// Opens a data folder with a SQLite catalogue and the embedded engine, or makes an empty one.
    /// With [`crate::Access::Read`] it is only read.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Locked`] when another process has it open, [`crate::Error::ReadOnly`] when it cannot be
    /// written, [`crate::Error::FormatTooNew`] when a later program wrote it. When it is only read, also
    /// [`crate::Error::FormatTooOld`] and [`crate::Error::LogUnread`].
    pub fn open(folder: &Path, config: &Config, clock: Clock) -> Result<Self> {
        let lock = FolderLock::of(folder, config.access)?;
        let catalogue: Arc<dyn Catalogue> = Arc::new(SqliteCatalogue::open(folder, config, clock)?);
        let engine = EmbeddedEngine::open(folder, config, catalogue.clone(), ONLY_FOLLOWER)?;
        Store::assemble(catalogue, Arc::new(engine), lock, config.access)
    }

    /// Opens a data folder with a SQLite catalogue, and turbopuffer as the engine. Nothing is
    /// asked of turbopuffer yet, so that a server starts while it cannot be reached.
    ///
    /// A folder that the embedded engine served is taken over: each namespace is sent to
    /// turbopuffer with its next change or by [`Store::rebuild`].
    ///
    /// # Errors
    ///
    /// [`crate::Error::EngineSettings`] when the settings cannot be used, and as [`Store::open`].
    pub fn open_with_turbopuffer(
        folder: &Path,
        config: &Config,
        turbopuffer: &TurbopufferConfig,
        clock: Clock,
    ) -> Result<Self> {
        let lock = FolderLock::of(folder, config.access)?;
        let catalogue: Arc<dyn Catalogue> = Arc::new(SqliteCatalogue::open(folder, config, clock)?);
        let engine = TurbopufferEngine::open(config, turbopuffer, catalogue.clone())?;
        Store::assemble(catalogue, Arc::new(engine), lock, config.access)
    }

    /// Opens a data folder with a SQLite catalogue, and whatever engine is made over it.
    ///
    /// # Errors
    ///
    /// As [`Store::open`], and when the engine cannot be made.
    pub fn open_with(
        folder: &Path,
        config: &Config,
        clock: Clock,
        engine: impl FnOnce(Arc<dyn Catalogue>) -> Result<Arc<dyn Engine>>,
    ) -> Result<Self> {
        let lock = FolderLock::of(folder, config.access)?;
        let catalogue: Arc<dyn Catalogue> = Arc::new(SqliteCatalogue::open(folder, config, clock)?);
        let engine = engine(catalogue.clone())?;
        Store::assemble(catalogue, engine, lock, config.access)
    }

    /// Opens a folder for the embedded engine over a catalogue that is elsewhere, which may be
    /// shared: the folder holds nothing that cannot be derived. `follower` names it among all that
    /// follow the catalogue.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Locked`] when another process has the folder open, and when the catalogue does not
    /// answer.
    pub fn open_over(
        folder: &Path,
        config: &Config,
        catalogue: Arc<dyn Catalogue>,
        follower: &str,
    ) -> Result<Self> {
        let lock = FolderLock::of(folder, config.access)?;
        let engine = EmbeddedEngine::open(folder, config, catalogue.clone(), follower)?;
        Store::assemble(catalogue, Arc::new(engine), lock, config.access)
    }
}
