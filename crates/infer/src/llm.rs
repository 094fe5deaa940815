//! Prompt to text: the contract of every language model.

use model::Deadline;

use crate::Result;

/// Who speaks in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The rules of the conversation.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// Gives the role's name in the protocols.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub text: String,
}

impl Message {
    /// Makes a message of the rules.
    pub fn system(text: impl Into<String>) -> Self {
        Message { role: Role::System, text: text.into() }
    }

    /// Makes a message of the one who asks.
    pub fn user(text: impl Into<String>) -> Self {
        Message { role: Role::User, text: text.into() }
    }
}

/// What a completion cost, as the provider counted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokensUsed {
    /// Tokens read.
    pub prompt: u64,
    /// Tokens written.
    pub completion: u64,
}

/// What the model wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    /// As it was written, with white space around it.
    pub text: String,
    /// What it cost; zeros when the provider does not say.
    pub tokens_used: TokensUsed,
    /// Whether the text ends because of `max_tokens`.
    pub is_truncated: bool,
}

/// Whether a streamed completion should go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continue {
    /// More, please.
    Yes,
    /// The reader has gone; what was written so far is the completion.
    No,
}

/// Writes text from messages. Blocking and safe to share between threads.
pub trait Llm: Send + Sync {
    /// Gives provider and model, such as `ollama/llama3.2`.
    fn name(&self) -> &str;

    /// Writes an answer of at most `max_tokens` tokens.
    ///
    /// Fails when the provider fails or the deadline is over.
    fn complete(
        &self,
        messages: &[Message],
        max_tokens: u32,
        deadline: &Deadline,
    ) -> Result<Completion>;

    /// Writes an answer and gives each piece to `on_piece` as it comes.
    ///
    /// A stream that breaks is an error, even when pieces were given already.
    fn complete_streaming(
        &self,
        messages: &[Message],
        max_tokens: u32,
        deadline: &Deadline,
        on_piece: &mut dyn FnMut(&str) -> Continue,
    ) -> Result<Completion>;
}
