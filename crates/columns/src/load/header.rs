//! The names of the columns of delimited text.

use std::collections::{HashMap, HashSet};

/// Names every column: empty names by place, repeated names by a number.
pub(super) fn unique(names: Vec<String>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::with_capacity(names.len());
    let mut seen: HashSet<String> = HashSet::new();
    // The number that a repeated name gets next: a header of one name, again and again, must not
    // be counted through for each of them.
    let mut next: HashMap<String, usize> = HashMap::new();
    for (place, name) in names.into_iter().enumerate() {
        let base = if name.is_empty() { format!("column_{}", place + 1) } else { name };
        let mut name = base.clone();
        if seen.contains(&name) {
            let number = next.entry(base.clone()).or_insert(2);
            while seen.contains(&name) {
                name = format!("{base}_{number}");
                *number += 1;
            }
        }
        seen.insert(name.clone());
        unique.push(name);
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_unique_however_many_repeat() {
        let named = |names: &[&str]| unique(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(named(&["a", "a", "", "a_2", "a"]), ["a", "a_2", "column_3", "a_2_2", "a_3"]);
        let many = unique(vec!["x".to_owned(); 100_000]);
        assert_eq!(many[99_999], "x_100000");
    }
}
