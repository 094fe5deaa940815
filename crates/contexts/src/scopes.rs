//! Which tools cover a node.

use std::collections::{HashMap, HashSet};

/// The paths of the tools of a table.
pub(crate) struct Scopes {
    by_path: HashMap<String, Vec<usize>>,
    lengths: HashSet<usize>,
    longest: usize,
}

impl Scopes {
    /// Takes the paths of tools; a tool is known by its position among them.
    pub(crate) fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut by_path: HashMap<String, Vec<usize>> = HashMap::new();
        for (tool_idx, path) in paths.into_iter().enumerate() {
            by_path.entry(path.to_owned()).or_default().push(tool_idx);
        }
        let lengths: HashSet<usize> = by_path.keys().map(String::len).collect();
        let longest = lengths.iter().copied().max().unwrap_or_default();
        Scopes { by_path, lengths, longest }
    }

    /// Gives the paths that no other path covers, in order.
    pub(crate) fn outermost(&self) -> Vec<&str> {
        let is_inside = |path: &str| {
            let above = path.match_indices('/').map(|(at, _)| &path[..at]);
            above.into_iter().any(|above| self.by_path.contains_key(above))
        };
        let mut paths: Vec<&str> =
            self.by_path.keys().map(String::as_str).filter(|path| !is_inside(path)).collect();
        paths.sort_unstable();
        paths
    }

    /// Gives the tools whose path is exactly this place.
    pub(crate) fn at(&self, pointer: &str) -> &[usize] {
        if !self.lengths.contains(&pointer.len()) {
            return &[];
        }
        self.by_path.get(pointer).map(Vec::as_slice).unwrap_or_default()
    }

    /// Gives the tools whose path is this place or one above it.
    pub(crate) fn covering(&self, pointer: &str) -> Vec<usize> {
        let ends = pointer.match_indices('/').map(|(at, _)| at).chain([pointer.len()]);
        // A pointer of two components is ended three times: before each, and at its end.
        let mut tools: Vec<usize> = ends
            .take_while(|end| *end <= self.longest)
            .flat_map(|end| self.at(&pointer[..end]))
            .copied()
            .collect();
        tools.sort_unstable();
        tools
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::pointer::covers;

    proptest! {
        #[test]
        fn covering_is_what_a_look_at_every_path_gives(
            paths in prop::collection::vec("(/[ab]{0,2}){0,3}", 0..8),
            pointer in "(/[ab]{0,2}){0,5}",
        ) {
            let scopes = Scopes::new(paths.iter().map(String::as_str));
            let plain: Vec<usize> =
                (0..paths.len()).filter(|tool_idx| covers(&paths[*tool_idx], &pointer)).collect();
            prop_assert_eq!(scopes.covering(&pointer), plain);
        }

        #[test]
        fn outermost_paths_cover_every_path_once(
            paths in prop::collection::vec("(/[ab]{0,2}){0,3}", 0..8),
        ) {
            let scopes = Scopes::new(paths.iter().map(String::as_str));
            for path in &paths {
                let outermost = scopes.outermost();
                prop_assert_eq!(outermost.iter().filter(|above| covers(above, path)).count(), 1);
            }
        }
    }
}
