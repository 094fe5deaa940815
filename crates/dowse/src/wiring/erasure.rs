//! The kept answers of the configuration of the moment, and what erases them while the server runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use guard::{Answers, AuditConfig};
use model::{Clock, Timestamp};
use parking_lot::Mutex;
use serve::{Deleted, What};
use store::Catalogue;

/// What keeps answers for replay. Cheap to clone; every clone is of the same answers.
#[derive(Clone)]
pub(super) struct CurrentAnswers {
    folder: PathBuf,
    clock: Clock,
    current: Arc<Mutex<Option<Arc<Answers>>>>,
}

impl CurrentAnswers {
    pub(super) fn new(data_dir: &Path, clock: Clock) -> Self {
        CurrentAnswers { folder: data_dir.join("answers"), clock, current: Arc::default() }
    }

    pub(super) fn opened(&self) -> Option<Arc<Answers>> {
        self.current.lock().clone()
    }

    /// Opens them as a configuration says: in the catalogue where servers share one, else in the
    /// folder, of which calls that began under the earlier configuration still hold theirs.
    pub(super) fn configure(
        &self,
        shared: Option<Arc<dyn Catalogue>>,
        config: &AuditConfig,
    ) -> std::io::Result<Arc<Answers>> {
        let mut current = self.current.lock();
        let answers = match shared {
            Some(catalogue) => {
                Answers::in_catalogue(catalogue, &self.folder, config, self.clock.clone())?
            }
            None => current
                .as_ref()
                .and_then(|earlier| earlier.with_config(config))
                .unwrap_or_else(|| Answers::new(&self.folder, config)),
        };
        Ok(Arc::clone(current.insert(Arc::new(answers))))
    }

    /// Gives them, opened by the default configuration where no server has.
    pub(super) fn open(&self, shared: Option<Arc<dyn Catalogue>>) -> std::io::Result<Arc<Answers>> {
        match self.opened() {
            Some(answers) => Ok(answers),
            None => self.configure(shared, &AuditConfig::default()),
        }
    }
}

/// What reaches the kept answers without holding the services, which hold it.
pub(super) struct Eraser {
    pub(super) answers: CurrentAnswers,
    pub(super) clock: Clock,
    /// Where servers share a catalogue, it has the answers.
    pub(super) shared: Option<Arc<dyn Catalogue>>,
}

impl Eraser {
    /// Erases those of every tenant that may hold text of files that left the index.
    pub(super) fn left(&self, paths: Vec<String>) {
        let deleted = Deleted { since: Timestamp(i64::MIN), what: What::Files { paths } };
        let erased = self
            .answers
            .open(self.shared.clone())
            .and_then(|answers| serve::erase_answers(&answers, None, self.clock.now(), &deleted));
        if let Err(error) = erased {
            tracing::error!(%error, "stored answers could not be erased");
        }
    }
}
