//! Another engine that runs the same model: what it is asked, and what it found.

use std::collections::BTreeMap;
use std::path::Path;

use model::Deadline;

use crate::Result;

/// What another engine is asked to do.
#[derive(Debug)]
pub struct BenchRequest {
    /// Threads it may use.
    pub threads: usize,
    /// How often each batch is timed.
    pub repeats: usize,
    /// Token ids of texts whose vectors are wanted.
    pub texts: Vec<Vec<u32>>,
    /// Batches to be timed, by name; in the order of the lengths.
    pub batches: Vec<(String, Vec<Vec<u32>>)>,
}

/// What it found.
#[derive(Debug)]
pub struct PeerFigures {
    /// The engine's name.
    pub engine: String,
    /// Its version.
    pub version: String,
    /// The vectors of the texts, in full precision.
    pub vectors: Vec<Vec<f32>>,
    /// Seconds for each batch, by name, in full precision.
    pub f32: BTreeMap<String, f64>,
    /// The same with eight bits; empty where it cannot.
    pub int8: BTreeMap<String, f64>,
    /// The vectors with eight bits.
    pub int8_vectors: Vec<Vec<f32>>,
}

/// How the comparison ended.
#[derive(Debug)]
pub enum Outcome {
    /// With the figures of one or more engines; the first one's vectors are the reference.
    Answered(Vec<PeerFigures>),
    /// Without, for a reason.
    Skipped {
        /// The reason.
        why: String,
    },
}

/// Another engine.
pub trait Peer {
    /// Runs the model of a container. What goes wrong with the engine is a reason, not an error.
    ///
    /// # Errors
    ///
    /// When this machine cannot do what is needed around it, such as writing a file.
    fn run(&self, container: &Path, request: &BenchRequest, deadline: &Deadline)
    -> Result<Outcome>;
}
