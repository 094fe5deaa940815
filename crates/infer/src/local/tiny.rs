//! Tiny models for tests: an E5S1 file with made-up weights, and a forward pass over it in `f64`
//! that is as plain as the definition.

use std::collections::BTreeMap;
use std::path::Path;

use half::f16;

/// A tiny model before it is written.
pub(crate) struct Tiny {
    pub(crate) hidden: usize,
    pub(crate) n_layers: usize,
    pub(crate) n_heads: usize,
    pub(crate) feed: usize,
    pub(crate) n_positions: usize,
    pub(crate) pieces: Vec<(String, f32)>,
    tensors: BTreeMap<String, Vec<f32>>,
    quantised: Vec<String>,
}

impl Tiny {
    /// Makes a model whose numbers follow from a seed.
    pub(crate) fn new(seed: u64, hidden: usize, n_heads: usize) -> Self {
        let mut pieces: Vec<(String, f32)> =
            ["<s>", "<pad>", "</s>", "<unk>"].map(|mark| (mark.to_owned(), 0.0)).to_vec();
        for (at, piece) in [
            "▁",
            "▁que",
            "ry",
            ":",
            "▁passage",
            "▁hello",
            "▁world",
            "hel",
            "lo",
            "wor",
            "ld",
            "東",
            "東京",
            "ţ",
        ]
        .into_iter()
        .enumerate()
        {
            pieces.push((piece.to_owned(), -2.0 - at as f32 / 4.0));
        }
        for letter in 'a'..='z' {
            pieces.push((letter.to_string(), -9.0));
        }
        pieces.push(("<mask>".to_owned(), 0.0));
        let (n_layers, feed, n_positions) = (2, 2 * hidden, 40);
        let mut tiny = Tiny {
            hidden,
            n_layers,
            n_heads,
            feed,
            n_positions,
            pieces,
            tensors: BTreeMap::new(),
            quantised: Vec::new(),
        };
        let mut random = Random(seed.wrapping_mul(2) + 1);
        let n_words = tiny.pieces.len();
        tiny.add(&mut random, "emb.word", n_words * hidden, 1.0, 0.0);
        tiny.add(&mut random, "emb.pos", n_positions * hidden, 0.5, 0.0);
        tiny.add(&mut random, "emb.type", hidden, 0.3, 0.0);
        tiny.add_norm(&mut random, "emb.ln");
        for layer in 0..n_layers {
            for (part, n_out, n_in) in [
                ("q", hidden, hidden),
                ("k", hidden, hidden),
                ("v", hidden, hidden),
                ("ao", hidden, hidden),
                ("fi", feed, hidden),
                ("fo", hidden, feed),
            ] {
                let size = 3.0 / (n_in as f32).sqrt();
                tiny.add(&mut random, &format!("l{layer}.{part}.w"), n_out * n_in, size, 0.0);
                tiny.add(&mut random, &format!("l{layer}.{part}.b"), n_out, 0.1, 0.0);
            }
            tiny.add_norm(&mut random, &format!("l{layer}.aln"));
            tiny.add_norm(&mut random, &format!("l{layer}.oln"));
        }
        tiny
    }

    fn add_norm(&mut self, random: &mut Random, name: &str) {
        self.add(random, &format!("{name}.w"), self.hidden, 0.2, 1.0);
        self.add(random, &format!("{name}.b"), self.hidden, 0.2, 0.0);
    }

    fn add(&mut self, random: &mut Random, name: &str, n: usize, size: f32, middle: f32) {
        let mut values: Vec<f32> = (0..n).map(|_| middle + size * random.next()).collect();
        let is_matrix = name == "emb.word"
            || (name.starts_with('l') && name.ends_with(".w") && !name.contains("ln"));
        if is_matrix {
            for block in values.chunks_mut(32) {
                let scale = quantise(block).0;
                let codes = quantise(block).1;
                for (value, code) in block.iter_mut().zip(codes) {
                    *value = (f32::from(code) - 8.0) * scale;
                }
            }
            self.quantised.push(name.to_owned());
        }
        self.tensors.insert(name.to_owned(), values);
    }

    /// Gives the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut file = b"E5S1".to_vec();
        let int = |file: &mut Vec<u8>, value: usize| file.extend((value as u32).to_le_bytes());
        int(&mut file, 1);
        for size in [
            self.hidden,
            self.n_layers,
            self.n_heads,
            self.feed,
            self.pieces.len(),
            self.n_positions,
            1,
        ] {
            int(&mut file, size);
        }
        file.extend(1e-5f32.to_le_bytes());
        int(&mut file, 32);
        for number in [self.pieces.len(), 0, 2, 1, 3] {
            int(&mut file, number);
        }
        let blob: String = self.pieces.iter().map(|(piece, _)| piece.as_str()).collect();
        file.extend((blob.len() as u64).to_le_bytes());
        let mut offset = 0;
        int(&mut file, 0);
        for (piece, _) in &self.pieces {
            offset += piece.len();
            int(&mut file, offset);
        }
        for (_, score) in &self.pieces {
            file.extend(score.to_le_bytes());
        }
        file.extend(blob.as_bytes());
        // One replacement: the full-width A is an a.
        int(&mut file, 2);
        int(&mut file, 0);
        for (from, to) in [('Ａ', "a"), ('\u{3000}', " ")] {
            int(&mut file, from as usize);
            file.push(to.chars().count() as u8);
            to.chars().for_each(|char| int(&mut file, char as usize));
        }
        int(&mut file, self.tensors.len());
        let n_table: usize = self.tensors.keys().map(|name| 2 + name.len() + 1 + 4 + 8 + 8).sum();
        let mut at = file.len() + n_table;
        let mut data = Vec::new();
        for (name, values) in &self.tensors {
            let is_quantised = self.quantised.contains(name);
            let bytes = if is_quantised { pack(values) } else { plain(values) };
            file.extend((name.len() as u16).to_le_bytes());
            file.extend(name.as_bytes());
            file.push(u8::from(is_quantised));
            int(&mut file, values.len());
            file.extend((at as u64).to_le_bytes());
            file.extend((bytes.len() as u64).to_le_bytes());
            at += bytes.len();
            data.extend(bytes);
        }
        file.extend(data);
        file
    }

    /// Writes the file.
    pub(crate) fn write(&self, path: &Path) {
        fs_err::write(path, self.bytes()).unwrap();
    }

    /// Computes the last hidden states by the definition.
    pub(crate) fn forward(&self, ids: &[u32]) -> Vec<Vec<f64>> {
        let hidden = self.hidden;
        let tensor = |name: &str| -> Vec<f64> {
            self.tensors[name].iter().map(|value| f64::from(*value)).collect()
        };
        let (words, positions, kind) = (tensor("emb.word"), tensor("emb.pos"), tensor("emb.type"));
        let mut x: Vec<Vec<f64>> = ids
            .iter()
            .enumerate()
            .map(|(at, id)| {
                (0..hidden)
                    .map(|d| {
                        words[*id as usize * hidden + d] + positions[at * hidden + d] + kind[d]
                    })
                    .collect()
            })
            .collect();
        let norm = |rows: &mut Vec<Vec<f64>>, name: &str| {
            let (scale, shift) = (tensor(&format!("{name}.w")), tensor(&format!("{name}.b")));
            for row in rows {
                let mean = row.iter().sum::<f64>() / hidden as f64;
                let variance = row.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / hidden as f64;
                for d in 0..hidden {
                    row[d] = (row[d] - mean) / (variance + 1e-5).sqrt() * scale[d] + shift[d];
                }
            }
        };
        let linear = |rows: &[Vec<f64>], name: &str, n_out: usize| -> Vec<Vec<f64>> {
            let (weights, bias) = (tensor(&format!("{name}.w")), tensor(&format!("{name}.b")));
            let n_in = rows[0].len();
            rows.iter()
                .map(|row| {
                    (0..n_out)
                        .map(|out| {
                            let weights = &weights[out * n_in..][..n_in];
                            bias[out] + row.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>()
                        })
                        .collect()
                })
                .collect()
        };
        norm(&mut x, "emb.ln");
        for layer in 0..self.n_layers {
            let name = |part: &str| format!("l{layer}.{part}");
            let [q, k, v] = ["q", "k", "v"].map(|part| linear(&x, &name(part), hidden));
            let size = hidden / self.n_heads;
            let mut context = vec![vec![0.0; hidden]; ids.len()];
            for head in 0..self.n_heads {
                let columns = head * size..(head + 1) * size;
                for (row, query) in q.iter().enumerate() {
                    let scores: Vec<f64> = k
                        .iter()
                        .map(|key| {
                            columns.clone().map(|d| query[d] * key[d]).sum::<f64>()
                                / (size as f64).sqrt()
                        })
                        .collect();
                    let top = scores.iter().copied().fold(f64::MIN, f64::max);
                    let weights: Vec<f64> =
                        scores.iter().map(|score| (score - top).exp()).collect();
                    let total: f64 = weights.iter().sum();
                    for d in columns.clone() {
                        context[row][d] = weights
                            .iter()
                            .zip(&v)
                            .map(|(weight, value)| weight / total * value[d])
                            .sum();
                    }
                }
            }
            add(&mut x, &linear(&context, &name("ao"), hidden));
            norm(&mut x, &name("aln"));
            let mut inner = linear(&x, &name("fi"), self.feed);
            inner.iter_mut().flatten().for_each(|value| *value = gelu(*value));
            add(&mut x, &linear(&inner, &name("fo"), hidden));
            norm(&mut x, &name("oln"));
        }
        x
    }

    /// Computes the vector of a text by the definition.
    pub(crate) fn vector(&self, ids: &[u32]) -> Vec<f32> {
        let states = self.forward(ids);
        let mut pooled = vec![0.0; self.hidden];
        for state in &states {
            pooled.iter_mut().zip(state).for_each(|(sum, value)| *sum += *value as f32);
        }
        super::scale_to_one(&mut pooled);
        pooled
    }
}

pub(crate) fn cosine(one: &[f32], other: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    dot(one, other) / (dot(one, one) * dot(other, other)).sqrt()
}

fn add(rows: &mut [Vec<f64>], others: &[Vec<f64>]) {
    for (row, other) in rows.iter_mut().zip(others) {
        row.iter_mut().zip(other).for_each(|(value, other)| *value += other);
    }
}

fn gelu(x: f64) -> f64 {
    // The error function by its series; arguments of tests are small.
    let z = (x / 2f64.sqrt()).clamp(-5.0, 5.0);
    let (mut term, mut total, mut n) = (z, z, 0.0);
    while f64::abs(term) > 1e-18 {
        n += 1.0;
        term *= -z * z / n;
        total += term / (2.0 * n + 1.0);
    }
    x / 2.0 * (1.0 + total * 2.0 / std::f64::consts::PI.sqrt())
}

fn plain(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn quantise(block: &[f32]) -> (f32, Vec<u8>) {
    let largest = block.iter().fold(0f32, |largest, value| largest.max(value.abs()));
    let scale = f16::from_f32(largest / 7.0).to_f32();
    let code = |value: &f32| ((value / scale).round() + 8.0).clamp(0.0, 15.0) as u8;
    (scale, block.iter().map(code).collect())
}

fn pack(values: &[f32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for block in values.chunks(32) {
        let (scale, codes) = quantise(block);
        bytes.extend(f16::from_f32(scale).to_le_bytes());
        bytes.extend((0..16).map(|at| codes[at] | codes[at + 16] << 4));
    }
    bytes
}

struct Random(u64);

impl Random {
    /// Gives a number between -1 and 1.
    fn next(&mut self) -> f32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32 / (1u64 << 23) as f32) - 1.0
    }
}
