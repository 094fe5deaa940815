//! Which texts of a dictionary contain another text. The texts are one after another in memory, so
//! that a search over many of them at once costs what the memory costs to read, and not a call, a
//! copy and a search for each.

use arrow_array::{Array, LargeStringArray};
use memchr::memmem::Finder;
use rayon::prelude::*;

use crate::column::NULL_CODE;
use crate::query::Case;
use crate::shown::contains;

/// How many texts one thread looks at together.
const TEXTS_AT_ONCE: usize = 4096;

/// Marks with 1 the codes of the texts that contain a text; the code of null is never marked.
pub(super) fn containing(texts: &LargeStringArray, needle: &str, case: Case) -> Vec<u8> {
    let sought = match case {
        Case::Sensitive => needle.to_owned(),
        Case::Ignored => needle.to_lowercase(),
    };
    let finder = Finder::new(sought.as_bytes());
    let mut marks = vec![0; texts.len()];
    marks.par_chunks_mut(TEXTS_AT_ONCE).enumerate().for_each(|(part, marks)| {
        let first = part * TEXTS_AT_ONCE;
        let ends = &texts.value_offsets()[first..=first + marks.len()];
        let (start, end) = (ends[0] as usize, ends[marks.len()] as usize);
        let bytes = &texts.value_data()[start..end];
        let within = |code: usize| ends[code] as usize - start..ends[code + 1] as usize - start;
        match case {
            Case::Sensitive => mark(&finder, bytes, within, marks),
            Case::Ignored => {
                mark(&finder, &bytes.to_ascii_lowercase(), within, marks);
                if !bytes.is_ascii() {
                    // Other letters may change their length with their case.
                    for (code, mark) in marks.iter_mut().enumerate() {
                        let text = texts.value(first + code);
                        if !text.is_ascii() {
                            *mark = u8::from(contains(text, needle, case));
                        }
                    }
                }
            }
        }
    });
    if let Some(null) = marks.get_mut(NULL_CODE as usize) {
        *null = 0;
    }
    marks
}

/// Marks the texts of a part that have an occurrence which does not reach into the next text.
fn mark(
    finder: &Finder<'_>,
    bytes: &[u8],
    within: impl Fn(usize) -> std::ops::Range<usize>,
    marks: &mut [u8],
) {
    let n_sought = finder.needle().len();
    if n_sought == 0 {
        marks.fill(1);
        return;
    }
    let (mut from, mut code) = (0, 0);
    while let Some(at) = finder.find(&bytes[from..]) {
        let at = from + at;
        while within(code).end <= at {
            code += 1;
        }
        let end = within(code).end;
        from = if at + n_sought <= end {
            marks[code] = 1;
            end
        } else {
            at + 1
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Texts that are searched together contain what each of them contains.
        #[test]
        fn texts_contain_what_each_of_them_contains(
            texts in prop::collection::vec("[aAbBßİıKkΣσς]{0,5}", 1..40),
            needle in "[aAbBßİıKkΣσς]{0,3}",
            is_exact: bool,
            n_before in 0..3_usize,
        ) {
            let case = if is_exact { Case::Sensitive } else { Case::Ignored };
            // A dictionary may begin in the middle of what is in memory, and be longer than a part.
            let fill = TEXTS_AT_ONCE - 3;
            let all: Vec<&str> = std::iter::repeat_n("ab", n_before)
                .chain([""])
                .chain(std::iter::repeat_n("aB", fill))
                .chain(texts.iter().map(String::as_str))
                .collect();
            let array = LargeStringArray::from(all.clone()).slice(n_before, all.len() - n_before);
            let found = containing(&array, &needle, case);
            for (code, text) in all[n_before..].iter().enumerate() {
                let expected = code != NULL_CODE as usize && contains(text, &needle, case);
                prop_assert_eq!(found[code] == 1, expected, "{} in {}", &needle, text);
            }
        }
    }
}
