//! The boundary between the server and a tool.

use std::sync::Arc;

use model::{Around, Caller, Deadline, Warning};
use serde_json::{Map, Value};
use text::Budget;

use crate::{Spec, ToolError};

/// Something an agent may call.
///
/// Implementations are shared between threads and called on a thread that may block, but for
/// calls that say of themselves that they are instant.
pub trait Tool: Send + Sync {
    /// Describes the tool as this caller may see it; `None` when it does not exist for them.
    ///
    /// The description may differ between callers (an enum lists only what the caller may use),
    /// never between two calls of the same caller while the configuration is.
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>>;

    /// Tells whether the tool has something to work on for this caller. One that has not is left
    /// out of lists; calling it still says why it cannot answer.
    fn is_listed(&self, _caller: &Caller) -> bool {
        true
    }

    /// Does the work. The arguments have passed [`crate::accept`] against the input schema.
    ///
    /// The answer's value must satisfy the output schema. When the deadline is over, the tool
    /// gives what it has with a warning, or [`crate::Code::DeadlineExceeded`]; nobody may rely
    /// on it stopping at once.
    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError>;

    /// Tells whether these arguments take microseconds and never wait, so that the call may run
    /// where other calls are served. The arguments have passed
    /// [`crate::accept`].
    fn is_instant(&self, _arguments: &Map<String, Value>) -> bool {
        false
    }

    /// Suggests values for an argument that start with what was typed; at most 100.
    fn complete(&self, _caller: &Caller, _argument: &str, _typed: &str) -> Vec<String> {
        Vec::new()
    }
}

/// Who calls with what, and how long and large the answer may be.
pub struct Call<'a> {
    /// Who calls.
    pub caller: &'a Caller,
    /// The checked arguments.
    pub arguments: &'a Map<String, Value>,
    /// By when an answer is due.
    pub deadline: &'a Deadline,
    /// How much the answer may hold; a tool that gives a list ends it here and makes the cursor.
    pub budget: Budget,
    /// Where progress is told; reporting any turns the HTTP answer into a stream.
    pub progress: &'a (dyn Fn(Progress) + Send + Sync),
}

impl Call<'_> {
    /// Reads the arguments into the tool's own request type.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_value(Value::Object(self.arguments.clone()))
            .map_err(|error| ToolError::bad_request(format!("arguments do not fit: {error}")))
    }
}

/// How far a long call is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Units done.
    pub done: f64,
    /// Units in all, where known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

/// A resource that goes with an answer, as a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The address: a resource of this server or a page of it.
    pub uri: String,
    /// What a person reads.
    pub name: String,
    /// A media type, where it is known before it is read.
    pub mime_type: Option<String>,
}

/// A picture that goes with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The type of the file, such as `image/png`.
    pub mime_type: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The structured content; satisfies the tool's output schema.
    pub value: Value,
    /// Resources to open next.
    pub links: Vec<Link>,
    /// Pictures to look at, where the caller asked for them.
    pub images: Vec<Image>,
    /// How many results it holds, for the audit.
    pub n_results: u64,
    /// What is around pieces of source text in the value; it is looked at and never leaves.
    pub around: Vec<Around>,
    /// The places that hold source text, where they are not those of the tool's description.
    pub source_text: Option<Vec<String>>,
}

impl Answer {
    /// Wraps a value that counts as one result.
    pub fn new(value: Value) -> Self {
        Answer {
            value,
            links: Vec::new(),
            images: Vec::new(),
            n_results: 1,
            source_text: None,
            around: Vec::new(),
        }
    }

    /// Wraps a serialisable value; its `warnings` become plain sentences.
    pub fn of<T: serde::Serialize>(value: &T) -> Result<Self, ToolError> {
        let mut value = serde_json::to_value(value).map_err(|error| {
            ToolError::internal(format!("the answer could not be written as JSON: {error}"))
        })?;
        if let Some(Value::Array(warnings)) = value.get_mut("warnings") {
            warnings.iter_mut().for_each(to_sentence);
        }
        Ok(Answer::new(value))
    }

    /// Sets the number of results.
    pub fn with_n_results(mut self, n_results: usize) -> Self {
        self.n_results = n_results as u64;
        self
    }

    /// Says what is in the source around a piece of it, so that reading in pieces reveals
    /// nothing that reading at once does not.
    pub fn with_around(mut self, around: Around) -> Self {
        self.around.push(around);
        self
    }

    /// Names the places of this answer that hold source text.
    pub fn with_source_text(mut self, paths: Vec<String>) -> Self {
        self.source_text = Some(paths);
        self
    }

    /// Adds a link.
    pub fn with_link(mut self, link: Link) -> Self {
        self.links.push(link);
        self
    }

    /// Adds a picture.
    pub fn with_image(mut self, image: Image) -> Self {
        self.images.push(image);
        self
    }

    /// Adds warnings to the answer's `warnings` list; a warning is its sentence.
    pub fn with_warnings(mut self, warnings: &[Warning]) -> Self {
        if warnings.is_empty() {
            return self;
        }
        if let Value::Object(object) = &mut self.value {
            let list = object.entry("warnings").or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.extend(warnings.iter().map(|warning| Value::String(warning.message.clone())));
            }
        }
        self
    }
}

impl Answer {
    /// Adds sentences to the answer's `warnings` list.
    pub fn with_notes(self, notes: Vec<String>) -> Self {
        let notes: Vec<Warning> =
            notes.into_iter().map(|note| Warning::new("understood", note)).collect();
        self.with_warnings(&notes)
    }
}

/// An agent reads a warning as a sentence; its code is for other crates.
fn to_sentence(warning: &mut Value) {
    if let Some(Value::String(message)) = warning.get_mut("message") {
        *warning = Value::String(std::mem::take(message));
    }
}
