//! A node of a document by its pointer, cut to size: how an agent reads around a hit.

use ingest::ObjectError;
use model::{Around, Caller, Deadline};
use serde::Serialize;
use store::TypedObject;
use text::REDACTION_CONTEXT_CHARS;

use crate::access::Right;
use crate::json::{Event, Kind, Walk, pointer};
use crate::object_ids::TableId;
use crate::objects::Table;
use crate::outline::{MemberSize, Outline};
use crate::reader::Reader;
use crate::seek::{LocatedNode, OpenDocument};
use crate::tools::json_path;
use crate::{Error, Result, Service, limits};

/// Characters of a string before a stretch of it that are looked through for the headings of a
/// table that the stretch is in. It is eight times what is indexed of one string.
const MAX_HEAD_CHARS: usize = 4_000_000;

/// Which node, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRequest {
    /// Its pointer: seen from the tool, or from the document.
    pub json_path: String,
    /// How many characters of a string, or members of a list or object, to pass over.
    pub offset: usize,
    /// How many characters to give at most.
    pub max_chars: usize,
}

/// How a list or object is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Its JSON, as far as there is room.
    Text,
    /// The beginning of each member, and how much the member holds.
    Members,
}

/// A value of a document at its place, as much of it as fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Whose document it is in.
    pub table_id: TableId,
    /// The pointer as it was asked for.
    pub json_path: String,
    /// The absolute pointer.
    pub json_pointer: String,
    /// What it is: `object`, `array`, `string`, `number`, `boolean`, `null`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The characters of a string; the JSON of everything else, with long strings cut short.
    pub text: String,
    /// Where the text begins in a string, in characters.
    pub char_start: usize,
    /// Where it ends.
    pub char_end: usize,
    /// How many characters a string has.
    pub total_chars: Option<usize>,
    /// Whether something of the node is not in the text.
    pub truncated: bool,
    /// The `offset` of what follows, where something does.
    #[serde(skip)]
    pub next: Option<usize>,
    /// What is not in the text, and how to read it.
    pub warnings: Vec<String>,
    /// What each member in the text holds, where members were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberSize>,
    /// The characters of a string before the text, for redaction; they do not leave.
    #[serde(skip)]
    pub before: String,
    /// The characters of a string after the text, for redaction; they do not leave.
    #[serde(skip)]
    pub after: String,
    /// What the value is called, for redaction.
    #[serde(skip)]
    pub name: Option<String>,
}

impl Node {
    /// Gives what is around the text, which is at this place of an answer.
    pub fn around(&self, at: &str) -> Around {
        Around {
            name: self.name.clone(),
            ..Around::new(self.before.clone(), self.after.clone()).at(at)
        }
    }
}

/// Names of members that say nothing of their value: what is around them does.
const NAMELESS: &[&str] = &["value", "values", "default", "#text", "list", "items"];

/// Members that say what the member `value` beside them is.
const NAMES_BESIDE: &[&str] = &["name", "key", "Name", "Key"];

/// The longest of them that is looked at, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Gives what a value is called: the name of the member that holds it, or of the nearest one
/// around it that says more than that there is a value.
pub(crate) fn name_of(json_pointer: &str) -> Option<String> {
    let is_name = |part: &&str| {
        let is_nameless = NAMELESS.iter().any(|nameless| part.eq_ignore_ascii_case(nameless));
        part.parse::<u64>().is_err() && !is_nameless
    };
    let name = json_pointer.rsplit('/').find(is_name)?;
    Some(model::pointer_name(name).into_owned())
}

impl Service {
    /// Reads a node through a tool; its path begins at the tool's own.
    pub fn get_through(
        &self,
        caller: &Caller,
        tool: &str,
        request: &NodeRequest,
        deadline: &Deadline,
    ) -> Result<Node> {
        let tool = self.usable_tool(caller, tool)?;
        let missing = || Error::missing("Tool", tool.id.as_str());
        let (table, _) =
            Table::load(self.catalogue(), tool.table_id.as_str())?.ok_or_else(missing)?;
        self.node(&table, &tool.json_path, request, Shape::Text, deadline)
    }

    /// Reads a node of a table.
    pub fn get_node(
        &self,
        caller: &Caller,
        table: &str,
        request: &NodeRequest,
        deadline: &Deadline,
    ) -> Result<Node> {
        let (table, _) = self.table_of(caller, table, Right::Read)?;
        self.node(&table, "", request, Shape::Text, deadline)
    }

    /// Lists the members of a node of a table: each with its beginning, and how much it holds.
    /// Anything but a list or object is given as [`Service::get_node`] gives it.
    pub fn get_members(
        &self,
        caller: &Caller,
        table: &str,
        request: &NodeRequest,
        deadline: &Deadline,
    ) -> Result<Node> {
        let (table, _) = self.table_of(caller, table, Right::Read)?;
        self.node(&table, "", request, Shape::Members, deadline)
    }

    fn node(
        &self,
        table: &Table,
        scope: &str,
        request: &NodeRequest,
        shape: Shape,
        deadline: &Deadline,
    ) -> Result<Node> {
        let max_chars = request.max_chars.clamp(1, limits::MAX_NODE_CHARS);
        // More is read than is shown: what is private may reach over an edge, or be in a table
        // whose headings are far above.
        let kept = head_start(request.offset)
            ..request.offset.saturating_add(max_chars + REDACTION_CONTEXT_CHARS);
        let find = |wanted: &str| {
            let kept = kept.clone();
            OpenDocument::open(&self.0.catalogue, &table.document, Some(deadline), kept)?
                .ok_or(Error::Object(ObjectError::Busy))?
                .find(wanted)
        };
        let (wanted, LocatedNode { event, mut walk }) = located(scope, &request.json_path, find)?;
        let mut node = Node {
            table_id: table.id.clone(),
            json_path: pointer::relative(scope, &wanted).unwrap_or_default().to_owned(),
            json_pointer: wanted,
            kind: "",
            text: String::new(),
            char_start: 0,
            char_end: 0,
            total_chars: None,
            truncated: false,
            next: None,
            warnings: vec![],
            members: vec![],
            before: String::new(),
            after: String::new(),
            name: None,
        };
        node.name = match self.name_beside(table, &node.json_pointer, deadline)? {
            Some(name) => Some(name),
            None => name_of(&node.json_pointer),
        };
        match event {
            Event::Leaf(kind) => leaf(&mut node, kind, &walk, request.offset, max_chars),
            Event::Begin(kind) | Event::End(kind) => {
                node.kind = kind.as_str();
                let outline = match shape {
                    Shape::Text => Outline::read(&mut walk, kind, request.offset, max_chars)?,
                    Shape::Members => Outline::list(&mut walk, kind, request.offset, max_chars)?,
                };
                node.char_end = outline.text.chars().count();
                node.truncated = outline.is_cut();
                node.next = outline.next;
                node.warnings = outline.notices();
                node.text = outline.text;
                node.members = outline.sizes;
            }
        }
        Ok(node)
    }

    /// Gives what the members beside a `value` call it: `{"name": "password", "value": "…"}`. Who
    /// reads the value alone must not see what they would not see with its name.
    fn name_beside(
        &self,
        table: &Table,
        json_pointer: &str,
        deadline: &Deadline,
    ) -> Result<Option<String>> {
        let Some((object, member)) = json_pointer.rsplit_once('/') else { return Ok(None) };
        if !member.eq_ignore_ascii_case("value") {
            return Ok(None);
        }
        let kept = 0..MAX_NAME_CHARS;
        let opened = OpenDocument::open(&self.0.catalogue, &table.document, Some(deadline), kept)?;
        let Some(opened) = opened else { return Ok(None) };
        for name in NAMES_BESIDE {
            if let Some(found) = opened.find(&format!("{object}/{name}"))?
                && found.event == Event::Leaf(Kind::String)
                && text::is_secret_name(found.walk.text())
            {
                return Ok(Some(found.walk.text().to_owned()));
            }
        }
        Ok(None)
    }
}

/// Finds a node by its path in a scope: as a pointer, as another form that says the same, or as
/// results show it from the top of the document.
///
/// Fails as a pointer does where none of them leads anywhere.
fn located(
    scope: &str,
    path: &str,
    find: impl Fn(&str) -> Result<Option<LocatedNode>>,
) -> Result<(String, LocatedNode)> {
    let plain = model::pointer_of_path(path);
    let decoded = model::pointer_of_path(&model::percent_decoded(path));
    let mut tried: Vec<String> = Vec::new();
    for form in [path, &plain, &decoded] {
        // What nothing is left of is no other form of something.
        let is_nothing = form.is_empty() && !path.trim_matches(['#', '$', ' ']).is_empty();
        let Some(inside) = json_path(form).ok().filter(|_| !is_nothing) else { continue };
        let from_top = pointer::covers(scope, &inside).then(|| inside.clone());
        for wanted in std::iter::once(format!("{scope}{inside}")).chain(from_top) {
            if tried.contains(&wanted) {
                continue;
            }
            if let Some(found) = find(&wanted)? {
                return Ok((wanted, found));
            }
            tried.push(wanted);
        }
    }
    json_path(path)?;
    Err(Error::NoNode { pointer: path.to_owned() })
}

/// Gives the character of a string from which on it is read, for what is shown from `offset`.
fn head_start(offset: usize) -> usize {
    let from = offset.saturating_sub(REDACTION_CONTEXT_CHARS);
    if from <= MAX_HEAD_CHARS { 0 } else { from }
}

fn leaf(node: &mut Node, kind: Kind, walk: &Walk<Reader>, offset: usize, max_chars: usize) {
    node.kind = kind.as_str();
    if kind != Kind::String {
        walk.text().clone_into(&mut node.text);
        node.char_end = node.text.chars().count();
        return;
    }
    let mut chars = walk.text().chars();
    // What was read of it begins with the string, or with what has to be looked at.
    let n_head = offset - head_start(offset);
    let head: String = chars.by_ref().take(n_head).collect();
    node.before = text::context_before(&head);
    node.text = chars.by_ref().take(max_chars).collect();
    node.after = chars.collect();
    let n_chars = node.text.chars().count();
    let total = walk.n_chars();
    node.char_start = offset.min(total);
    node.char_end = node.char_start + n_chars;
    node.total_chars = Some(total);
    node.truncated = n_chars < total;
    if node.char_end < total {
        node.next = Some(node.char_end);
        let message = format!(
            "characters {} to {} of {total} are shown; the next begin at `offset` {}",
            node.char_start, node.char_end, node.char_end
        );
        node.warnings.push(message);
    }
}
