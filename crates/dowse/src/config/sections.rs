//! The configuration as a whole. Each section belongs to the crate that uses it.

use std::path::PathBuf;

use contexts::ContextsConfig;
use files::FilesConfig;
use filters::charts::ChartsConfig;
use filters::{DimensionConfig, FiltersConfig};
use guard::{AuditConfig, AuthConfig, LimitsConfig};
use knowledge::KnowledgeConfig;
use serde::Deserialize;
use serve::{ConsoleConfig, ServerConfig};
use tables::{ExportsConfig, TableConfig};
use tools::tables::ViewConfig;

use super::StoreConfig;

/// Everything that can be set. Paths are relative to the file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// The folder of the file, where relative paths start.
    #[serde(skip)]
    pub(crate) base: PathBuf,
    /// Where everything that Dowse keeps is kept.
    pub(crate) data_dir: PathBuf,
    /// Where and under which names it serves.
    pub(crate) server: ServerConfig,
    /// Who may call; absent: loopback only, everyone is the local administrator.
    pub(crate) auth: AuthConfig,
    /// How much.
    pub(crate) limits: LimitsConfig,
    /// What is written down.
    pub(crate) audit: AuditConfig,
    /// Pages for people.
    pub(crate) console: ConsoleConfig,
    /// Where pulled models are kept; a folder of the user unless set.
    pub(crate) models_dir: Option<PathBuf>,
    /// What turns text into vectors.
    pub(crate) embedder: EmbedderConfig,
    /// What reads the best candidates once more.
    pub(crate) reranker: RerankerConfig,
    /// What writes summaries and answers.
    pub(crate) llm: LlmConfig,
    /// Where everything that is kept is, and which engine searches it.
    pub(crate) store: StoreConfig,
    /// Folders that can be searched.
    pub(crate) files: FilesConfig,
    /// Documents of knowledge bases.
    pub(crate) knowledge: KnowledgeConfig,
    /// How JSON documents are taken in and cut.
    pub(crate) contexts: ContextsConfig,
    /// When a name is sure enough to be taken without asking.
    pub(crate) filters: FiltersConfig,
    /// Names and codes that can be looked up.
    pub(crate) dimensions: Vec<DimensionConfig>,
    /// The facts under charts.
    pub(crate) charts: Option<ChartsConfig>,
    /// Tables that can be queried.
    pub(crate) tables: Vec<TableConfig>,
    /// Saved questions about tables.
    pub(crate) views: Vec<ViewConfig>,
    /// Links to whole results of tables.
    pub(crate) exports: ExportsConfig,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            base: PathBuf::new(),
            data_dir: PathBuf::from(".dowse"),
            server: ServerConfig::default(),
            auth: AuthConfig::default(),
            limits: LimitsConfig::default(),
            audit: AuditConfig::default(),
            console: ConsoleConfig::default(),
            models_dir: None,
            embedder: EmbedderConfig::default(),
            reranker: RerankerConfig::default(),
            llm: LlmConfig::default(),
            store: StoreConfig::default(),
            files: FilesConfig::default(),
            knowledge: KnowledgeConfig::default(),
            contexts: ContextsConfig::default(),
            filters: FiltersConfig::default(),
            dimensions: Vec::new(),
            charts: None,
            tables: Vec::new(),
            views: Vec::new(),
            exports: ExportsConfig::default(),
        }
    }
}

/// `[embedder]`: what turns text into vectors.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct EmbedderConfig {
    /// Where vectors are made.
    pub(crate) provider: EmbedderProvider,
    /// A known name, or a folder with `model.onnx` and `tokenizer.json`; the provider's name.
    pub(crate) model: String,
    /// The language that an HTTP provider speaks: `openai`, `tei` or `ollama`.
    pub(crate) api: String,
    /// The address of an HTTP provider.
    pub(crate) base_url: Option<String>,
    /// The variable that holds its key.
    pub(crate) api_key_env: Option<String>,
    /// The length of its vectors; asked of the provider when it is not given.
    pub(crate) dimensions: Option<usize>,
    /// What is before a query.
    pub(crate) query_prefix: String,
    /// What is before a passage.
    pub(crate) passage_prefix: String,
}

/// Where vectors are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EmbedderProvider {
    /// In this process.
    Local,
    /// By a server.
    Http,
    /// Nowhere: search works on words alone.
    None,
}

impl Default for EmbedderConfig {
    fn default() -> Self {
        EmbedderConfig {
            provider: EmbedderProvider::Local,
            model: "multilingual-e5-small".to_owned(),
            api: "openai".to_owned(),
            base_url: None,
            api_key_env: None,
            dimensions: None,
            query_prefix: String::new(),
            passage_prefix: String::new(),
        }
    }
}

/// `[reranker]`: what reads the best candidates once more, each together with the query.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RerankerConfig {
    /// Where candidates are judged.
    pub(crate) provider: RerankerProvider,
    /// A folder with `model.onnx` and `tokenizer.json`, or a pulled name; the provider's name.
    pub(crate) model: String,
    /// The language that an HTTP provider speaks: `tei`, `jina` or `cohere`.
    pub(crate) api: String,
    /// The address of an HTTP provider.
    pub(crate) base_url: Option<String>,
    /// The variable that holds its key.
    pub(crate) api_key_env: Option<String>,
}

/// Where candidates are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RerankerProvider {
    /// By the token vectors of the embedder, which come with the index.
    Builtin,
    /// By a cross-encoder in this process.
    Local,
    /// By a server.
    Http,
    /// Nowhere: candidates stay in the order of words and vectors.
    None,
}

impl Default for RerankerConfig {
    fn default() -> Self {
        RerankerConfig {
            provider: RerankerProvider::Builtin,
            model: String::new(),
            api: "tei".to_owned(),
            base_url: None,
            api_key_env: None,
        }
    }
}

/// `[llm]`: what writes summaries and answers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LlmConfig {
    /// What kind of server.
    pub(crate) provider: LlmProvider,
    /// Its address.
    pub(crate) base_url: String,
    /// The model's name there.
    pub(crate) model: String,
    /// The variable that holds its key.
    pub(crate) api_key_env: Option<String>,
}

/// What kind of server writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LlmProvider {
    /// None: summaries are extractive.
    None,
    /// Any server that is compatible with OpenAI.
    Openai,
    /// Ollama's own API.
    Ollama,
}

impl Default for LlmConfig {
    fn default() -> Self {
        LlmConfig {
            provider: LlmProvider::None,
            base_url: "http://127.0.0.1:11434".to_owned(),
            model: "gpt-4.1-mini".to_owned(),
            api_key_env: None,
        }
    }
}
