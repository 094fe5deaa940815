//! A folder with `model.onnx` and `tokenizer.json`: loading it, and running padded batches.

use std::path::{Path, PathBuf};

use rten::{Model, NodeId, ValueOrView};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use serde_json::Value;
use tokenizers::{Encoding, Tokenizer, TruncationParams};

use crate::models::{GRAPH_FILE, TOKENIZER_FILE};
use crate::{EmbedderId, Error, Result};

/// The largest graph that is loaded.
pub const MAX_GRAPH_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// The largest tokenizer or configuration that is loaded.
const MAX_TEXT_FILE_BYTES: u64 = 128 * 1024 * 1024;
/// The most tokens of one text, where the model allows more.
const MAX_TOKENS: usize = 512;
/// The most tokens of one batch, padding included.
const BATCH_TOKENS: usize = 4096;

/// A loaded graph with its tokenizer. Safe to share between threads.
pub(crate) struct Graph {
    pub(crate) id: EmbedderId,
    pub(crate) folder: PathBuf,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) max_tokens: usize,
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
        let tokenizer_path = folder.join(TOKENIZER_FILE);
        for path in [&graph_path, &tokenizer_path] {
            if !path.exists() {
                let problem = "it is not there".to_owned();
                return Err(Error::BadModelFile { path: path.clone(), problem });
            }
        }
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
        let max_tokens = max_tokens(folder);
        let tokenizer = load_tokenizer(&tokenizer_path, max_tokens)?;
        let folder = folder.to_owned();
        Ok(Graph { id, folder, tokenizer, max_tokens, model, inputs, output })
    }

    /// Runs one batch, padded to its longest text.
    pub(crate) fn run(&self, batch: &[&Encoding]) -> Result<Output> {
        let n_texts = batch.len();
        let length = batch.iter().map(|text| text.get_ids().len()).max().unwrap_or(0);
        let padding = self.tokenizer.token_to_id("<pad>").or(self.tokenizer.token_to_id("[PAD]"));
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
        let failed = |problem: String| Error::Runtime { model: self.id.to_string(), problem };
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
            model: self.id.to_string(),
            problem: format!("its output has shape {shape:?}"),
        }
    }

    /// Says that a text could not be divided into tokens.
    pub(crate) fn untokenized(&self, error: &tokenizers::Error) -> Error {
        Error::Runtime { model: self.id.to_string(), problem: error.to_string() }
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("id", &self.id).field("folder", &self.folder).finish()
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

/// Reads a JSON file of the folder; nothing when it is missing or unreadable.
pub(crate) fn read_json(path: &Path) -> Option<Value> {
    let bytes = read_limited(path, MAX_TEXT_FILE_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn load_tokenizer(path: &Path, max_tokens: usize) -> Result<Tokenizer> {
    let bad = |error: tokenizers::Error| Error::BadModelFile {
        path: path.to_owned(),
        problem: error.to_string(),
    };
    let mut tokenizer =
        Tokenizer::from_bytes(read_limited(path, MAX_TEXT_FILE_BYTES)?).map_err(bad)?;
    let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
    tokenizer.with_padding(None);
    tokenizer.with_truncation(Some(truncation)).map_err(bad)?;
    // A document that spells out a mark such as `</s>` must not end the text.
    tokenizer.set_encode_special_tokens(true);
    Ok(tokenizer)
}

/// Reads how long a text may be from the configuration files beside the graph.
fn max_tokens(folder: &Path) -> usize {
    let sentence = read_json(&folder.join("sentence_bert_config.json"))
        .and_then(|config| config["max_seq_length"].as_u64());
    let positions = read_json(&folder.join("config.json")).and_then(|config| {
        let n_positions = config["max_position_embeddings"].as_u64()?;
        // RoBERTa counts positions from two.
        let is_roberta = config["model_type"].as_str().is_some_and(|kind| kind.contains("roberta"));
        Some(if is_roberta { n_positions.saturating_sub(2) } else { n_positions })
    });
    let smallest = [sentence, positions].into_iter().flatten().min();
    smallest.map_or(MAX_TOKENS, |n_tokens| (n_tokens as usize).clamp(8, MAX_TOKENS))
}

fn read_limited(path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    let n_bytes = fs_err::metadata(path)?.len();
    if n_bytes > max_bytes {
        let problem = format!("it has {n_bytes} bytes, allowed are {max_bytes}");
        return Err(Error::BadModelFile { path: path.to_owned(), problem });
    }
    Ok(fs_err::read(path)?)
}

#[cfg(test)]
mod tests;
