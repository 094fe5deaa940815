//! Places inside the files of an archive: `inner/path > line 120`, or the path alone.

use model::{Passage, Pointer};

use super::{Covered, find_unit};
use crate::lines::Lines;

/// Is between the path of a file and a place in it.
const INNER: char = '>';

/// Reads a path and a place behind it against the files that the archive really has. A path may be
/// the end of one, where one file alone has it.
pub(super) fn find(text: &str, passages: &[Passage], lines: &Lines) -> Option<(Pointer, Covered)> {
    let (path, place) = match text.rsplit_once(INNER) {
        Some((path, place)) if path_of(path.trim(), passages).is_some() => (path, place.trim()),
        _ => (text, ""),
    };
    let path = path_of(path.trim(), passages)?;
    let inner = |passage: &Passage| {
        let Pointer::Inner { path: other, place } = &passage.pointer else { return None };
        (other == path).then(|| Passage { pointer: (**place).clone(), ..passage.clone() })
    };
    let first = passages.iter().position(|passage| inner(passage).is_some())?;
    let of_file: Vec<Passage> = passages[first..].iter().map_while(inner).collect();
    let (place, (covered, char_start)) = match place {
        "" => (of_file.first()?.pointer.clone(), (0..of_file.len(), None)),
        place => find_unit(place, &of_file, lines)?,
    };
    let pointer = Pointer::Inner { path: path.to_owned(), place: Box::new(place) };
    Some((pointer, (covered.start + first..covered.end + first, char_start)))
}

/// Finds the file that is meant: by its path as it is, in another Unicode form (some systems store
/// `é` as `e` with an accent), in another case, or by the end of it.
fn path_of<'p>(text: &str, passages: &'p [Passage]) -> Option<&'p str> {
    let mut paths: Vec<&str> = Vec::new();
    for passage in passages {
        if let Pointer::Inner { path, .. } = &passage.pointer
            && paths.last() != Some(&path.as_str())
        {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    paths.dedup();
    let wanted = text::fold(text.trim_matches(['"', '`', '\'']));
    let end = format!("/{wanted}");
    let is_meant = |path: &&&str| text::fold(path) == wanted || text::fold(path).ends_with(&end);
    let only = |found: Vec<&&'p str>| match found.as_slice() {
        [path] => Some(**path),
        _ => None,
    };
    let exact = paths.iter().find(|path| **path == text).copied();
    let is_same = |path: &&&str| text::is_equivalent(path, text);
    exact.or_else(|| only(paths.iter().filter(is_same).collect())).or_else(|| {
        (!wanted.is_empty()).then(|| only(paths.iter().filter(is_meant).collect())).flatten()
    })
}
