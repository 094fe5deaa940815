//! How good the order is: judged queries in, nDCG, recall, MRR and latency of every stage out.
//!
//! A dataset is a folder in BEIR layout or one file of our own lines ([`Dataset::read`]). Its
//! documents go into an embedded store made for the run, through the same code as anybody's
//! documents; vectors are kept in a cache folder, since they cost most of the time.
//! [`evaluate`] asks every query once and reads the order of every stage out of the answer.

mod dataset;
mod error;
mod metrics;
mod recorded;
mod report;
mod run;
mod scale;
mod textbook;
mod vectors;

pub use dataset::{Dataset, JudgedQuery, SourceDocument};
pub use error::{Error, Result};
pub use metrics::{Metrics, mean_metrics};
pub use recorded::RecordedEmbedder;
pub use report::{CUT, DatasetReport, EvalReport, StageReport, ThresholdReport};
pub use run::{EvalConfig, JudgedCandidate, Loaded, evaluate, is_held_out, load};
pub use scale::scale;
pub use textbook::Textbook;
pub use vectors::StoredVectors;
