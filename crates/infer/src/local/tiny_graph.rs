//! Tiny ONNX folders for tests, written byte by byte: a graph that looks up a row for each token,
//! with or without a head on top, and a tokenizer that knows a few words.

use std::path::Path;

/// What a tiny graph gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    /// The state of each token.
    States,
    /// One score for a text: the mean of its tokens' first numbers.
    Score,
}

/// Words of the tokenizer, in the order of their ids.
pub(crate) const WORDS: [&str; 9] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "hello", "world", "query", ":", "river"];

/// The row of a word; rows are `width` long.
pub(crate) fn row(id: usize, width: usize) -> Vec<f32> {
    (0..width).map(|at| ((id * 7 + at * 3) % 5) as f32 - 1.5 + id as f32 / 10.0).collect()
}

/// Writes `model.onnx` and `tokenizer.json`.
pub(crate) fn write(folder: &Path, head: Head, width: usize) {
    fs_err::create_dir_all(folder).unwrap();
    fs_err::write(folder.join("model.onnx"), graph(head, width)).unwrap();
    fs_err::write(folder.join("tokenizer.json"), tokenizer()).unwrap();
}

fn graph(head: Head, width: usize) -> Vec<u8> {
    let rows: Vec<u8> =
        (0..WORDS.len()).flat_map(|id| row(id, width)).flat_map(f32::to_le_bytes).collect();
    let mut table = number(1, WORDS.len() as u64);
    table.extend(number(1, width as u64));
    table.extend(number(2, 1));
    table.extend(text(8, "table"));
    table.extend(bytes(9, &rows));
    let states = if head == Head::States { "last_hidden_state" } else { "states" };
    let mut nodes = bytes(1, &node("Gather", &["table", "input_ids"], states, &[]));
    let output = match head {
        Head::States => value("last_hidden_state", 1, &["batch", "length", "width"]),
        Head::Score => {
            let mut axes = text(1, "axes");
            axes.extend(number(8, 1));
            axes.extend(number(20, 7));
            let mut keep = text(1, "keepdims");
            keep.extend(number(3, 0));
            keep.extend(number(20, 2));
            nodes.extend(bytes(1, &node("ReduceMean", &["states"], "logits", &[axes, keep])));
            value("logits", 1, &["batch", "width"])
        }
    };
    let mut graph = nodes;
    graph.extend(text(2, "tiny"));
    graph.extend(bytes(5, &table));
    for name in ["input_ids", "attention_mask"] {
        graph.extend(bytes(11, &value(name, 7, &["batch", "length"])));
    }
    graph.extend(bytes(12, &output));
    let mut model = number(1, 8);
    model.extend(bytes(7, &graph));
    model.extend(bytes(8, &number(2, 17)));
    model
}

fn node(kind: &str, inputs: &[&str], output: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
    let mut node: Vec<u8> = inputs.iter().flat_map(|input| text(1, input)).collect();
    node.extend(text(2, output));
    node.extend(text(3, kind));
    node.extend(text(4, kind));
    attributes.iter().for_each(|attribute| node.extend(bytes(5, attribute)));
    node
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

fn tokenizer() -> String {
    let vocabulary: serde_json::Map<String, serde_json::Value> =
        WORDS.iter().enumerate().map(|(id, word)| ((*word).to_owned(), id.into())).collect();
    let mark = |id: usize| {
        serde_json::json!({
            "id": id, "content": WORDS[id], "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true
        })
    };
    let special =
        |name: &str, id: usize| serde_json::json!({"id": name, "ids": [id], "tokens": [name]});
    let of =
        |name: &str, kind: u8| serde_json::json!({"SpecialToken": {"id": name, "type_id": kind}});
    let sequence =
        |name: &str, kind: u8| serde_json::json!({"Sequence": {"id": name, "type_id": kind}});
    serde_json::json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [mark(0), mark(1), mark(2), mark(3)],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [of("[CLS]", 0), sequence("A", 0), of("[SEP]", 0)],
            "pair": [of("[CLS]", 0), sequence("A", 0), of("[SEP]", 0), sequence("B", 1), of("[SEP]", 1)],
            "special_tokens": {"[CLS]": special("[CLS]", 2), "[SEP]": special("[SEP]", 3)}
        },
        "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    })
    .to_string()
}
