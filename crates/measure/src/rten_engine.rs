//! The same graphs run by `rten`, the engine that other models use here.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use infer::bench::Batches;
use rten::{Model, NodeId, ValueOrView};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;

use crate::embedders::EngineFigures;

/// Texts of one batch, as for onnxruntime.
const BATCH: usize = 16;

/// Times the graphs in a folder; one that cannot be loaded or run has no figures.
pub(crate) fn measure(folder: &Path, request: &Batches) -> Option<EngineFigures> {
    let f32 = Graph::open(&folder.join("f32.onnx"))?;
    let int8 = Graph::open(&folder.join("int8.onnx"));
    let each = |graph: &Graph| request.texts.iter().map(|text| graph.embed(&[&text[..]])).collect();
    let flat = |vectors: Option<Vec<Vec<Vec<f32>>>>| vectors.unwrap_or_default().concat();
    Some(EngineFigures {
        engine: "rten".to_owned(),
        version: "0.27".to_owned(),
        vectors: flat(each(&f32)),
        f32: f32.time(request),
        int8: int8.as_ref().map(|graph| graph.time(request)).unwrap_or_default(),
        int8_vectors: flat(int8.as_ref().and_then(each)),
    })
}

struct Graph {
    model: Model,
    ids: NodeId,
    mask: NodeId,
    positions: NodeId,
    output: NodeId,
}

impl Graph {
    fn open(path: &Path) -> Option<Self> {
        let model = Model::load_file(path).ok()?;
        Some(Graph {
            ids: model.find_node("input_ids")?,
            mask: model.find_node("attention_mask")?,
            positions: model.find_node("position_ids")?,
            output: model.find_node("last_hidden_state")?,
            model,
        })
    }

    /// Gives the best time of each batch in seconds.
    fn time(&self, request: &Batches) -> BTreeMap<String, f64> {
        let mut seconds = BTreeMap::new();
        for (name, texts) in &request.batches {
            let mut best = f64::INFINITY;
            for _ in 0..request.repeats {
                let begun = Instant::now();
                for batch in texts.chunks(BATCH) {
                    let batch: Vec<&[u32]> = batch.iter().map(Vec::as_slice).collect();
                    if self.embed(&batch).is_none() {
                        return BTreeMap::new();
                    }
                }
                best = best.min(begun.elapsed().as_secs_f64());
            }
            seconds.insert(name.clone(), best);
        }
        seconds
    }

    /// Gives the mean of the last states over the tokens, of length 1.
    fn embed(&self, batch: &[&[u32]]) -> Option<Vec<Vec<f32>>> {
        let length = batch.iter().map(|text| text.len()).max()?;
        let padded = |of: &dyn Fn(&[u32], usize) -> i32| {
            let values = batch.iter().flat_map(|text| (0..length).map(|at| of(text, at)));
            NdTensor::from_data([batch.len(), length], values.collect::<Vec<i32>>())
        };
        let ids = padded(&|text, at| text.get(at).map_or(1, |id| *id as i32));
        let mask = padded(&|text, at| i32::from(at < text.len()));
        let positions = NdTensor::from_data([length], (0..length as i32).collect::<Vec<i32>>());
        let inputs = vec![
            (self.ids, ValueOrView::from(ids)),
            (self.mask, ValueOrView::from(mask)),
            (self.positions, ValueOrView::from(positions)),
        ];
        let [output] = self.model.run_n(inputs, [self.output], None).ok()?;
        let states: rten_tensor::Tensor<f32> = output.into_tensor()?;
        let hidden = states.shape().last().copied()?;
        let states = states.to_vec();
        let pooled = batch.iter().enumerate().map(|(row, text)| {
            let mut sum = vec![0.0f32; hidden];
            for at in 0..text.len() {
                let from = (row * length + at) * hidden;
                for (sum, state) in sum.iter_mut().zip(&states[from..from + hidden]) {
                    *sum += state;
                }
            }
            let norm = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
            sum.iter().map(|value| value / norm).collect()
        });
        Some(pooled.collect())
    }
}
