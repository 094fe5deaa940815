//! What a model folder says about texts, in the layout of sentence-transformers: the tokenizer,
//! how long a text may be, what is put before queries and passages, how token states are pooled.

use std::path::Path;

use serde_json::Value;
use tokenizers::{Encoding, Tokenizer, TruncationParams};

use super::pooling::scale_to_one;
use crate::models::TOKENIZER_FILE;
use crate::{EmbeddedText, EmbedderId, Error, Result, TokenVectors};

/// The largest tokenizer or configuration that is loaded.
const MAX_TEXT_FILE_BYTES: u64 = 128 * 1024 * 1024;
/// The most tokens of one text, where the model allows more.
const MAX_TOKENS: usize = 512;

/// How token states become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    Mean,
    FirstToken,
}

/// The text side of a model folder. Safe to share between threads.
#[derive(Debug)]
pub(crate) struct SentenceFolder {
    pub(crate) id: EmbedderId,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) max_tokens: usize,
    pub(crate) pooling: Pooling,
    pub(crate) query_prefix: String,
    pub(crate) passage_prefix: String,
}

impl SentenceFolder {
    /// Reads a folder.
    ///
    /// Fails when the tokenizer is missing or cannot be understood.
    pub(crate) fn open(folder: &Path, id: EmbedderId) -> Result<Self> {
        let tokenizer_path = folder.join(TOKENIZER_FILE);
        require(&tokenizer_path)?;
        let max_tokens = max_tokens(folder);
        let tokenizer = load_tokenizer(&tokenizer_path, max_tokens)?;
        let (query_prefix, passage_prefix) = prefixes(folder, &id.name);
        Ok(SentenceFolder {
            id,
            tokenizer,
            max_tokens,
            pooling: pooling(folder),
            query_prefix,
            passage_prefix,
        })
    }

    /// Gives the tokens of a text, and how many of them come before it.
    pub(crate) fn encode(&self, prefix: &str, text: &str) -> Result<(Encoding, usize)> {
        let failed = |error| self.untokenized(&error);
        let whole = self.tokenizer.encode_fast(format!("{prefix}{text}"), true).map_err(failed)?;
        let n_marks = whole.get_special_tokens_mask().iter().take_while(|mark| **mark == 1).count();
        let n_prefix = match prefix.trim_end() {
            "" => 0,
            prefix => self.tokenizer.encode_fast(prefix, false).map_err(failed)?.len(),
        };
        Ok((whole, n_marks + n_prefix))
    }

    /// Gives the tokens of a query and a passage, as a cross-encoder reads them.
    pub(crate) fn encode_pair(&self, query: &str, passage: &str) -> Result<Encoding> {
        let pair = self.tokenizer.encode_fast((query, passage), true);
        pair.map_err(|error| self.untokenized(&error))
    }

    /// Pools the states of one text, a row of `dimensions` for each token, and keeps the rows of
    /// the text's own tokens.
    ///
    /// Invariant: `states` holds at least as many rows as the text has tokens.
    pub(crate) fn pool(
        &self,
        states: &[f32],
        dimensions: usize,
        text: &Encoding,
        n_before: usize,
    ) -> EmbeddedText {
        let n_tokens = text.len();
        let states = &states[..n_tokens * dimensions];
        let mut pooled = vec![0.0; dimensions];
        let n_pooled = if self.pooling == Pooling::FirstToken { 1 } else { n_tokens };
        for state in states.chunks_exact(dimensions).take(n_pooled) {
            for (sum, value) in pooled.iter_mut().zip(state) {
                *sum += value;
            }
        }
        scale_to_one(&mut pooled);
        let marks = text.get_special_tokens_mask();
        let n_after = marks.iter().rev().take_while(|mark| **mark == 1).count();
        let end = n_tokens.saturating_sub(n_after).max(n_before);
        let mut flat = states[n_before * dimensions..end * dimensions].to_vec();
        flat.chunks_exact_mut(dimensions).for_each(scale_to_one);
        let tokens = TokenVectors { dimensions, flat };
        EmbeddedText { pooled, tokens, is_truncated: is_truncated(text) }
    }

    /// Says that a text could not be divided into tokens.
    pub(crate) fn untokenized(&self, error: &tokenizers::Error) -> Error {
        Error::Runtime { model: self.id.to_string(), problem: error.to_string() }
    }
}

/// Tells whether a text was cut at the model's length.
pub(crate) fn is_truncated(text: &Encoding) -> bool {
    !text.get_overflowing().is_empty()
}

/// Fails when a file of a model is missing.
pub(crate) fn require(path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    Err(Error::BadModelFile { path: path.to_owned(), problem: "it is not there".to_owned() })
}

/// Reads a JSON file of the folder; nothing when it is missing or unreadable.
pub(crate) fn read_json(path: &Path) -> Option<Value> {
    let bytes = read_limited(path, MAX_TEXT_FILE_BYTES).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Reads a whole file that is not larger than allowed.
pub(crate) fn read_limited(path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    let n_bytes = fs_err::metadata(path)?.len();
    if n_bytes > max_bytes {
        let problem = format!("it has {n_bytes} bytes, allowed are {max_bytes}");
        return Err(Error::BadModelFile { path: path.to_owned(), problem });
    }
    Ok(fs_err::read(path)?)
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

/// Reads how long a text may be from the configuration files beside the weights.
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

/// Reads how states are pooled; the mean unless the folder says otherwise.
fn pooling(folder: &Path) -> Pooling {
    let config = read_json(&folder.join("1_Pooling/config.json")).unwrap_or_default();
    let uses_first = config["pooling_mode_cls_token"].as_bool() == Some(true)
        && config["pooling_mode_mean_tokens"].as_bool() != Some(true);
    if uses_first { Pooling::FirstToken } else { Pooling::Mean }
}

/// Reads what comes before queries and passages. Families that were trained with prefixes and do
/// not write them into their files are known by name.
fn prefixes(folder: &Path, name: &str) -> (String, String) {
    let config = read_json(&folder.join("config_sentence_transformers.json")).unwrap_or_default();
    let prompt = |names: &[&str]| {
        let prompts = &config["prompts"];
        names.iter().find_map(|name| prompts[*name].as_str().map(str::to_owned))
    };
    let name = name.to_ascii_lowercase();
    let has_word = |wanted: &str| name.split(['-', '/', '_']).any(|word| word == wanted);
    let (query, passage) = if has_word("e5") {
        ("query: ", "passage: ")
    } else if has_word("ruri") && has_word("v3") {
        ("検索クエリ: ", "検索文書: ")
    } else {
        ("", "")
    };
    let query = prompt(&["query"]).unwrap_or_else(|| query.to_owned());
    let passage = prompt(&["passage", "document"]).unwrap_or_else(|| passage.to_owned());
    (query, passage)
}
