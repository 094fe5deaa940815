//! The shape of a ModernBERT model, from its `config.json`.

use std::path::Path;

use serde_json::Value;

use crate::local::sentence::read_json;
use crate::models::{CHECKPOINT_FILE, GRAPH_FILE};
use crate::{Error, Result};

/// The widest row, and the largest vocabulary, that is read.
const MAX_WIDTH: u64 = 16 * 1024;
const MAX_VOCABULARY: u64 = 4 * 1024 * 1024;
/// The most layers and heads.
const MAX_DEPTH: u64 = 256;

/// The shape of a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ModernConfig {
    pub(super) hidden: usize,
    pub(super) feed_forward: usize,
    pub(super) n_heads: usize,
    pub(super) vocabulary: usize,
    pub(super) epsilon: f32,
    /// One entry for each layer.
    pub(super) layers: Vec<Reach>,
    pub(super) global_theta: f64,
    pub(super) local_theta: f64,
    /// How many tokens to each side a local layer sees.
    pub(super) window: usize,
    /// Whether the classifier reads the first token; otherwise the mean of all.
    pub(super) classifier_reads_first: bool,
}

/// How far the tokens of a layer see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Every other token.
    Global,
    /// Tokens inside the window.
    Local,
}

/// What the configuration of a ModernBERT says that it is.
const MODERN: &str = "modernbert";

/// The most of another kind that a message repeats.
const MAX_KIND_CHARS: usize = 40;

/// Tells whether a folder holds a ModernBERT checkpoint.
pub(crate) fn is_modern(folder: &Path) -> bool {
    folder.join(CHECKPOINT_FILE).exists()
        && read_json(&folder.join("config.json"))
            .is_some_and(|config| config["model_type"] == MODERN)
}

/// Holds that a checkpoint without a graph beside it is one that is read, so that nobody is told to
/// bring a graph where another file is wrong.
pub(crate) fn ensure_read(folder: &Path) -> Result<()> {
    if folder.join(GRAPH_FILE).exists() || !folder.join(CHECKPOINT_FILE).exists() {
        return Ok(());
    }
    let path = folder.join("config.json");
    let problem = match read_json(&path) {
        None => format!("it is not there, or is not JSON; it says what `{CHECKPOINT_FILE}` holds"),
        Some(config) => {
            let kind = config["model_type"].as_str().unwrap_or_default();
            if kind == MODERN {
                return Ok(());
            }
            let kind: String = kind.chars().take(MAX_KIND_CHARS).collect();
            format!(
                "`model_type` is `{kind}`, and `{CHECKPOINT_FILE}` is read where it is `{MODERN}`: \
                 bring other models as `{GRAPH_FILE}`"
            )
        }
    };
    Err(Error::BadModelFile { path, problem })
}

impl ModernConfig {
    /// Reads the configuration of a folder.
    ///
    /// Fails when it is missing, or names a shape or an activation that is not supported.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("config.json");
        let config = read_json(&path).ok_or_else(|| Error::BadModelFile {
            path: path.clone(),
            problem: "it is not there, or is not JSON".to_owned(),
        })?;
        ModernConfig::from_json(&config, &path)
    }

    fn from_json(config: &Value, path: &Path) -> Result<Self> {
        let bad = |problem: String| Error::BadModelFile { path: path.to_owned(), problem };
        let number = |key: &str, default: u64, max: u64| match config[key].as_u64() {
            None if config[key].is_null() => Ok(default as usize),
            Some(value) if (1..=max).contains(&value) => Ok(value as usize),
            _ => Err(bad(format!("`{key}` is `{}`, allowed is 1 to {max}", config[key]))),
        };
        for key in ["hidden_activation", "classifier_activation"] {
            if !config[key].is_null() && config[key] != "gelu" {
                return Err(bad(format!("`{key}` is {}, only \"gelu\" is supported", config[key])));
            }
        }
        let hidden = number("hidden_size", 768, MAX_WIDTH)?;
        let n_heads = number("num_attention_heads", 12, MAX_DEPTH)?;
        if !hidden.is_multiple_of(2 * n_heads) {
            return Err(bad(format!("{n_heads} heads do not divide a hidden size of {hidden}")));
        }
        let n_layers = number("num_hidden_layers", 22, MAX_DEPTH)?;
        let every = number("global_attn_every_n_layers", 3, MAX_DEPTH)?;
        let layers = match config["layer_types"].as_array() {
            Some(kinds) if kinds.len() == n_layers => kinds
                .iter()
                .map(|kind| match kind.as_str() {
                    Some("full_attention") => Ok(Reach::Global),
                    Some("sliding_attention") => Ok(Reach::Local),
                    _ => Err(bad(format!("`layer_types` holds {kind}"))),
                })
                .collect::<Result<_>>()?,
            Some(kinds) => {
                let n_kinds = kinds.len();
                return Err(bad(format!(
                    "`layer_types` has {n_kinds} entries for {n_layers} layers"
                )));
            }
            None => (0..n_layers)
                .map(|idx| if idx.is_multiple_of(every) { Reach::Global } else { Reach::Local })
                .collect(),
        };
        let theta = |kind: &str, old_key: &str, default: f64| {
            let parameters = &config["rope_parameters"][kind]["rope_theta"];
            parameters.as_f64().or(config[old_key].as_f64()).unwrap_or(default)
        };
        Ok(ModernConfig {
            hidden,
            feed_forward: number("intermediate_size", 1152, MAX_WIDTH)?,
            n_heads,
            vocabulary: number("vocab_size", 50_368, MAX_VOCABULARY)?,
            epsilon: config["norm_eps"].as_f64().unwrap_or(1e-5) as f32,
            layers,
            global_theta: theta("full_attention", "global_rope_theta", 160_000.0),
            local_theta: theta("sliding_attention", "local_rope_theta", 10_000.0),
            window: number("local_attention", 128, MAX_WIDTH)? / 2,
            classifier_reads_first: config["classifier_pooling"] != "mean",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(config: &Value) -> Result<ModernConfig> {
        ModernConfig::from_json(config, Path::new("config.json"))
    }

    #[test]
    fn defaults_are_those_of_the_base_model() {
        let config = read(&json!({})).unwrap();
        assert_eq!((config.hidden, config.feed_forward, config.window), (768, 1152, 64));
        assert_eq!(config.layers[..4], [Reach::Global, Reach::Local, Reach::Local, Reach::Global]);
        assert_eq!((config.global_theta, config.local_theta), (160_000.0, 10_000.0));
    }

    #[test]
    fn newer_files_name_each_layer_and_its_base() {
        let config = read(&json!({
            "num_hidden_layers": 2,
            "layer_types": ["sliding_attention", "full_attention"],
            "rope_parameters": { "full_attention": { "rope_theta": 80000.0 } },
            "local_rope_theta": 5000.0,
            "classifier_pooling": "mean",
        }))
        .unwrap();
        assert_eq!(config.layers, [Reach::Local, Reach::Global]);
        assert_eq!((config.global_theta, config.local_theta), (80_000.0, 5_000.0));
        assert!(!config.classifier_reads_first);
    }

    #[test]
    fn shapes_that_do_not_fit_are_named() {
        let problem = |config: Value| read(&config).unwrap_err().to_string();
        assert!(problem(json!({ "hidden_size": 0 })).contains("`hidden_size` is `0`"));
        assert!(problem(json!({ "num_attention_heads": 7 })).contains("7 heads"));
        assert!(problem(json!({ "hidden_activation": "silu" })).contains("only \"gelu\""));
        assert!(problem(json!({ "layer_types": ["full_attention"] })).contains("1 entries"));
    }
}
