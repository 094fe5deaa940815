//! The values of a JSON file read back from the text of its blocks.

use model::{Passage, Pointer};

use crate::whole_text::WholeText;

use super::elements::{Counted, Elsewhere, Firsts};
use super::forms::{Step, readings, unescaped};

/// Longer words before a colon are no key.
const MAX_KEY_CHARS: usize = 200;

/// Is between the names of a line.
const BETWEEN: char = '.';

/// One value of the file.
pub(super) struct Line {
    /// Where it begins, in characters of the file's text.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) steps: Vec<Step>,
    /// The number of an element in a list that is not known to be one.
    pub(super) elsewhere: Option<Elsewhere>,
}

/// Reads the values of the file back, block by block; the wanted pointer tells names as well.
pub(super) fn lines(passages: &[Passage], wanted: &str) -> Vec<Line> {
    let names = Names::of(passages, wanted);
    let (mut lines, mut firsts) = (Vec::new(), Firsts::default());
    let mut begin = 0;
    while let Some(passage) = passages.get(begin) {
        let n_passages =
            passages[begin..].iter().take_while(|one| one.pointer == passage.pointer).count();
        if let Pointer::Json(pointer) = &passage.pointer {
            let block = &passages[begin..begin + n_passages];
            lines_of(pointer, block, &names, &mut firsts, &mut lines);
        }
        begin += n_passages;
    }
    lines
}

fn lines_of(
    pointer: &str,
    block: &[Passage],
    names: &Names,
    firsts: &mut Firsts,
    lines: &mut Vec<Line>,
) {
    let text = WholeText::of(block, &crate::lines::Lines::default());
    let text_start = text.start;
    let text = text.shown(0..text.len());
    let label_of = |line: &str| line.split_once(": ").map(|(label, _)| label.to_owned());
    let first_label = text.lines().next().and_then(label_of).unwrap_or_default();
    // The label of the first value tells which numbers are keys. A long string is a block
    // without one.
    let labelled = readings(pointer).into_iter().find(|reading| label(reading) == first_label);
    let is_one_value = labelled.is_none();
    let first = labelled.or_else(|| readings(pointer).into_iter().next()).unwrap_or_default();
    let mut counted = Counted::begin(first, first_label, firsts);
    let mut start = text_start;
    for (line_idx, line) in text.split('\n').enumerate() {
        let end = start + line.chars().count() + 1;
        let is_value = match line_idx {
            0 => true,
            _ if is_one_value => false,
            _ => match label_of(line) {
                Some(label) => {
                    let keys = names.keys_of(&label);
                    keys.is_some_and(|keys| counted.step(&keys, &label))
                }
                // A list of values alone has no keys.
                None => counted.step_alone(),
            },
        };
        if is_value {
            let (steps, elsewhere) = (counted.steps.clone(), counted.elsewhere.clone());
            lines.push(Line { start, end, steps, elsewhere });
        } else if let Some(last) = lines.last_mut() {
            // A string of several lines goes on.
            last.end = end;
        }
        start = end;
    }
}

fn label(steps: &[Step]) -> String {
    let keys = steps.iter().map(|step| step.key.as_str()).filter(|key| !key.is_empty());
    keys.collect::<Vec<_>>().join(".")
}

/// Names that hold what is between two names of a line, which only pointers tell apart.
struct Names(Vec<String>);

impl Names {
    /// Takes those of the pointers that are known.
    fn of(passages: &[Passage], wanted: &str) -> Self {
        let known = passages.iter().filter_map(|passage| {
            let Pointer::Json(pointer) = &passage.pointer else { return None };
            Some(pointer.as_str())
        });
        let names = known.chain([wanted]).flat_map(unescaped);
        let mut names: Vec<String> = names.filter(|name| name.contains(BETWEEN)).collect();
        // Of two names the longer one is meant where both may be.
        names.sort_by_key(|name| (std::cmp::Reverse(name.len()), name.clone()));
        names.dedup();
        Names(names)
    }

    /// Gives the first name of a line, and the names behind it.
    fn first<'l>(&self, label: &'l str) -> (&'l str, &'l str) {
        let is_first = |name: &&String| {
            let behind = label.strip_prefix(name.as_str());
            behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(BETWEEN))
        };
        let n_bytes = match self.0.iter().find(is_first) {
            Some(name) => name.len(),
            None => label.find(BETWEEN).unwrap_or(label.len()),
        };
        let (name, behind) = label.split_at(n_bytes);
        (name, behind.strip_prefix(BETWEEN).unwrap_or(behind))
    }

    /// Takes the names of a line apart; nothing when these are no names.
    fn keys_of(&self, label: &str) -> Option<Vec<String>> {
        let is_key = |key: &str| !key.is_empty() && key.chars().count() <= MAX_KEY_CHARS;
        let (mut keys, mut rest) = (Vec::new(), label);
        while !rest.is_empty() {
            let (key, behind) = self.first(rest);
            keys.push(key.to_owned());
            rest = behind;
        }
        let is_whole = !label.is_empty() && !label.ends_with(BETWEEN);
        (is_whole && keys.iter().all(|key| is_key(key))).then_some(keys)
    }
}
