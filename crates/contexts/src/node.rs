//! A node of a document by its pointer, cut to size: how an agent reads around a hit.

use ingest::ObjectError;
use model::{Around, Caller, Deadline};
use serde::Serialize;
use store::TypedObject;
use text::{LateNames, REDACTION_CONTEXT_CHARS};

use crate::access::Right;
use crate::json::{Event, Kind, Walk, pointer};
use crate::object_ids::{TableId, ToolId};
use crate::objects::Table;
use crate::outline::{MemberSize, Outline};
use crate::reader::Reader;
use crate::seek::{LocatedNode, OpenDocument};
use crate::tools::json_path;
use crate::{Error, Result, Service, headings, limits};

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
    /// The headings of the table that a string is a row of, for redaction.
    #[serde(skip)]
    pub heading: Option<String>,
}

impl Node {
    /// Gives what is around the text, which is at this place of an answer.
    pub fn around(&self, at: &str) -> Around {
        Around {
            name: self.name.clone(),
            heading: self.heading.clone(),
            ..Around::new(self.before.clone(), self.after.clone()).at(at)
        }
    }
}

/// What names elsewhere say of a node.
#[derive(Debug)]
enum Elsewhere {
    Nothing,
    IsPrivate,
    /// What has to be read before it, so that names of columns hold in it.
    Names(String),
    /// The headings of the table that it is a row of.
    IsRow(String),
}

/// What a value is called that is private by a name elsewhere.
const PRIVATE_NAME: &str = "password";

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
        tool: &ToolId,
        request: &NodeRequest,
        deadline: &Deadline,
    ) -> Result<Node> {
        let tool = self.usable_tool(caller, tool)?;
        let missing = || Error::missing("Tool", tool.id.as_str());
        let (table, _) = Table::load(self.catalogue(), &tool.table_id)?.ok_or_else(missing)?;
        self.node(&table, &tool.json_path, request, Shape::Text, deadline)
    }

    /// Reads a node of a table.
    pub fn get_node(
        &self,
        caller: &Caller,
        table: &TableId,
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
        table: &TableId,
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
        let opened = OpenDocument::open(&self.0.catalogue, &table.document, Some(deadline), kept)?
            .ok_or(Error::Object(ObjectError::Busy))?;
        let find = |wanted: &str| opened.find(wanted);
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
            heading: None,
        };
        node.name = match name_beside(&opened, &node.json_pointer)? {
            Some(name) => Some(name),
            None => name_of(&node.json_pointer),
        };
        let (mut string, mut cut_member) = (None, None);
        match event {
            Event::Leaf(kind) => {
                leaf(&mut node, kind, &walk, request.offset, max_chars);
                string = (kind == Kind::String).then(|| walk.text().to_owned());
            }
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
                cut_member = outline.cut_member;
            }
        }
        let (string, cut_member) = (string.as_deref(), cut_member.as_deref());
        match said_elsewhere(&opened, &node, request.offset, string, cut_member)? {
            Elsewhere::Nothing => {}
            Elsewhere::IsPrivate if node.name.as_deref().is_some_and(text::is_secret_name) => {}
            Elsewhere::IsPrivate => node.name = Some(PRIVATE_NAME.to_owned()),
            Elsewhere::Names(opening) => node.before = opening,
            Elsewhere::IsRow(heading) => node.heading = Some(heading),
        }
        read_inside(&mut node);
        Ok(node)
    }
}

/// Lets a node be read inside of the nearest object around it that is called a secret.
fn read_inside(node: &mut Node) {
    let is_string = node.kind == Kind::String.as_str();
    let Some(opening) = opening_around(&node.json_pointer, is_string) else { return };
    node.before.insert_str(0, &opening);
    if is_string {
        node.after.push_str(CLOSING);
    }
}

/// What ends a string that is read inside of an object.
pub(crate) const CLOSING: &str = "\"}";

/// Gives a text to read before a node so that it is in the nearest object around it that is called
/// a secret: `{"secrets": {"ann": "…"}}` hides what is in it, whatever its members are called.
pub(crate) fn opening_around(json_pointer: &str, is_string: bool) -> Option<String> {
    let parts = pointer::components(json_pointer).ok()?;
    let (_, around) = parts.split_last()?;
    let from = around.iter().rposition(|name| text::is_secret_name(name))?;
    let mut opening = String::new();
    for part in parts.get(from..)? {
        match part.parse::<u64>() {
            Ok(_) => opening.push('['),
            Err(_) => opening.push_str(&format!("{{{}: ", serde_json::Value::from(part.as_str()))),
        }
    }
    if is_string {
        opening.push('"');
    }
    Some(opening)
}

/// Gives what is said of a node by names that are not in it, nor above it.
fn said_elsewhere(
    document: &OpenDocument,
    node: &Node,
    offset: usize,
    string: Option<&str>,
    cut_member: Option<&str>,
) -> Result<Elsewhere> {
    let json_pointer = &node.json_pointer;
    let opened = document.keeping(0..headings::NAME_CHARS);
    let mut headings = headings::at(&opened, json_pointer, LateNames::default())?;
    let is_of_pair = |pointer: &str| headings::is_of_pair(&opened, pointer);
    let is_second_alone = offset == 1 && is_of_pair(&format!("{json_pointer}/1"))?;
    if headings.hides_next() || is_second_alone || is_of_pair(json_pointer)? {
        return Ok(Elsewhere::IsPrivate);
    }
    if let Some(string) = string {
        return Ok(headings.headings_of(string).map_or(Elsewhere::Nothing, Elsewhere::IsRow));
    }
    headings::enter(&opened, json_pointer, None, &mut headings)?;
    // Of a member that is not shown in full the names may be in the other part.
    let late = match cut_member {
        Some(member) => {
            let mut inner = headings::at(&opened, member, LateNames::default())?;
            headings::enter(&opened, member, None, &mut inner)?;
            inner.into_late()
        }
        None => LateNames::default(),
    };
    Ok(headings.opening(offset, &late).map_or(Elsewhere::Nothing, Elsewhere::Names))
}

/// Gives what the members beside a `value` call it: `{"name": "password", "value": "…"}`. Who
/// reads the value alone must not see what they would not see with its name.
fn name_beside(document: &OpenDocument, json_pointer: &str) -> Result<Option<String>> {
    let Some((object, member)) = json_pointer.rsplit_once('/') else { return Ok(None) };
    if !member.eq_ignore_ascii_case("value") {
        return Ok(None);
    }
    let document = document.keeping(0..MAX_NAME_CHARS);
    for name in NAMES_BESIDE {
        if let Some(found) = document.find(&format!("{object}/{name}"))?
            && found.event == Event::Leaf(Kind::String)
            && text::is_secret_name(found.walk.text())
        {
            return Ok(Some(found.walk.text().to_owned()));
        }
    }
    Ok(None)
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
