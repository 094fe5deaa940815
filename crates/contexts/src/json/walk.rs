//! The nodes of a document, one after the other.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::ops::Range;

use super::error::{JsonError, Problem};
use super::input::Input;
use super::marks::{Marker, Marks};
use super::pointer::push_key;
use crate::limits;

/// Keys of an object beyond which they are found by hashing instead of by looking at each.
const FEW_KEYS: usize = 32;

/// How much of a duplicate key is shown.
const SHOWN_CHARS: usize = 200;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// Digits.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `null`
    Null,
}

impl Kind {
    /// Gives the word that answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Object => "object",
            Kind::Array => "array",
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::Null => "null",
        }
    }
}

/// One step of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A container begins; its children follow.
    Begin(Kind),
    /// The container that the pointer names ends.
    End(Kind),
    /// A node without children.
    Leaf(Kind),
}

/// What a whole document holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Nodes of every kind.
    pub n_nodes: u64,
    /// Strings among them; keys do not count.
    pub n_strings: u64,
    /// How deep containers nest.
    pub depth: usize,
}

/// Reads a document to its end and tells what is in it, and where a walk can begin.
///
/// A document that is no JSON, or cannot be taken exactly, is refused with the position.
pub(crate) fn check<R: Read>(
    open: impl Fn() -> std::io::Result<R>,
) -> Result<(Summary, Marks), JsonError> {
    match summarise(Walk::new(open()?)) {
        // Keys are told apart by a hash. Two different ones with the same hash come up once in a
        // million of the largest documents, and not again under another hash.
        Err(JsonError::Invalid { problem: Problem::DuplicateKey { .. }, .. }) => {
            summarise(Walk::new(open()?))
        }
        summary => summary,
    }
}

fn summarise<R: Read>(mut walk: Walk<R>) -> Result<(Summary, Marks), JsonError> {
    walk.keep_text(0..0);
    let mut summary = Summary::default();
    let mut marker = Marker::default();
    while let Some(event) = walk.next()? {
        marker.see(event, &walk);
        match event {
            Event::End(_) => continue,
            Event::Begin(_) => summary.depth = summary.depth.max(walk.depth()),
            Event::Leaf(kind) => summary.n_strings += u64::from(kind == Kind::String),
        }
        summary.n_nodes += 1;
    }
    Ok((summary, marker.into_marks()))
}

/// A walk over a document. After each event, the getters tell about its node.
pub struct Walk<R> {
    pub(super) input: Input<R>,
    is_begun: bool,
    /// Whether the next child is the first that this walk sees, though others are before it.
    is_resumed: bool,
    stack: Vec<Frame>,
    pointer: String,
    /// Where the member of the last event begins, its key included.
    place: u64,
    /// Where the node of the last event begins.
    start: u64,
    pub(super) text: String,
    pub(super) n_chars: usize,
    kept: Range<usize>,
    hasher: RandomState,
    /// Hashes of the keys of all open objects that have few, innermost last.
    hashes: Vec<u64>,
    n_keys: usize,
}

/// A container that is open.
struct Frame {
    kind: Kind,
    n_children: u64,
    /// The length of the container's own pointer.
    pointer_len: usize,
    /// Where its hashes begin.
    hashes_start: usize,
    /// The hashes of an object with many keys.
    many: Option<Box<ManyKeys>>,
}

/// The hashes of many keys. It is in a box of its own, so that the frames of a document that
/// nests a million levels deep stay small.
struct ManyKeys(HashSet<u64>);

impl<R: Read> Walk<R> {
    /// Walks a document from its beginning.
    pub fn new(reader: R) -> Self {
        Walk::from(reader, 0, "")
    }

    /// Walks one node of a document: the reader is `before` bytes into it, at the node that
    /// the pointer names. What follows the node is not looked at.
    pub fn from(reader: R, before: u64, pointer: &str) -> Self {
        Walk {
            input: Input::new(reader, before),
            is_begun: false,
            is_resumed: false,
            stack: vec![],
            pointer: pointer.to_owned(),
            place: before,
            start: before,
            text: String::new(),
            n_chars: 0,
            kept: 0..usize::MAX,
            hasher: RandomState::new(),
            hashes: vec![],
            n_keys: 0,
        }
    }

    /// Walks the rest of a container that the pointer names: the reader is `before` bytes
    /// into the document, at a child with `n_children` others before it. What follows the
    /// container is not looked at.
    pub(crate) fn inside(
        reader: R,
        before: u64,
        pointer: &str,
        kind: Kind,
        n_children: u64,
    ) -> Self {
        let mut walk = Walk::from(reader, before, pointer);
        (walk.is_begun, walk.is_resumed) = (true, true);
        walk.stack.push(Frame {
            kind,
            n_children,
            pointer_len: pointer.len(),
            hashes_start: 0,
            many: None,
        });
        walk
    }

    /// Says which characters of a string are kept; the others are only counted.
    pub fn keep_text(&mut self, chars: Range<usize>) {
        self.kept = chars;
    }

    /// Gives the pointer of the node.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Gives the string, as far as it is kept, or the digits of a number.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Counts the characters of the string, kept or not.
    pub fn n_chars(&self) -> usize {
        self.n_chars
    }

    /// Counts the containers that are open; one that just began is among them.
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Gives the bytes before the node.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Gives the bytes before the member that the node is: before its key in an object.
    pub(crate) fn place(&self) -> u64 {
        self.place
    }

    /// Gives the bytes before what follows the event.
    pub fn offset(&self) -> u64 {
        self.input.offset()
    }

    /// Gives the next node; nothing at the end of the document.
    #[expect(clippy::should_implement_trait, reason = "an event is looked at through the walk")]
    pub fn next(&mut self) -> Result<Option<Event>, JsonError> {
        if !self.is_begun {
            self.is_begun = true;
            self.input.skip_mark()?;
            self.input.skip_space()?;
            self.place = self.input.offset();
            return self.value().map(Some);
        }
        let Some(frame) = self.stack.last_mut() else {
            self.input.skip_space()?;
            return match self.input.peek()? {
                None => Ok(None),
                Some(_) => Err(self.unexpected("the end of the document")?),
            };
        };
        self.pointer.truncate(frame.pointer_len);
        let (kind, n_children) = (frame.kind, frame.n_children);
        frame.n_children += 1;
        let is_first = std::mem::take(&mut self.is_resumed) || n_children == 0;
        let (close, comma_or_end, first_or_end) = if kind == Kind::Object {
            (b'}', "`,` or `}`", "a key or `}`")
        } else {
            (b']', "`,` or `]`", "a value or `]`")
        };
        self.input.skip_space()?;
        match self.input.peek()? {
            Some(byte) if byte == close => {
                self.input.take(1);
                return Ok(Some(self.end(kind)));
            }
            Some(b',') if !is_first => {
                self.input.take(1);
                self.input.skip_space()?;
            }
            Some(_) if is_first => {}
            None if is_first => {
                return Err(self.invalid(Problem::Ended { expected: first_or_end }));
            }
            Some(_) | None => return Err(self.unexpected(comma_or_end)?),
        }
        self.place = self.input.offset();
        if kind == Kind::Object {
            self.key()?;
        } else {
            self.pointer.push('/');
            self.pointer.push_str(&n_children.to_string());
        }
        self.value().map(Some)
    }

    fn end(&mut self, kind: Kind) -> Event {
        if let Some(frame) = self.stack.pop() {
            let n_many = frame.many.as_ref().map_or(0, |many| many.0.len());
            self.n_keys -= n_many + (self.hashes.len() - frame.hashes_start);
            self.hashes.truncate(frame.hashes_start);
        }
        Event::End(kind)
    }

    /// Reads a value; blanks before it are gone.
    fn value(&mut self) -> Result<Event, JsonError> {
        const EXPECTED: &str = "a value";
        self.start = self.input.offset();
        let Some(byte) = self.input.peek()? else {
            return Err(self.invalid(Problem::Ended { expected: EXPECTED }));
        };
        match byte {
            b'{' => self.begin(Kind::Object),
            b'[' => self.begin(Kind::Array),
            b'"' => {
                self.input.take(1);
                let kept = self.kept.clone();
                self.string(&kept, usize::MAX)?;
                Ok(Event::Leaf(Kind::String))
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Kind::Boolean),
            b'f' => self.word("false", Kind::Boolean),
            b'n' => self.word("null", Kind::Null),
            _ => Err(self.unexpected(EXPECTED)?),
        }
    }

    fn begin(&mut self, kind: Kind) -> Result<Event, JsonError> {
        if self.stack.len() >= limits::MAX_DEPTH {
            return Err(self.invalid(Problem::TooDeep { allowed: limits::MAX_DEPTH }));
        }
        self.input.take(1);
        self.stack.push(Frame {
            kind,
            n_children: 0,
            pointer_len: self.pointer.len(),
            hashes_start: self.hashes.len(),
            many: None,
        });
        Ok(Event::Begin(kind))
    }

    /// Reads a key and the colon behind it, and goes on to its pointer.
    fn key(&mut self) -> Result<(), JsonError> {
        const EXPECTED: &str = "a key in quotes";
        let position = self.input.position();
        match self.input.peek()? {
            Some(b'"') => self.input.take(1),
            _ => return Err(self.unexpected(EXPECTED)?),
        }
        self.string(&(0..usize::MAX), limits::MAX_KEY_BYTES)?;
        if !self.remember_key() {
            let key = self.text.chars().take(SHOWN_CHARS).collect();
            let problem = Problem::DuplicateKey { key };
            return Err(JsonError::Invalid { problem, position });
        }
        if self.n_keys > limits::MAX_OPEN_KEYS {
            let problem = Problem::TooManyKeys { allowed: limits::MAX_OPEN_KEYS };
            return Err(JsonError::Invalid { problem, position });
        }
        push_key(&mut self.pointer, &self.text);
        self.input.skip_space()?;
        match self.input.peek()? {
            Some(b':') => self.input.take(1),
            _ => return Err(self.unexpected("`:`")?),
        }
        self.input.skip_space()
    }

    /// Notes the key in the text; false when its object has it already.
    fn remember_key(&mut self) -> bool {
        let hash = self.hasher.hash_one(self.text.as_bytes());
        let Some(frame) = self.stack.last_mut() else { return true };
        let is_new = match &mut frame.many {
            Some(many) => many.0.insert(hash),
            None => {
                let few = &self.hashes[frame.hashes_start..];
                let is_new = !few.contains(&hash);
                if is_new && few.len() >= FEW_KEYS {
                    let mut many: HashSet<u64> = few.iter().copied().collect();
                    many.insert(hash);
                    self.hashes.truncate(frame.hashes_start);
                    frame.many = Some(Box::new(ManyKeys(many)));
                } else if is_new {
                    self.hashes.push(hash);
                }
                is_new
            }
        };
        self.n_keys += usize::from(is_new);
        is_new
    }

    fn number(&mut self) -> Result<Event, JsonError> {
        self.text.clear();
        self.n_chars = 0;
        self.take_if(b"-")?;
        match self.input.peek()? {
            Some(b'0') => {
                self.take_if(b"0")?;
            }
            _ => self.digits()?,
        }
        if self.take_if(b".")? {
            self.digits()?;
        }
        if self.take_if(b"eE")? {
            self.take_if(b"+-")?;
            self.digits()?;
        }
        Ok(Event::Leaf(Kind::Number))
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let mut n_digits = 0;
        while self.take_if(b"0123456789")? {
            n_digits += 1;
        }
        if n_digits == 0 {
            return Err(self.unexpected("a digit")?);
        }
        Ok(())
    }

    /// Takes the next byte of a number when it is one of these.
    fn take_if(&mut self, allowed: &[u8]) -> Result<bool, JsonError> {
        let Some(byte) = self.input.peek()?.filter(|byte| allowed.contains(byte)) else {
            return Ok(false);
        };
        if self.text.len() >= limits::MAX_NUMBER_BYTES {
            return Err(self.invalid(Problem::NumberTooLong { allowed: limits::MAX_NUMBER_BYTES }));
        }
        self.text.push(char::from(byte));
        self.input.take(1);
        Ok(true)
    }

    fn word(&mut self, word: &'static str, kind: Kind) -> Result<Event, JsonError> {
        for byte in word.bytes() {
            if self.input.peek()? != Some(byte) {
                return Err(self.unexpected("`true`, `false` or `null`")?);
            }
            self.input.take(1);
        }
        self.text.clear();
        self.text.push_str(word);
        self.n_chars = 0;
        Ok(Event::Leaf(kind))
    }

    pub(super) fn unexpected(&mut self, expected: &'static str) -> Result<JsonError, JsonError> {
        Ok(match self.input.next_char()? {
            None => self.invalid(Problem::Ended { expected }),
            Some(found) => self.invalid(Problem::Unexpected { found, expected }),
        })
    }

    pub(super) fn invalid(&self, problem: Problem) -> JsonError {
        JsonError::Invalid { problem, position: self.input.position() }
    }
}
