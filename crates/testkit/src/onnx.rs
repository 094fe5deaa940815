//! Tiny ONNX folders, written byte by byte: a graph that looks up a row for each token, with or
//! without a head on top, and a tokenizer that knows a few words.
//!
//! The graph is real: whatever loads models loads it, and what it gives can be worked out by hand.

use std::path::Path;

use serde_json::{Map, Value, json};

/// Words that every tokenizer begins with, in the order of their ids.
pub const MARKS: [&str; 4] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];

/// What a tiny graph gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// The state of each token.
    States,
    /// One score for a text: the mean of its tokens' first numbers, padding among them.
    Mean,
    /// One score for a text: the sum of its tokens' first numbers.
    Sum,
}

/// A tiny model before it is written.
#[derive(Debug, Clone)]
pub struct TinyOnnx<'a> {
    /// Words of the tokenizer in the order of their ids, the four marks first.
    pub words: Vec<&'a str>,
    /// The row of each word. With fewer rows than words the graph fails on the words without one.
    pub rows: Vec<Vec<f32>>,
    /// What is on top.
    pub head: Head,
}

impl<'a> TinyOnnx<'a> {
    /// Makes a cross-encoder whose logit for a pair is the sum of the weights of all words in it,
    /// in the query and in the passage; other words and the marks weigh nothing.
    pub fn weighing(weights: &[(&'a str, f32)]) -> Self {
        let words = MARKS.into_iter().chain(weights.iter().map(|(word, _)| *word)).collect();
        let marks = MARKS.iter().map(|_| vec![0.0]);
        let rows = marks.chain(weights.iter().map(|(_, weight)| vec![*weight])).collect();
        TinyOnnx { words, rows, head: Head::Sum }
    }

    /// Adds a word that the tokenizer knows and the graph does not: it fails on it.
    #[must_use]
    pub fn failing_on(mut self, word: &'a str) -> Self {
        self.words.push(word);
        self
    }

    /// Writes `model.onnx` and `tokenizer.json`, and the folder when it is not there.
    pub fn write(&self, folder: &Path) {
        fs_err::create_dir_all(folder).expect("folders can be made for a test");
        fs_err::write(folder.join("model.onnx"), self.graph()).expect("the graph can be written");
        fs_err::write(folder.join("tokenizer.json"), self.tokenizer())
            .expect("the tokenizer can be written");
    }

    fn graph(&self) -> Vec<u8> {
        let width = self.rows.first().map_or(0, Vec::len);
        let rows: Vec<u8> =
            self.rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        let table = tensor("table", FLOAT, &[self.rows.len(), width], &rows);
        let mut graph = Vec::new();
        let states = if self.head == Head::States { "last_hidden_state" } else { "states" };
        graph.extend(bytes(1, &node("Gather", &["table", "input_ids"], states, &[])));
        let keep = || attribute("keepdims", 3, 0, 2);
        let output = match self.head {
            Head::States => value("last_hidden_state", FLOAT, &["batch", "length", "width"]),
            Head::Mean => {
                let axes = attribute("axes", 8, 1, 7);
                let mean = node("ReduceMean", &["states"], "logits", &[axes, keep()]);
                graph.extend(bytes(1, &mean));
                value("logits", FLOAT, &["batch", "width"])
            }
            Head::Sum => {
                let sum = node("ReduceSum", &["states", "axes"], "logits", &[keep()]);
                graph.extend(bytes(1, &sum));
                graph.extend(bytes(5, &tensor("axes", LONG, &[1], &1i64.to_le_bytes())));
                value("logits", FLOAT, &["batch", "width"])
            }
        };
        graph.extend(text(2, "tiny"));
        graph.extend(bytes(5, &table));
        for name in ["input_ids", "attention_mask"] {
            graph.extend(bytes(11, &value(name, LONG, &["batch", "length"])));
        }
        graph.extend(bytes(12, &output));
        let mut model = number(1, 8);
        model.extend(bytes(7, &graph));
        model.extend(bytes(8, &number(2, 17)));
        model
    }

    fn tokenizer(&self) -> String {
        let words = self.words.iter().enumerate();
        let vocabulary: Map<String, Value> =
            words.map(|(id, word)| ((*word).to_owned(), id.into())).collect();
        let mark = |id: usize| {
            json!({
                "id": id, "content": self.words[id], "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true
            })
        };
        let special = |name: &str, id: usize| json!({"id": name, "ids": [id], "tokens": [name]});
        let of = |name: &str, kind: u8| json!({"SpecialToken": {"id": name, "type_id": kind}});
        let sequence = |name: &str, kind: u8| json!({"Sequence": {"id": name, "type_id": kind}});
        json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": [mark(0), mark(1), mark(2), mark(3)],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [of("[CLS]", 0), sequence("A", 0), of("[SEP]", 0)],
                "pair": [
                    of("[CLS]", 0), sequence("A", 0), of("[SEP]", 0), sequence("B", 1),
                    of("[SEP]", 1),
                ],
                "special_tokens": {"[CLS]": special("[CLS]", 2), "[SEP]": special("[SEP]", 3)}
            },
            "decoder": null,
            "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
        })
        .to_string()
    }
}

/// The number of a type of elements in ONNX.
const FLOAT: u64 = 1;
const LONG: u64 = 7;

fn tensor(name: &str, kind: u64, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let mut tensor: Vec<u8> = shape.iter().flat_map(|size| number(1, *size as u64)).collect();
    tensor.extend(number(2, kind));
    tensor.extend(text(8, name));
    tensor.extend(bytes(9, data));
    tensor
}

fn node(kind: &str, inputs: &[&str], output: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
    let mut node: Vec<u8> = inputs.iter().flat_map(|input| text(1, input)).collect();
    node.extend(text(2, output));
    node.extend(text(3, kind));
    node.extend(text(4, kind));
    attributes.iter().for_each(|attribute| node.extend(bytes(5, attribute)));
    node
}

fn attribute(name: &str, field: u64, value: u64, kind: u64) -> Vec<u8> {
    let mut attribute = text(1, name);
    attribute.extend(number(field, value));
    attribute.extend(number(20, kind));
    attribute
}

fn value(name: &str, kind: u64, dimensions: &[&str]) -> Vec<u8> {
    let shape: Vec<u8> =
        dimensions.iter().flat_map(|dimension| bytes(1, &text(2, dimension))).collect();
    let mut tensor = number(1, kind);
    tensor.extend(bytes(2, &shape));
    let mut value = text(1, name);
    value.extend(bytes(2, &bytes(1, &tensor)));
    value
}

fn text(field: u64, value: &str) -> Vec<u8> {
    bytes(field, value.as_bytes())
}

fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    let mut out = varint(field << 3 | 2);
    out.extend(varint(value.len() as u64));
    out.extend(value);
    out
}

fn number(field: u64, value: u64) -> Vec<u8> {
    let mut out = varint(field << 3);
    out.extend(varint(value));
    out
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}
