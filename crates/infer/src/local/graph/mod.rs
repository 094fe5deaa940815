//! A folder with `model.onnx` and `tokenizer.json`: loading it, and running padded batches.

use std::path::Path;

use rten::{Model, NodeId, ValueOrView};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use tokenizers::Encoding;

use super::sentence::{SentenceFolder, read_limited, require};
use crate::models::{GRAPH_FILE, TOKENIZER_FILE};
use crate::{EmbedderId, Error, Result};

/// The largest graph that is loaded.
pub const MAX_GRAPH_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// How models name the token that fills up a batch.
const PADDING_TOKENS: [&str; 2] = ["<pad>", "[PAD]"];
/// The most tokens of one batch, padding included.
const BATCH_TOKENS: usize = 4096;

/// A loaded graph with its tokenizer. Safe to share between threads.
pub(crate) struct Graph {
    pub(crate) text: SentenceFolder,
    model: Model,
    inputs: Vec<(NodeId, Input)>,
    output: NodeId,
}

/// What an input of a BERT-like graph holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Ids,
    Mask,
    Types,
    Positions,
}

/// The output of one batch.
pub(crate) struct Output {
    /// Batch, then tokens (when there are three dimensions), then values.
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

impl Graph {
    /// Loads a folder, and takes the first of the wanted outputs that the graph has, or else its
    /// first one.
    ///
    /// Fails when a file is missing or cannot be understood, or the graph asks for inputs that a
    /// text does not give.
    pub(crate) fn open(folder: &Path, id: EmbedderId, wanted_outputs: &[&str]) -> Result<Self> {
        let graph_path = folder.join(GRAPH_FILE);
        require(&graph_path)?;
        require(&folder.join(TOKENIZER_FILE))?;
        let bad_graph = |problem: String| Error::BadModelFile { path: graph_path.clone(), problem };
        let bytes = read_limited(&graph_path, MAX_GRAPH_BYTES)?;
        let model = Model::load(bytes).map_err(|error| bad_graph(error.to_string()))?;
        let mut inputs = Vec::new();
        for node in model.input_ids() {
            let name = model.node_info(*node).and_then(|info| info.name().map(str::to_owned));
            let name = name.unwrap_or_default();
            let input = match name.as_str() {
                "input_ids" => Input::Ids,
                "attention_mask" => Input::Mask,
                "token_type_ids" => Input::Types,
                "position_ids" => Input::Positions,
                _ => return Err(bad_graph(format!("it asks for an input `{name}`"))),
            };
            inputs.push((*node, input));
        }
        let named = wanted_outputs.iter().find_map(|name| model.find_node(name));
        let output = named
            .or_else(|| model.output_ids().first().copied())
            .ok_or_else(|| bad_graph("it has no output".to_owned()))?;
        let text = SentenceFolder::open(folder, id)?;
        Ok(Graph { text, model, inputs, output })
    }

    /// Runs one batch, padded to its longest text.
    pub(crate) fn run(&self, batch: &[&Encoding]) -> Result<Output> {
        let n_texts = batch.len();
        let length = batch.iter().map(|text| text.get_ids().len()).max().unwrap_or(0);
        let padding =
            PADDING_TOKENS.iter().find_map(|token| self.text.tokenizer.token_to_id(token));
        let padding = padding.unwrap_or(0) as i32;
        let mut values = Vec::with_capacity(self.inputs.len());
        for (node, input) in &self.inputs {
            let mut flat = Vec::with_capacity(n_texts * length);
            for text in batch {
                let n_tokens = text.get_ids().len();
                let number = |at: usize| match input {
                    Input::Ids => text.get_ids()[at] as i32,
                    Input::Mask => 1,
                    Input::Types => text.get_type_ids()[at] as i32,
                    Input::Positions => at as i32,
                };
                let filler = if *input == Input::Ids { padding } else { 0 };
                flat.extend((0..length).map(|at| if at < n_tokens { number(at) } else { filler }));
            }
            let tensor = NdTensor::from_data([n_texts, length], flat);
            values.push((*node, ValueOrView::from(tensor)));
        }
        let failed = |problem: String| Error::Runtime { model: self.text.id.to_string(), problem };
        let [output] = self
            .model
            .run_n(values, [self.output], None)
            .map_err(|error| failed(error.to_string()))?;
        let tensor: rten_tensor::Tensor<f32> =
            output.into_tensor().ok_or_else(|| failed("its output is not f32".to_owned()))?;
        let shape = tensor.shape().to_vec();
        if shape.first() != Some(&n_texts) {
            return Err(failed(format!("its output has shape {shape:?} for {n_texts} texts")));
        }
        Ok(Output { shape, values: tensor.to_vec() })
    }

    /// Says that the graph's output has an unexpected shape.
    pub(crate) fn unexpected(&self, shape: &[usize]) -> Error {
        Error::Runtime {
            model: self.text.id.to_string(),
            problem: format!("its output has shape {shape:?}"),
        }
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("text", &self.text).finish()
    }
}

/// Cuts texts into batches of neighbours in length, so that little is padded.
pub(crate) fn batches(lengths: &[usize]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|text_idx| lengths[*text_idx]);
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for text_idx in order {
        // Texts come by rising length, so the newest decides the padded size.
        let fits = batches
            .last()
            .is_some_and(|batch| (batch.len() + 1) * lengths[text_idx] <= BATCH_TOKENS);
        if !fits {
            batches.push(Vec::new());
        }
        if let Some(batch) = batches.last_mut() {
            batch.push(text_idx);
        }
    }
    batches
}

#[cfg(test)]
mod tests;
