//! Proves that ModernBERT checkpoints become embedders and cross-encoders whose figures are those
//! of a plain forward pass written from the definition, at every instruction level, with windows
//! that are shorter than the text; and that broken folders are refused in words.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use model::Deadline;
use safetensors::tensor::{Dtype, TensorView, serialize};
use serde_json::json;

use super::config::{ModernConfig, Reach};
use super::{ModernCrossEncoder, ModernEmbedder};
use crate::local::kernels::Level;
use crate::local::product::DEPTH_PADDING;
use crate::local::{scale_to_one, sigmoid, tiny_graph};
use crate::{Embedder, EmbedderId, Reranker, open_local_embedder};

const VOCABULARY: usize = 16;

fn forever() -> Deadline {
    Deadline::after(Duration::from_secs(600))
}

/// A checkpoint with weights from a small generator of numbers.
struct TinyModern {
    config: serde_json::Value,
    tensors: HashMap<String, (Vec<usize>, Vec<f32>)>,
}

struct Shape {
    hidden: usize,
    n_heads: usize,
    feed: usize,
    has_bias: bool,
}

impl TinyModern {
    fn new(shape: &Shape) -> Self {
        let Shape { hidden, n_heads, feed, has_bias } = *shape;
        let config = json!({
            "model_type": "modernbert", "hidden_size": hidden, "intermediate_size": feed,
            "num_hidden_layers": 3, "num_attention_heads": n_heads, "vocab_size": VOCABULARY,
            "local_attention": 6, "global_attn_every_n_layers": 2, "norm_eps": 1e-5,
            "max_position_embeddings": 64, "classifier_pooling": "mean",
        });
        let mut seed = 1u64;
        let mut tensors = HashMap::new();
        let mut add = |name: &str, shape: &[usize], middle: f32, spread: f32| {
            let n_values: usize = shape.iter().product();
            let values = (0..n_values)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                    middle + ((seed >> 40) as f32 / (1u64 << 23) as f32 - 1.0) * spread
                })
                .collect();
            tensors.insert(name.to_owned(), (shape.to_vec(), values));
        };
        add("model.embeddings.tok_embeddings.weight", &[VOCABULARY, hidden], 0.0, 1.0);
        add("model.embeddings.norm.weight", &[hidden], 1.0, 0.2);
        for idx in 0..3 {
            let layer = format!("model.layers.{idx}");
            if idx > 0 {
                add(&format!("{layer}.attn_norm.weight"), &[hidden], 1.0, 0.2);
            }
            add(&format!("{layer}.attn.Wqkv.weight"), &[3 * hidden, hidden], 0.0, 0.3);
            add(&format!("{layer}.attn.Wo.weight"), &[hidden, hidden], 0.0, 0.2);
            add(&format!("{layer}.mlp_norm.weight"), &[hidden], 1.0, 0.2);
            add(&format!("{layer}.mlp.Wi.weight"), &[2 * feed, hidden], 0.0, 0.2);
            add(&format!("{layer}.mlp.Wo.weight"), &[hidden, feed], 0.0, 0.2);
            if has_bias {
                add(&format!("{layer}.attn.Wqkv.bias"), &[3 * hidden], 0.0, 0.3);
                add(&format!("{layer}.attn.Wo.bias"), &[hidden], 0.0, 0.3);
                add(&format!("{layer}.mlp.Wi.bias"), &[2 * feed], 0.0, 0.3);
                add(&format!("{layer}.mlp.Wo.bias"), &[hidden], 0.0, 0.3);
                add(&format!("{layer}.mlp_norm.bias"), &[hidden], 0.0, 0.3);
            }
        }
        add("model.final_norm.weight", &[hidden], 1.0, 0.2);
        add("head.dense.weight", &[hidden, hidden], 0.0, 0.3);
        add("head.norm.weight", &[hidden], 1.0, 0.2);
        add("classifier.weight", &[1, hidden], 0.0, 0.3);
        add("classifier.bias", &[1], 0.1, 0.1);
        TinyModern { config, tensors }
    }

    /// Writes the folder; `is_bare` leaves out the `model.` before names, as bare encoders do.
    fn write(&self, folder: &Path, is_bare: bool) {
        fs_err::create_dir_all(folder).unwrap();
        tiny_graph::write(folder, tiny_graph::Head::States, 4);
        fs_err::remove_file(folder.join("model.onnx")).unwrap();
        fs_err::write(folder.join("config.json"), self.config.to_string()).unwrap();
        let bytes: HashMap<&str, (Vec<usize>, Vec<u8>)> = self
            .tensors
            .iter()
            .map(|(name, (shape, values))| {
                let name = if is_bare { name.trim_start_matches("model.") } else { name };
                let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                (name, (shape.clone(), bytes))
            })
            .collect();
        let views = bytes.iter().map(|(name, (shape, bytes))| {
            (*name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap())
        });
        fs_err::write(folder.join("model.safetensors"), serialize(views, None).unwrap()).unwrap();
    }

    fn config(&self, folder: &Path) -> ModernConfig {
        ModernConfig::read(folder).unwrap()
    }

    fn tensor(&self, name: &str) -> Option<Vec<f64>> {
        let (_, values) = self.tensors.get(name)?;
        Some(values.iter().map(|value| f64::from(*value)).collect())
    }

    fn linear(&self, name: &str, row: &[f64]) -> Vec<f64> {
        let weights = self.tensor(&format!("{name}.weight")).unwrap();
        let bias = self.tensor(&format!("{name}.bias"));
        weights
            .chunks(row.len())
            .enumerate()
            .map(|(at, weights)| {
                let dot: f64 = weights.iter().zip(row).map(|(weight, value)| weight * value).sum();
                dot + bias.as_ref().map_or(0.0, |bias| bias[at])
            })
            .collect()
    }

    fn norm(&self, name: &str, row: &[f64]) -> Vec<f64> {
        let Some(scale) = self.tensor(&format!("{name}.weight")) else { return row.to_vec() };
        let shift = self.tensor(&format!("{name}.bias"));
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / row.len() as f64;
        row.iter()
            .enumerate()
            .map(|(at, x)| {
                let value = (x - mean) / (variance + 1e-5).sqrt() * scale[at];
                value + shift.as_ref().map_or(0.0, |shift| shift[at])
            })
            .collect()
    }

    /// The definition, one number at a time.
    fn states(&self, config: &ModernConfig, ids: &[u32]) -> Vec<Vec<f64>> {
        let (hidden, feed) = (config.hidden, config.feed_forward);
        let size = hidden / config.n_heads;
        let words = self.tensor("model.embeddings.tok_embeddings.weight").unwrap();
        let word = |id: &u32| words[*id as usize * hidden..][..hidden].to_vec();
        let mut rows: Vec<Vec<f64>> =
            ids.iter().map(|id| self.norm("model.embeddings.norm", &word(id))).collect();
        for (idx, reach) in config.layers.iter().enumerate() {
            let name = format!("model.layers.{idx}");
            let theta =
                if *reach == Reach::Global { config.global_theta } else { config.local_theta };
            let turn = |vector: &[f64], position: usize| -> Vec<f64> {
                let half = size / 2;
                let angle = |at: usize| {
                    position as f64 * theta.powf(-2.0 * (at % half) as f64 / size as f64)
                };
                let other = |at: usize| {
                    if at < half { -vector[at + half] } else { vector[at - half] }
                };
                (0..size)
                    .map(|at| vector[at] * angle(at).cos() + other(at) * angle(at).sin())
                    .collect()
            };
            let projected: Vec<Vec<f64>> = rows
                .iter()
                .map(|row| {
                    self.linear(
                        &format!("{name}.attn.Wqkv"),
                        &self.norm(&format!("{name}.attn_norm"), row),
                    )
                })
                .collect();
            let mut next = Vec::new();
            for (at, row) in rows.iter().enumerate() {
                let mut context = Vec::new();
                for head in 0..config.n_heads {
                    let part = |of: usize, token: usize| {
                        &projected[token][of * hidden + head * size..][..size]
                    };
                    let query = turn(part(0, at), at);
                    let sees = |token: &usize| {
                        *reach == Reach::Global || token.abs_diff(at) <= config.window
                    };
                    let seen: Vec<usize> = (0..rows.len()).filter(sees).collect();
                    let scores: Vec<f64> = seen
                        .iter()
                        .map(|token| {
                            let key = turn(part(1, *token), *token);
                            let dot: f64 = query.iter().zip(&key).map(|(q, k)| q * k).sum();
                            (dot / (size as f64).sqrt()).exp()
                        })
                        .collect();
                    let total: f64 = scores.iter().sum();
                    context.extend((0..size).map(|column| {
                        let weigh = |(token, score): (&usize, &f64)| {
                            score / total * part(2, *token)[column]
                        };
                        seen.iter().zip(&scores).map(weigh).sum::<f64>()
                    }));
                }
                let attended = self.linear(&format!("{name}.attn.Wo"), &context);
                let row: Vec<f64> = row.iter().zip(attended).map(|(x, y)| x + y).collect();
                let both = self.linear(
                    &format!("{name}.mlp.Wi"),
                    &self.norm(&format!("{name}.mlp_norm"), &row),
                );
                let fed: Vec<f64> = (0..feed).map(|at| gelu(both[at]) * both[feed + at]).collect();
                let fed = self.linear(&format!("{name}.mlp.Wo"), &fed);
                next.push(row.iter().zip(fed).map(|(x, y)| x + y).collect());
            }
            rows = next;
        }
        rows.iter().map(|row| self.norm("model.final_norm", row)).collect()
    }

    fn pooled(&self, config: &ModernConfig, ids: &[u32]) -> Vec<f64> {
        let states = self.states(config, ids);
        let mean = |at: usize| states.iter().map(|row| row[at]).sum::<f64>() / states.len() as f64;
        (0..config.hidden).map(mean).collect()
    }

    fn relevance(&self, config: &ModernConfig, ids: &[u32]) -> f32 {
        let dense = self.linear("head.dense", &self.pooled(config, ids));
        let activated: Vec<f64> = dense.into_iter().map(gelu).collect();
        let logit = self.linear("classifier", &self.norm("head.norm", &activated))[0];
        sigmoid(logit as f32)
    }
}

/// The exact GELU, with the error function by its series.
fn gelu(x: f64) -> f64 {
    let z = x / 2f64.sqrt();
    let (mut term, mut total, mut n) = (z, z, 0.0);
    while f64::abs(term) > 1e-18 && n < 200.0 {
        n += 1.0;
        term *= -z * z / n;
        total += term / (2.0 * n + 1.0);
    }
    x / 2.0 * (1.0 + total * 2.0 / std::f64::consts::PI.sqrt())
}

const SHAPES: [Shape; 4] = [
    Shape { hidden: 64, n_heads: 2, feed: 96, has_bias: false },
    Shape { hidden: 64, n_heads: 1, feed: 48, has_bias: true },
    Shape { hidden: 32, n_heads: 2, feed: 20, has_bias: false },
    Shape { hidden: 48, n_heads: 3, feed: 64, has_bias: true },
];

fn levels(shape: &Shape) -> Vec<Level> {
    let head_size = shape.hidden / shape.n_heads;
    let fits = |level: &Level| !level.has_tiles() || head_size.is_multiple_of(DEPTH_PADDING);
    Level::available().into_iter().filter(fits).collect()
}

/// Words of the tiny vocabulary: `[CLS]` 2, `[SEP]` 3, hello 4, world 5, river 8.
const TEXTS: [(&str, &[u32]); 3] = [
    ("hello", &[2, 4, 3]),
    ("", &[2, 3]),
    (
        "hello world river river hello world hello hello world river",
        &[2, 4, 5, 8, 8, 4, 5, 4, 4, 5, 8, 3],
    ),
];

#[test]
fn every_level_gives_the_vectors_of_the_definition() {
    for shape in &SHAPES {
        let folder = tempfile::tempdir().unwrap();
        let tiny = TinyModern::new(shape);
        tiny.write(folder.path(), false);
        let config = tiny.config(folder.path());
        for level in levels(shape) {
            let id = EmbedderId::new("tiny", "1");
            let embedder = ModernEmbedder::open_at(folder.path(), id, &config, level).unwrap();
            let texts = TEXTS.map(|(text, _)| text);
            let received = embedder.embed_passages(&texts, &forever()).unwrap();
            for ((text, ids), received) in TEXTS.iter().zip(received) {
                let mut expected: Vec<f32> =
                    tiny.pooled(&config, ids).into_iter().map(|value| value as f32).collect();
                scale_to_one(&mut expected);
                let cosine: f32 = received.iter().zip(&expected).map(|(a, b)| a * b).sum();
                let floor = if level.has_tiles() { 0.999 } else { 0.999_99 };
                assert!(cosine > floor, "{} {} `{text}`: {cosine}", level.name(), shape.hidden);
            }
        }
    }
}

#[test]
fn every_level_gives_the_relevance_of_the_definition() {
    for shape in &SHAPES {
        let folder = tempfile::tempdir().unwrap();
        let tiny = TinyModern::new(shape);
        tiny.write(folder.path(), false);
        let config = tiny.config(folder.path());
        for level in levels(shape) {
            let id = EmbedderId::new("tiny", "1");
            let encoder = ModernCrossEncoder::open_at(folder.path(), id, &config, level).unwrap();
            let scores = encoder.score("hello", &["world", "river hello"], &forever()).unwrap();
            let pairs: [&[u32]; 2] = [&[2, 4, 3, 5, 3], &[2, 4, 3, 8, 4, 3]];
            for (score, ids) in scores.iter().zip(pairs) {
                let expected = tiny.relevance(&config, ids);
                let tolerance = if level.has_tiles() { 0.02 } else { 1e-4 };
                assert!(
                    (score - expected).abs() < tolerance,
                    "{}: {score} {expected}",
                    level.name()
                );
            }
        }
    }
}

#[test]
fn a_bare_folder_opens_by_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ruri-v3-tiny");
    TinyModern::new(&SHAPES[0]).write(&path, true);
    let embedder = open_local_embedder(&path.to_string_lossy(), Path::new("nowhere")).unwrap();
    assert_eq!((embedder.dimensions(), embedder.max_tokens()), (64, 64));
    let embedded = embedder.embed_passages_with_tokens(&["hello world"], &forever()).unwrap();
    assert_eq!(embedded[0].tokens.len(), 2);
    let over = forever();
    over.cancel();
    assert!(embedder.embed_query("hello", &over).is_err());
}

#[test]
fn broken_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut tiny = TinyModern::new(&SHAPES[0]);
    tiny.tensors.remove("model.layers.1.mlp.Wi.weight");
    tiny.write(folder.path(), false);
    let open = || {
        let opened = ModernEmbedder::open(folder.path(), EmbedderId::new("x", "1"));
        opened.map(|_| ()).unwrap_err().to_string()
    };
    assert!(open().contains("tensor `model.layers.1.mlp.Wi.weight` is missing"), "{}", open());
    tiny.tensors.insert("model.layers.1.mlp.Wi.weight".to_owned(), (vec![3], vec![0.0; 3]));
    tiny.write(folder.path(), false);
    assert!(open().contains("has 3 elements, expected 12288"), "{}", open());
    fs_err::write(folder.path().join("model.safetensors"), b"not a checkpoint").unwrap();
    assert!(open().contains("model.safetensors"), "{}", open());
}
