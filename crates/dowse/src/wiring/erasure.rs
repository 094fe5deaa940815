//! Erases kept answers for what takes files out of the index while the server runs.

use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use guard::{Answers, AuditConfig};
use model::{Clock, Timestamp};
use serve::{Deleted, What};
use store::Catalogue;

/// What reaches the kept answers without holding the services, which hold it.
pub(super) struct Eraser {
    /// Those of the configuration of the moment.
    pub(super) answers: Arc<ArcSwapOption<Answers>>,
    pub(super) clock: Clock,
    pub(super) data_dir: PathBuf,
    /// Where servers share a catalogue, it has the answers.
    pub(super) shared: Option<Arc<dyn Catalogue>>,
}

impl Eraser {
    /// Erases those of every tenant that may hold text of files that left the index.
    pub(super) fn left(&self, paths: Vec<String>) {
        let deleted = Deleted { since: Timestamp(i64::MIN), what: What::Files { paths } };
        let erased = self
            .open()
            .and_then(|answers| serve::erase_answers(&answers, None, self.clock.now(), &deleted));
        if let Err(error) = erased {
            tracing::error!(%error, "kept answers could not be erased");
        }
    }

    /// Gives the answers, opening them where no server has.
    fn open(&self) -> std::io::Result<Arc<Answers>> {
        if let Some(answers) = self.answers.load_full() {
            return Ok(answers);
        }
        let (folder, config) = (self.data_dir.join("answers"), AuditConfig::default());
        let answers = Arc::new(match &self.shared {
            Some(catalogue) => {
                let catalogue = Arc::clone(catalogue);
                Answers::in_catalogue(catalogue, &folder, &config, self.clock.clone())?
            }
            None => Answers::new(&folder, &config),
        });
        self.answers.store(Some(Arc::clone(&answers)));
        Ok(answers)
    }
}
