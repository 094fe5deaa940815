//! One name against one reading of a query: which words answer which, and what that is worth.

use crate::index::{Index, NameIdx, NameRecord, WordOfName};
use crate::query::{QueryWord, Reading};
use crate::token::abbreviates;
use crate::typo;
use crate::vocabulary::{is_wide, similarity};
use crate::weights;
use crate::words::Nature;

/// What is left of a score when both sides give numbers and they differ: `Nr. 1` is not `Nr. 2`.
const OTHER_NUMBER: f32 = 0.88;

/// What a name is worth whose words agree but are in another order.
const OTHER_ORDER: f32 = 0.985;

/// How sure a word must be to carry a name that other words of the query do not fit.
const SURE: f32 = 0.93;

/// From here on a word is as somebody wrote it on purpose: in other letters or the other orthography.
const AS_WRITTEN: f32 = 0.95;

/// The share of a name that a query must hold for the name to be whole in it.
const WHOLE_NAME: f32 = 0.8;

/// The share of a name and of a query that a sure word must say when all else is misspelt.
const HALF: f32 = 0.42;

/// The letters that must surely agree in some word of the query for a name of which it is only a
/// small part. One slip in four letters leads to some word of any large register.
const LEAST_CERTAIN_LETTERS: f32 = 4.5;

/// The share of a name from which on it is no small part.
const LARGE_PART: f32 = 0.5;

/// What a slip takes from the letters that surely agree: itself, and what it could hide.
const LETTERS_OF_A_SLIP: f32 = 2.0;

/// What such a name is worth when the query says next to nothing else, and when nearly all of it
/// agrees: never enough to be taken without asking.
const KEPT_LEAST: f32 = 0.56;
const KEPT_MOST: f32 = 0.82;

/// The score from which on a name shows that a small word of the query is a word of names.
const SHOWS_A_WORD: f32 = 0.75;

/// The small words of a query that a good candidate answers, so that no other name may do without
/// them: of `Vișina npuă, Olt` the second is a word of `Vișina Nouă`, and no preposition.
#[derive(Debug)]
pub(crate) struct Needed(Vec<bool>);

impl Needed {
    /// Finds the words that the names which fit the whole query well answer.
    pub(crate) fn by(index: &Index, reading: &Reading, names: &[NameIdx]) -> Self {
        let words = &reading.words;
        let may_join = |word: &QueryWord| {
            word.nature != Nature::Kind && is_small_word(word) && !word.expansions.is_empty()
        };
        let last_evidence = words.iter().rposition(|word| !word.evidence.is_empty()).unwrap_or(0);
        let all = Needed(words.iter().map(may_join).collect());
        if !all.0[..last_evidence.min(words.len())].contains(&true) {
            return Needed(vec![false; words.len()]);
        }
        let mut needed = vec![false; words.len()];
        for name in names {
            let name = &index.names[*name as usize];
            let answered = answer(index, reading, index.words_of(name));
            let is_new =
                |at: usize| all.0[at] && !needed[at] && answered.by_query_word[at].is_some();
            let new: Vec<usize> = (0..words.len()).filter(|at| is_new(*at)).collect();
            if !new.is_empty()
                && score_answered(index, reading, &all, name, &answered) >= SHOWS_A_WORD
            {
                new.into_iter().for_each(|at| needed[at] = true);
            }
        }
        Needed(needed)
    }
}

/// What a name is worth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    /// Between 0 and 1.
    pub(crate) score: f32,
    /// Whether a word of the query is a slip away from the name's, or only begins it.
    pub(crate) is_misspelt: bool,
}

/// Scores a name.
pub(crate) fn score(
    index: &Index,
    reading: &Reading,
    needed: &Needed,
    name: &NameRecord,
) -> Scored {
    let answered = answer(index, reading, index.words_of(name));
    let score = score_answered(index, reading, needed, name, &answered);
    let words = index.words_of(name);
    let answers = reading.words.iter().zip(&answered.by_query_word);
    let is_misspelt = answers.filter_map(|(word, answer)| Some((word, (*answer)?))).any(
        |(word, (place, similarity))| {
            word.nature == Nature::Plain
                && similarity < AS_WRITTEN
                && !is_abbreviation(index, word, &words[place])
        },
    );
    Scored { score, is_misspelt }
}

fn score_answered(
    index: &Index,
    reading: &Reading,
    needed: &Needed,
    name: &NameRecord,
    answered: &Answered,
) -> f32 {
    let words = index.words_of(name);
    let mut query_covered = 0.0;
    let mut name_covered = 0.0;
    let mut other_order = false;
    let mut last_place = None;
    let mut has_word = false;
    let mut is_sure = false;
    let mut is_supported = false;
    let mut n_certain = None;
    for (query_idx, answer) in answered.by_query_word.iter().enumerate().rev() {
        let query_word = &reading.words[query_idx];
        // A comma ends what a word announces: `São Bento do Sul, Brazil` is no `São Bento`.
        is_supported &= !query_word.token.ends_part;
        if answer.is_none() {
            let is_evidence = index.evidence.holds(name.entry, &query_word.evidence)
                && !is_said_again(reading, answered, query_idx);
            // `jud.` before `Alba` says what `Alba` is, and needs no answer of its own.
            // So does `Kr.` before `Emsland`, or a preposition of a language without a list.
            let joins = is_small_word(query_word) && !needed.0[query_idx];
            let announces = (query_word.nature == Nature::Kind || joins) && is_supported;
            if is_evidence || announces {
                query_covered += query_word.weight * similarity::EVIDENCE;
            } else if query_word.nature == Nature::Kind {
                // `Primăria comunei X`: two kind words speak of the one that the name has.
                query_covered += query_word.weight * said_kind(query_word, words);
            }
            is_supported =
                (is_evidence && query_word.nature != Nature::Kind) || (joins && is_supported);
        } else {
            is_supported = false;
        }
    }
    for (query_idx, answer) in answered.by_query_word.iter().enumerate() {
        let Some((place, similarity)) = answer else { continue };
        let query_word = &reading.words[query_idx];
        is_sure |= *similarity >= SURE && query_word.nature == Nature::Plain;
        if query_word.nature == Nature::Plain {
            let certain = certain_letters(index, query_word, &words[*place], *similarity);
            n_certain = Some(n_certain.map_or(certain, |before: f32| before.max(certain)));
        }
        has_word |= !is_abbreviation(index, query_word, &words[*place]);
        query_covered += query_word.weight * similarity;
        name_covered += words[*place].weight * similarity;
        other_order |= last_place.is_some_and(|last| last > *place);
        last_place = Some(*place);
    }
    // Abbreviations support a word that matched; alone they would fit half of all names.
    if !has_word {
        return 0.0;
    }
    let query_coverage = query_covered / reading.weight;
    let name_coverage = (name_covered / name.weight).min(1.0);
    let is_chance = n_certain.is_some_and(|n_certain| n_certain < LEAST_CERTAIN_LETTERS);
    if is_chance && !is_sure && name_coverage < LARGE_PART {
        return 0.0;
    }
    let mut score = weights::blend(query_coverage, name_coverage) * reading.factor;
    // A name that is whole in the query stays a candidate, whatever else the query says.
    if is_sure && name_coverage >= WHOLE_NAME {
        let kept = KEPT_LEAST + (KEPT_MOST - KEPT_LEAST) * query_coverage;
        score = score.max(kept * reading.factor);
    }
    // So does one of which a sure word says about half, where that is half of the query too.
    if is_sure && name_coverage >= HALF && query_coverage >= HALF {
        score = score.max(KEPT_LEAST * reading.factor);
    }
    if other_order {
        score *= OTHER_ORDER;
    }
    if has_other_number(index, reading, words, answered) {
        score *= OTHER_NUMBER;
    }
    score
}

/// Tells whether a later word of the query is the same and is not answered by the name either. What
/// lies around a name says a word once: of `Nevis, Saint Kitts and Nevis` the second `Nevis` is in
/// the context of Saint Kitts, and the first one is not. `Walla Walla` is one thing.
fn is_said_again(reading: &Reading, answered: &Answered, query_idx: usize) -> bool {
    let folded = &reading.words[query_idx].token.folded;
    let mut later = reading.words.iter().zip(&answered.by_query_word).skip(query_idx + 2);
    later.any(|(word, answer)| answer.is_none() && word.token.folded == *folded)
}

/// The most letters of a word that only joins others: `im`, `bei`, `dans`, `nahe`.
const SMALL_WORD_CHARS: usize = 4;

/// Tells whether a word that nothing answers may be one that joins others, or an abbreviation of
/// a kind that the context has in full.
fn is_small_word(word: &QueryWord) -> bool {
    let n_chars = word.token.folded.chars().count();
    !word.is_number && (word.token.dotted || n_chars <= SMALL_WORD_CHARS)
}

/// How many letters of a query's word are surely those of the name's word.
fn certain_letters(index: &Index, query: &QueryWord, word: &WordOfName, similarity: f32) -> f32 {
    let written = &query.token.folded;
    let n_letters: f32 = written.chars().map(letters_of).sum();
    // The beginning of a word has no slip in it, and nothing but the rest is open.
    if index.vocabulary.word(word.word).folded.starts_with(written.as_str()) {
        return n_letters + 1.0;
    }
    n_letters - LETTERS_OF_A_SLIP * typo::slips(similarity, n_letters)
}

/// Han, kana and hangul say in one character what takes several letters.
fn letters_of(char: char) -> f32 {
    if is_wide(char) { 3.0 } else { 1.0 }
}

/// How well any word of a name speaks of the kind that a word of the query names.
fn said_kind(query_word: &QueryWord, words: &[WordOfName]) -> f32 {
    query_word
        .expansions
        .iter()
        .filter(|expansion| !expansion.is_abbreviation)
        .filter(|expansion| words.iter().any(|word| word.word == expansion.word))
        .map(|expansion| expansion.similarity)
        .fold(0.0, f32::max)
}

/// Which word of the name answers each word of the query.
struct Answered {
    by_query_word: Vec<Option<(usize, f32)>>,
    by_place: Vec<bool>,
}

/// Pairs words greedily, the surest pair first; each word is used once.
fn answer(index: &Index, reading: &Reading, words: &[WordOfName]) -> Answered {
    let mut pairs: Vec<(f32, usize, usize)> = Vec::with_capacity(words.len() * 2);
    for (place, word) in words.iter().enumerate() {
        for (query_idx, similarity) in reading.answers.get(&word.word).into_iter().flatten() {
            let query_idx = usize::from(*query_idx);
            let is_spelled = reading.words[query_idx].spelling == Some(word.spelling);
            let similarity = if is_spelled { similarity::SPELLED } else { *similarity };
            pairs.push((similarity, query_idx, place));
        }
        abbreviation_pairs(index, reading, place, word, &mut pairs);
    }
    pairs.sort_by(|left, right| {
        right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)).then(left.2.cmp(&right.2))
    });
    loop {
        let answered = pair_up(reading, words, &pairs);
        let n_before = pairs.len();
        pairs.retain(|(_, query_idx, place)| {
            let is_taken = answered.by_query_word[*query_idx].is_some_and(|(at, _)| at == *place);
            !is_taken
                || !is_initial(index, &reading.words[*query_idx], &words[*place])
                || has_surname(index, words, &answered, *place)
        });
        if pairs.len() == n_before {
            return answered;
        }
    }
}

/// Tells whether a word of a query stands for a letter of a name.
fn is_initial(index: &Index, query_word: &QueryWord, word: &WordOfName) -> bool {
    index.vocabulary.word(word.word).n_chars == 1
        && query_word.token.folded.chars().nth(1).is_some()
}

/// Tells whether the query has the word that an initial goes with: `Gotham` is not the `G.` of
/// `Library G. Smith`, as long as nothing says `Smith`.
///
/// That is the word after the initials, or the one before those that end a name, unless it begins
/// it: that one says of what kind the name is.
fn has_surname(index: &Index, words: &[WordOfName], answered: &Answered, place: usize) -> bool {
    let says_something = |at: &usize| {
        let word = index.vocabulary.word(words[*at].word);
        word.n_chars > 1 && word.nature != Nature::Glue
    };
    let after = (place + 1..words.len()).find(says_something);
    let before = || (0..place).rev().find(says_something).filter(|at| *at > 0);
    after.or_else(before).is_some_and(|at| {
        let is_plain = index.vocabulary.word(words[at].word).nature == Nature::Plain;
        is_plain && answered.by_place[at]
    })
}

fn pair_up(reading: &Reading, words: &[WordOfName], pairs: &[(f32, usize, usize)]) -> Answered {
    let mut answered = Answered {
        by_query_word: vec![None; reading.words.len()],
        by_place: vec![false; words.len()],
    };
    for (similarity, query_idx, place) in pairs.iter().copied() {
        if answered.by_query_word[query_idx].is_none() && !answered.by_place[place] {
            answered.by_query_word[query_idx] = Some((place, similarity));
            answered.by_place[place] = true;
        }
    }
    answered
}

/// Dotted words stand for longer ones on either side: `TG. OCNA`, `V.V. DELAMARINA`.
fn abbreviation_pairs(
    index: &Index,
    reading: &Reading,
    place: usize,
    word: &WordOfName,
    pairs: &mut Vec<(f32, usize, usize)>,
) {
    for (query_idx, query_word) in reading.words.iter().enumerate() {
        if is_abbreviation(index, query_word, word) {
            pairs.push((similarity::ABBREVIATION, query_idx, place));
        }
    }
}

fn is_abbreviation(index: &Index, query_word: &QueryWord, word: &WordOfName) -> bool {
    let word = index.vocabulary.word(word.word);
    let token = &query_word.token;
    // The letters of `S.P.A.C.` are no town hall of a commune.
    if query_word.nature == Nature::Kind && word.n_chars == 1 {
        return false;
    }
    (word.dotted && abbreviates(&word.folded, &token.folded))
        || (token.dotted && abbreviates(&token.folded, &word.folded))
}

fn has_other_number(
    index: &Index,
    reading: &Reading,
    words: &[WordOfName],
    answered: &Answered,
) -> bool {
    let numbers = || {
        let answers = reading.words.iter().zip(&answered.by_query_word);
        answers.filter(|(word, _)| word.is_number).map(|(_, answer)| answer)
    };
    // A number that was taken for another by a slip.
    if numbers().any(|answer| answer.is_some_and(|(_, similarity)| similarity < SURE)) {
        return true;
    }
    numbers().any(Option::is_none)
        && words
            .iter()
            .zip(&answered.by_place)
            .any(|(word, used)| !used && index.vocabulary.word(word.word).is_number)
}
