//! The three spellings of a word, remembered: natural text repeats its words.

use std::collections::HashMap;

use crate::analyze::compound;
use crate::fold;
use crate::language::{Language, push_stem, script_of_word, stemming_language};

/// Words remembered of one language before they are forgotten; bounds the memory of all
/// languages together at about ten megabytes.
const MAX_REMEMBERED: usize = 1 << 15;

/// Languages whose words are remembered side by side, since texts of several may alternate.
const MAX_LANGUAGES: usize = 3;

/// The spellings of one word, end to end in one allocation; equal ones are kept once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forms {
    text: Box<str>,
    exact_end: u16,
    folded: (u16, u16),
    stem: (u16, u16),
}

impl Forms {
    /// Spells a word.
    pub(crate) fn of(word: &str, language: Language, buffers: &mut Buffers) -> Forms {
        let Buffers { exact, folded, stem } = buffers;
        exact.clear();
        folded.clear();
        fold::exact_into(word, exact);
        fold::fold_into(exact, folded);
        let language = stemming_language(script_of_word(folded), language);
        Forms::assemble(exact, folded, language, stem)
    }

    /// Puts spellings together that were made elsewhere; the folded one is stemmed here, unless
    /// there is no language to do it in.
    pub(crate) fn assemble(
        exact: &str,
        folded: &str,
        language: Option<Language>,
        stem: &mut String,
    ) -> Forms {
        stem.clear();
        push_stem(folded, language, stem);
        let mut text = String::with_capacity(exact.len() + folded.len() + stem.len());
        text.push_str(exact);
        let exact_end = offset(text.len());
        let mut place = |form: &str, earlier: (u16, u16)| {
            let found = text.get(usize::from(earlier.0)..usize::from(earlier.1));
            if found.is_some_and(|earlier_form| earlier_form.starts_with(form)) {
                return (earlier.0, earlier.0 + offset(form.len()));
            }
            let start = offset(text.len());
            text.push_str(form);
            (start, offset(text.len()))
        };
        let folded = place(folded, (0, exact_end));
        let stem = place(stem, folded);
        Forms { text: text.into_boxed_str(), exact_end, folded, stem }
    }

    pub(crate) fn exact(&self) -> &str {
        self.part((0, self.exact_end))
    }

    pub(crate) fn folded(&self) -> &str {
        self.part(self.folded)
    }

    pub(crate) fn stem(&self) -> &str {
        self.part(self.stem)
    }

    fn part(&self, (start, end): (u16, u16)) -> &str {
        self.text.get(usize::from(start)..usize::from(end)).unwrap_or_default()
    }
}

/// Buffers for spelling words, kept so that only new words allocate.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(crate) exact: String,
    pub(crate) folded: String,
    pub(crate) stem: String,
}

/// The words seen lately, with their spellings in each language.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The language at work is first, the one used longest ago last.
    languages: Vec<Remembered>,
    buffers: Buffers,
}

/// The words seen lately in one language.
#[derive(Debug)]
struct Remembered {
    language: Language,
    by_word: HashMap<Box<str>, u32, ahash::RandomState>,
    forms: Vec<Forms>,
}

impl Memory {
    /// Prepares for a text; another language has other stems.
    pub(crate) fn start(&mut self, language: Language) {
        match self.languages.iter().position(|known| known.language == language) {
            Some(0) => {}
            Some(idx) => self.languages[..=idx].rotate_right(1),
            None => {
                self.languages.truncate(MAX_LANGUAGES - 1);
                self.languages.insert(0, Remembered::new(language));
            }
        }
    }

    /// Gives the spellings of a plain word as it stands in the text.
    pub(crate) fn word(&mut self, word: &str) -> &Forms {
        self.recall(word, Forms::of)
    }

    /// Gives the spellings of a compound as it stands in the text.
    pub(crate) fn compound(&mut self, compound: &str) -> &Forms {
        self.recall(compound, compound::forms)
    }

    // A stretch of text is always a word or always a compound, so both share one map.
    fn recall(&mut self, word: &str, spell: fn(&str, Language, &mut Buffers) -> Forms) -> &Forms {
        if self.languages.is_empty() {
            self.start(Language::Unknown);
        }
        let Memory { languages, buffers } = self;
        let Remembered { language, by_word, forms } = &mut languages[0];
        let known = by_word.get(word).copied();
        let forms_idx = known.unwrap_or_else(|| {
            if forms.len() >= MAX_REMEMBERED {
                by_word.clear();
                forms.clear();
            }
            let forms_idx = u32::try_from(forms.len()).unwrap_or(u32::MAX);
            forms.push(spell(word, *language, buffers));
            by_word.insert(word.into(), forms_idx);
            forms_idx
        });
        forms.get(forms_idx as usize).expect("the map holds only positions in the list")
    }
}

impl Remembered {
    fn new(language: Language) -> Self {
        Remembered { language, by_word: HashMap::default(), forms: Vec::new() }
    }
}

/// Spellings are at most a few times [`super::MAX_WORD_BYTES`] long, so 16 bits hold offsets.
fn offset(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}
