//! Every distinct word of a dimension's names, and which of them a query word may mean.
//!
//! Names share few words, so the fuzzy work is done once per distinct word and not once per
//! name: a query word is expanded into the words that it equals, starts, abbreviates, or
//! misspells, each with a similarity, and only the names holding those words are scored.

use ahash::AHashMap;

use crate::expansion::{Expansion, Similarities};
use crate::token::{Token, abbreviates, new_form, old_form, skeleton};
use crate::trigram::{Trigram, word_trigrams};
use crate::typo::{self, Orthographies};
use crate::words::{Nature, canonical_kind, nature, related_kinds};

/// The position of a folded word in the vocabulary.
pub(crate) type WordIdx = u32;

/// Dotted words of names that are compared with a query word.
const MAX_DOTTED: usize = 2048;

/// The share of a word that its beginning must have to stand for it.
const LEAST_PREFIX_SHARE: f32 = 0.4;

/// The share of the longer of two words that must agree from the start to be one stem.
const STEM_SHARE: f32 = 0.65;
/// The fewest letters of a stem.
const LEAST_STEM_CHARS: usize = 5;
/// The similarity of two words of one stem: this, and more with the share they have in common.
const STEM_LEAST: f32 = 0.55;
const STEM_RANGE: f32 = 0.38;

/// The fewest digits of a number in which a slip is looked for.
const LEAST_NUMBER_DIGITS: usize = 4;

/// How sure it is that two words are the same, by the way in which they agree.
pub(crate) mod similarity {
    /// The same letters, diacritics included.
    pub(crate) const SPELLED: f32 = 1.0;
    /// The same letters without diacritics.
    pub(crate) const FOLDED: f32 = 0.985;
    /// Inflected forms of one kind word.
    pub(crate) const KIND: f32 = 0.975;
    /// Words of two kinds that go together, as `primăria` and `comuna`.
    pub(crate) const RELATED_KIND: f32 = 0.9;
    /// A word that the context, the metadata or the kind of an entry has.
    pub(crate) const EVIDENCE: f32 = 0.97;
    /// The same word in the other orthography, told by its diacritics.
    pub(crate) const ORTHOGRAPHY: f32 = 0.98;
    /// An abbreviation marked by a dot.
    pub(crate) const ABBREVIATION: f32 = 0.93;
    /// Perhaps the other orthography: no diacritics are left to tell.
    pub(crate) const SKELETON: f32 = 0.94;
    /// A single letter with a dot, for a word that starts with it.
    pub(crate) const INITIAL: f32 = 0.9;
    /// A number that no name has, one slip away from one that some name has.
    pub(crate) const NEAR_NUMBER: f32 = 0.6;
    /// A word of up to three letters with a slip in it.
    pub(crate) const SHORT: f32 = 0.65;
    /// The query's word is inside a longer word.
    pub(crate) const INSIDE: f32 = 0.78;
}

/// The words of all names.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    words: Vec<Word>,
    by_folded: AHashMap<String, WordIdx>,
    by_old_form: AHashMap<String, Vec<WordIdx>>,
    by_skeleton: AHashMap<String, Vec<WordIdx>>,
    by_kind: AHashMap<&'static str, Vec<WordIdx>>,
    by_trigram: AHashMap<Trigram, Vec<WordIdx>>,
    sorted: Vec<WordIdx>,
    /// Short words that some name writes with a dot.
    dotted: Vec<WordIdx>,
    /// Words of two to four letters that say something.
    short: Vec<WordIdx>,
    spellings: AHashMap<String, u32>,
    /// Whether names write diacritics at all.
    writes_diacritics: bool,
}

/// The letters of words in which any slip leads to some other word.
const SHORT_CHARS: std::ops::RangeInclusive<u16> = 2..=4;

/// Diacritics are written where at least one word in so many has one.
const WRITTEN_IN: usize = 4;

/// One folded word.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) folded: String,
    pub(crate) n_chars: u16,
    pub(crate) nature: Nature,
    /// Whether some name writes it with a dot, as an abbreviation.
    pub(crate) dotted: bool,
    pub(crate) is_number: bool,
    letters: LetterSet,
    /// Whether some name writes it with an `â` or `î`.
    has_old_letter: bool,
    /// Whether some name writes it with any diacritic.
    has_diacritic: bool,
}

impl Vocabulary {
    /// Adds a word of a name and gives its position and the number of its spelling.
    pub(crate) fn add(&mut self, token: &Token) -> (WordIdx, u32) {
        let next_spelling = self.spellings.len() as u32;
        let spelling = match self.spellings.get(&token.spelled) {
            Some(spelling) => *spelling,
            None => {
                self.spellings.insert(token.spelled.clone(), next_spelling);
                next_spelling
            }
        };
        let word = match self.by_folded.get(&token.folded) {
            Some(word) => *word,
            None => self.add_word(token),
        };
        let known = &mut self.words[word as usize];
        known.dotted |= token.dotted;
        known.has_old_letter |= token.spelled.contains(['â', 'î']);
        known.has_diacritic |= token.spelled != token.folded;
        if let Some(old) = old_form(token) {
            let words = self.by_old_form.entry(old).or_default();
            if !words.contains(&word) {
                words.push(word);
            }
        }
        (word, spelling)
    }

    /// Closes the vocabulary: after this no word may be added.
    pub(crate) fn finish(&mut self) {
        self.sorted = (0..self.words.len() as WordIdx).collect();
        self.sorted.sort_by(|left, right| {
            self.words[*left as usize].folded.cmp(&self.words[*right as usize].folded)
        });
        self.dotted = (0..self.words.len() as WordIdx)
            .filter(|word| self.word(*word).dotted)
            .take(MAX_DOTTED)
            .collect();
        let is_short = |word: &&Word| {
            SHORT_CHARS.contains(&word.n_chars) && word.nature == Nature::Plain && !word.is_number
        };
        let words = self.words.iter().enumerate();
        self.short =
            words.filter(|(_, word)| is_short(word)).map(|(at, _)| at as WordIdx).collect();
        for words in self.by_trigram.values_mut() {
            words.shrink_to_fit();
        }
        let n_marked = self.words.iter().filter(|word| word.has_diacritic).count();
        self.writes_diacritics = n_marked * WRITTEN_IN > self.words.len();
        for word in 0..self.words.len() as WordIdx {
            if self.orthographies(word) == Orthographies::Two {
                let skeleton = skeleton(&self.word(word).folded);
                self.by_skeleton.entry(skeleton).or_default().push(word);
            }
        }
    }

    /// Tells whether an `a` or `i` of a word may be an `â` or `î`: names that write diacritics write
    /// those too.
    fn orthographies(&self, word: WordIdx) -> Orthographies {
        let is_one = self.writes_diacritics && !self.word(word).has_old_letter;
        if is_one { Orthographies::One } else { Orthographies::Two }
    }

    pub(crate) fn word(&self, word: WordIdx) -> &Word {
        &self.words[word as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// Gives the words of two to four letters that say something.
    pub(crate) fn short_words(&self) -> &[WordIdx] {
        &self.short
    }

    pub(crate) fn find(&self, folded: &str) -> Option<WordIdx> {
        self.by_folded.get(folded).copied()
    }

    pub(crate) fn spelling(&self, spelled: &str) -> Option<u32> {
        self.spellings.get(spelled).copied()
    }

    /// Gives the words that a query word may stand for, likeliest first, each once.
    pub(crate) fn expand(&self, token: &Token) -> Vec<Expansion> {
        let mut found = Similarities::default();
        if let Some(word) = self.find(&token.folded) {
            found.add(word, similarity::FOLDED);
        }
        if is_number(&token.folded) {
            if found.is_empty() {
                self.expand_number(&token.folded, &mut found);
            }
            return found.into_sorted();
        }
        // A word of one kind never means another kind by its letters: `primăria` is not `primară`.
        if self.expand_kind(token, &mut found) {
            return found.into_sorted();
        }
        self.expand_orthography(token, &mut found);
        if token.dotted {
            self.expand_abbreviation(token, &mut found);
        }
        self.expand_dotted(&token.folded, &mut found);
        self.expand_prefix(&token.folded, &mut found);
        self.expand_stem(&token.folded, &mut found);
        // A slip beside the other orthography is still one slip.
        let forms = [Some(token.folded.clone()), old_form(token), new_form(token)];
        for written in forms.into_iter().flatten() {
            self.expand_fuzzy(&written, &mut found);
        }
        // A word that names hold is no slip of a kind word.
        if self.find(&token.folded).is_some() {
            found.retain(|word| {
                let word = self.word(word);
                word.nature != Nature::Kind || word.folded == token.folded
            });
        }
        self.expand_short(token, &mut found);
        found.into_sorted()
    }

    /// Finds the words that a word of up to three letters, which names do not hold, is one slip
    /// away from. They are many, so they support other words and never start a search: `sua` is
    /// `sus` in `Bârsău de sua`, and `d` is `de`.
    fn expand_short(&self, token: &Token, found: &mut Similarities) {
        let written: Vec<char> = token.folded.chars().collect();
        let is_known = found.has_word();
        if is_known || token.dotted || written.len() > 3 || written.iter().copied().any(is_wide) {
            return;
        }
        let limit = if written.len() == 1 { typo::LOST } else { typo::ONE };
        for (word, _) in self.count_shared(&word_trigrams(&token.folded)) {
            let other = self.word(word);
            let is_alike =
                !other.is_number && usize::from(other.n_chars).abs_diff(written.len()) < 2;
            let meant: Vec<char> = other.folded.chars().collect();
            let orthographies = self.orthographies(word);
            if is_alike && typo::cost(&written, &meant, orthographies, limit).is_some() {
                found.add_abbreviation(word, similarity::SHORT);
            }
        }
    }

    fn add_word(&mut self, token: &Token) -> WordIdx {
        let word = self.words.len() as WordIdx;
        let trigrams = word_trigrams(&token.folded);
        self.words.push(Word {
            folded: token.folded.clone(),
            n_chars: token.folded.chars().count() as u16,
            nature: nature(&token.folded),
            dotted: token.dotted,
            is_number: is_number(&token.folded),
            letters: LetterSet::of(&token.folded),
            has_old_letter: false,
            has_diacritic: false,
        });
        self.by_folded.insert(token.folded.clone(), word);
        if let Some(kind) = canonical_kind(&token.folded) {
            self.by_kind.entry(kind).or_default().push(word);
        }
        for trigram in trigrams {
            self.by_trigram.entry(trigram).or_default().push(word);
        }
        word
    }

    /// Expands a kind word into the words of its kind and of kinds that go with it; tells whether
    /// the word is one.
    fn expand_kind(&self, token: &Token, found: &mut Similarities) -> bool {
        let Some(kind) = canonical_kind(&token.folded) else { return false };
        for word in self.by_kind.get(kind).into_iter().flatten() {
            found.add(*word, similarity::KIND);
        }
        for word in related_kinds(kind).iter().filter_map(|kind| self.by_kind.get(kind)).flatten() {
            found.add(*word, similarity::RELATED_KIND);
        }
        true
    }

    fn expand_orthography(&self, token: &Token, found: &mut Similarities) {
        if let Some(old) = old_form(token) {
            if let Some(word) = self.find(&old) {
                found.add(word, similarity::ORTHOGRAPHY);
            }
            for word in self.by_old_form.get(&old).into_iter().flatten() {
                found.add(*word, similarity::ORTHOGRAPHY);
            }
        }
        for word in self.by_old_form.get(&token.folded).into_iter().flatten() {
            found.add(*word, similarity::ORTHOGRAPHY);
        }
        if token.folded.chars().count() >= 3 {
            for word in self.by_skeleton.get(&skeleton(&token.folded)).into_iter().flatten() {
                found.add(*word, similarity::SKELETON);
            }
        }
    }

    /// Looks only at words with the same first letter. A single letter may stand for too many
    /// words to list: it is compared when a name is scored instead.
    fn expand_abbreviation(&self, token: &Token, found: &mut Similarities) {
        if token.folded.chars().count() < 2 {
            return;
        }
        let Some(first) = token.folded.chars().next() else { return };
        let mut first_letter = [0; 4];
        for word in self.with_prefix(first.encode_utf8(&mut first_letter)) {
            if abbreviates(&token.folded, &self.word(word).folded) {
                found.add_abbreviation(word, similarity::ABBREVIATION);
            }
        }
    }

    /// Finds the abbreviations of names that the word may be written out of.
    fn expand_dotted(&self, folded: &str, found: &mut Similarities) {
        for word in &self.dotted {
            let short = self.word(*word);
            if abbreviates(&short.folded, folded) {
                let is_initial = short.n_chars == 1;
                found.add_abbreviation(
                    *word,
                    if is_initial { similarity::INITIAL } else { similarity::ABBREVIATION },
                );
            }
        }
    }

    fn expand_prefix(&self, folded: &str, found: &mut Similarities) {
        let n_chars = folded.chars().count();
        let is_wide = folded.chars().next().is_some_and(is_wide);
        if n_chars < if is_wide { 1 } else { 3 } {
            return;
        }
        for word in self.with_prefix(folded) {
            let kept = n_chars as f32 / f32::from(self.word(word).n_chars);
            if kept >= LEAST_PREFIX_SHARE || is_wide {
                found.add(word, prefix_similarity(kept));
            }
        }
        // The query's word may carry an ending that the name lacks: `Clujului` for `Cluj`.
        for (cut, _) in folded.char_indices().skip(4) {
            if let Some(word) = self.find(&folded[..cut]) {
                let kept = folded[..cut].chars().count() as f32 / n_chars as f32;
                if kept >= 0.6 {
                    found.add(word, prefix_similarity(kept) - 0.03);
                }
            }
        }
    }

    /// Finds words that begin alike and end differently, as inflected words do.
    fn expand_stem(&self, folded: &str, found: &mut Similarities) {
        let n_chars = folded.chars().count();
        let n_shared = ((n_chars as f32 * STEM_SHARE).ceil() as usize).max(LEAST_STEM_CHARS);
        if n_chars <= n_shared {
            return;
        }
        let Some((cut, _)) = folded.char_indices().nth(n_shared) else { return };
        for word in self.with_prefix(&folded[..cut]) {
            let other = self.word(word);
            let n_common =
                folded.chars().zip(other.folded.chars()).take_while(|(a, b)| a == b).count();
            let longer = n_chars.max(usize::from(other.n_chars)) as f32;
            let share = n_common as f32 / longer;
            if share >= STEM_SHARE {
                found.add(word, STEM_LEAST + STEM_RANGE * share);
            }
        }
    }

    fn expand_fuzzy(&self, folded: &str, found: &mut Similarities) {
        let written: Vec<char> = folded.chars().collect();
        let n_chars = written.len();
        let limit = typo::allowed(n_chars);
        if limit == 0.0 || n_chars > typo::MAX_CHARS {
            return;
        }
        let letters = LetterSet::of(folded);
        let n_typos = limit.ceil() as u16;
        let trigrams = word_trigrams(folded);
        let shared = self.count_shared(&trigrams);
        // A wrong letter touches three trigrams, two swapped ones four, the other orthography
        // three more. Short words may keep a single one; longer words are asked for two, or half
        // the vocabulary fits.
        let n_trigrams = trigrams.len() as u16;
        let least_by_typos =
            n_trigrams.saturating_sub(3 * n_typos + 1).max(if n_chars < 7 { 1 } else { 2 });
        // A word inside another loses only its padded trigrams.
        let least_inside = n_trigrams.saturating_sub(3);
        for (word, n_shared) in shared {
            let other = self.word(word);
            if other.is_number {
                continue;
            }
            let length_gap = usize::from(other.n_chars).abs_diff(n_chars);
            let near = n_shared >= least_by_typos
                && length_gap <= usize::from(n_typos)
                && letters.n_different(other.letters) <= 2 * u32::from(n_typos);
            if near {
                let meant: Vec<char> = other.folded.chars().collect();
                let orthographies = self.orthographies(word);
                if let Some(cost) = typo::cost(&written, &meant, orthographies, limit) {
                    let starts_alike = written.first() == meant.first();
                    found.add(word, typo::similarity(cost, n_chars, starts_alike));
                }
            }
            let is_inside = n_chars >= 5
                && usize::from(other.n_chars) > n_chars
                && n_shared >= least_inside
                && other.folded.contains(folded);
            if is_inside {
                found.add(word, similarity::INSIDE);
            }
        }
    }

    /// Finds the numbers that a number is one slip away from. Those of a few digits are all near.
    fn expand_number(&self, folded: &str, found: &mut Similarities) {
        const ONE_SLIP: f32 = 1.1;
        let written: Vec<char> = folded.chars().collect();
        if !(LEAST_NUMBER_DIGITS..=typo::MAX_CHARS).contains(&written.len()) {
            return;
        }
        for (word, _) in self.count_shared(&word_trigrams(folded)) {
            let other = self.word(word);
            let is_alike =
                other.is_number && usize::from(other.n_chars).abs_diff(written.len()) < 2;
            if is_alike {
                let meant: Vec<char> = other.folded.chars().collect();
                if typo::cost(&written, &meant, Orthographies::One, ONE_SLIP).is_some() {
                    found.add(word, similarity::NEAR_NUMBER);
                }
            }
        }
    }

    /// Counts, for each word, the trigrams it shares.
    fn count_shared(&self, trigrams: &[Trigram]) -> AHashMap<WordIdx, u16> {
        let mut shared: AHashMap<WordIdx, u16> = AHashMap::new();
        for trigram in trigrams {
            for word in self.by_trigram.get(trigram).into_iter().flatten() {
                *shared.entry(*word).or_default() += 1;
            }
        }
        shared
    }

    fn with_prefix(&self, prefix: &str) -> impl Iterator<Item = WordIdx> {
        let start =
            self.sorted.partition_point(|word| self.words[*word as usize].folded.as_str() < prefix);
        self.sorted[start..]
            .iter()
            .copied()
            .take_while(move |word| self.words[*word as usize].folded.starts_with(prefix))
    }
}

/// Which letters a word has: two words that differ in many cannot be one slip apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LetterSet(u32);

impl LetterSet {
    fn of(folded: &str) -> Self {
        LetterSet(folded.chars().fold(0, |set, char| set | 1 << (u32::from(char) % 32)))
    }

    fn n_different(self, other: LetterSet) -> u32 {
        (self.0 ^ other.0).count_ones()
    }
}

/// Gives the similarity of a word and a longer one that it starts.
pub(crate) fn prefix_similarity(kept: f32) -> f32 {
    0.7 + 0.27 * kept
}

/// Tells whether a word is a number. Numbers match themselves; one that no name has may be a slip
/// of a long one, which is never sure.
pub(crate) fn is_number(folded: &str) -> bool {
    folded.chars().all(|char| char.is_ascii_digit())
}

/// Han, kana and hangul say in one character what other scripts say in a word.
pub(crate) fn is_wide(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}
