//! The whole lookup, in order: value, code, whole name, words, and vectors where those fail.

use ahash::AHashMap;
use model::Score;
use text::fold;

use crate::candidates::{MAX_SCORED, candidates};
use crate::entry::{Answer, EntryIdx, How, Match, Request};
use crate::evidence::EvidenceIdx;
use crate::index::{Index, NameIdx, NameSource};
use crate::query::{readings, with_short_parts, without_unknown_numbers};
use crate::score::{Needed, Scored, score};
use crate::short_names::{ShortName, short_names};
use crate::token::{folded_name, spelled_name, tokens};
use crate::trigram::similarity;
use crate::weights::LEAST_SCORE;
use crate::words::{Nature, canonical_kind, kinds_of_hint};

/// Matches that a lookup ranks among the likeliest names alone. One that asks for more scores every
/// name that may match: its order may differ, and it is for whoever walks through all.
pub const MAX_MATCHES: usize = 200;

const VALUE: f32 = 1.0;
/// The value with other punctuation or case, or with a country before it.
const NEARLY_VALUE: f32 = 0.97;
const WHOLE_SPELLED: f32 = 1.0;
const WHOLE_FOLDED: f32 = 0.985;
/// Aliases are a little behind names.
const ALIAS: f32 = 0.99;
/// Names of another language are behind those of the language asked for.
const OTHER_LOCALE: f32 = 0.995;
/// What a fitting hint adds.
const HINT: f32 = 0.02;
/// What is left of a match of another kind than the hint's, where one of its kind matches too.
const OTHER_KIND: f32 = 0.85;
/// What each level below the first leaves of a code that was found by a name other than its
/// own: who says `education` means the chapter.
const DEEPER: f32 = 0.985;
/// The same where nothing but its vector found it: nearness tells levels apart already.
const DEEPER_IN_MEANING: f32 = 0.995;
/// The part of the best score below from which on a chapter has the word as well.
const NEARLY_AS_GOOD: f32 = 0.85;
/// What is left of a code that one word found, where its chapter has the word too.
const BELOW_CHAPTER: f32 = 0.93;
/// What an entry loses that was found by vector, where the query's words of context are those of
/// others.
const ELSEWHERE: f32 = 0.2;
/// Words that say that a value follows.
const VALUE_WORDS: [&str; 9] =
    ["cui", "cif", "cod", "fiscal", "code", "id", "siruta", "value", "nr"];
/// NameEmbedder is asked only when letters gave nothing better than this.
const MEANING_BELOW: f32 = 0.80;

impl Index {
    /// Looks one text up.
    pub fn lookup(&self, request: &Request<'_>) -> Answer {
        let mut found = MatchedEntries { index: self, request, by_entry: AHashMap::new() };
        self.find_values(&mut found);
        self.find_codes(&mut found);
        self.find_whole_names(&mut found);
        let mut answer = Answer { is_total_exact: true, ..Answer::default() };
        let mut n_unscored = 0;
        let n_scored = if request.limit > MAX_MATCHES { usize::MAX } else { MAX_SCORED };
        for reading in readings(self, request.text) {
            let candidates = candidates(self, &reading, n_scored);
            let needed = Needed::by(self, &reading, &candidates.names);
            for name in &candidates.names {
                let record = &self.names[*name as usize];
                found.add_name(*name, score(self, &reading, &needed, record));
            }
            n_unscored = n_unscored.max(candidates.n_covering - candidates.names.len());
            answer.is_total_exact &=
                candidates.is_complete && candidates.n_covering == candidates.names.len();
        }
        for read_otherwise in [with_short_parts, without_unknown_numbers] {
            if found.by_entry.is_empty()
                && let Some(reading) = read_otherwise(self, request.text)
            {
                let names = candidates(self, &reading, n_scored).names;
                let needed = Needed::by(self, &reading, &names);
                for name in names {
                    let record = &self.names[name as usize];
                    found.add_name(name, score(self, &reading, &needed, record));
                }
            }
        }
        if found.by_entry.is_empty() {
            for ShortName { name, score } in short_names(self, request.text) {
                found.add_name(name, Scored { score, is_misspelt: true });
            }
        }
        answer.wanted_meaning = found.best() < MEANING_BELOW;
        let names_a_level = is_one_word(self, request.text) && found.has_deep_words();
        if names_a_level
            && !answer.wanted_meaning
            && let Some(vectors) = &self.vectors
            && let Ok(nearest) = vectors.nearest(request.text)
        {
            found.add_chapters(&nearest);
        }
        if answer.wanted_meaning
            && let Some(vectors) = &self.vectors
        {
            match vectors.nearest(request.text) {
                Ok(nearest) => {
                    let context = Context::of(self, request.text);
                    let known = found.by_entry.keys().copied();
                    let entries = nearest.iter().map(|(entry, ..)| *entry).chain(known);
                    let most = entries.map(|entry| context.share(entry)).fold(0.0, f32::max);
                    for (entry, name, score) in nearest {
                        // An entry that lies elsewhere than the query says is behind those that
                        // lie there, whether words or vectors found them.
                        let elsewhere = (most - context.share(entry)) * ELSEWHERE;
                        let score =
                            score * found.depth(entry, DEEPER_IN_MEANING) * (1.0 - elsewhere);
                        found.add(entry, score, How::Semantic, name);
                    }
                }
                Err(error) => answer.vectors_failed = Some(error.reason),
            }
        }
        if names_a_level {
            found.put_chapters_first();
        }
        answer.matches = found.ranked();
        answer.n_total = answer.matches.len() + n_unscored;
        answer.matches.truncate(request.limit);
        answer.add_trigrams(request.text);
        answer
    }

    fn find_values(&self, found: &mut MatchedEntries<'_>) {
        let mut words = tokens(found.request.text);
        while words.len() > 1 && VALUE_WORDS.contains(&words[0].folded.as_str()) {
            words.remove(0);
        }
        let text = spelled_name(&words);
        let without_country = text
            .strip_prefix("ro")
            .map(str::trim_start)
            .filter(|rest| !rest.is_empty() && rest.chars().all(|char| char.is_ascii_digit()));
        for value in [Some(text.as_str()), without_country].into_iter().flatten() {
            for entry in self.by_value.get(value).into_iter().flatten() {
                let written = self.entry(*entry).value.as_str();
                let is_same = written == found.request.text.trim();
                let score = if is_same { VALUE } else { NEARLY_VALUE };
                found.add(*entry, score, How::Value, written.to_owned());
            }
        }
    }

    fn find_codes(&self, found: &mut MatchedEntries<'_>) {
        for (entry, score) in self.codes.find(found.request.text) {
            let code = self.entry(entry).code.clone().unwrap_or_default();
            found.add(entry, score, How::Code, code);
        }
    }

    fn find_whole_names(&self, found: &mut MatchedEntries<'_>) {
        let tokens = tokens(found.request.text);
        let spelled = spelled_name(&tokens);
        for name in self.by_folded_name.get(&folded_name(&tokens)).into_iter().flatten() {
            let record = &self.names[*name as usize];
            let is_spelled = spelled_name(&crate::token::tokens(self.name_text(record))) == spelled;
            let (score, how) =
                if is_spelled { (WHOLE_SPELLED, How::Exact) } else { (WHOLE_FOLDED, How::Folded) };
            let text = self.name_text(record).to_owned();
            found.add(record.entry, score * found.factor(record.source, record.entry), how, text);
        }
    }
}

/// What a query says of where a thing lies or what it is, beside its name.
struct Context<'i> {
    index: &'i Index,
    /// The words that some entry's context holds, each with its weight.
    words: Vec<(Vec<EvidenceIdx>, f32)>,
}

impl<'i> Context<'i> {
    fn of(index: &'i Index, text: &str) -> Self {
        let reading = readings(index, text).into_iter().next();
        let words = reading.into_iter().flat_map(|reading| reading.words);
        let words = words.filter(|word| !word.evidence.is_empty());
        Context { index, words: words.map(|word| (word.evidence, word.weight)).collect() }
    }

    /// The share of those words that an entry has.
    fn share(&self, entry: EntryIdx) -> f32 {
        let weight: f32 = self.words.iter().map(|(_, weight)| weight).sum();
        let held = self.words.iter().filter(|(word, _)| self.index.evidence.holds(entry, word));
        let held: f32 = held.map(|(_, weight)| weight).sum();
        if weight > 0.0 { held / weight } else { 0.0 }
    }
}

/// Tells whether a query is one word that says something.
fn is_one_word(index: &Index, text: &str) -> bool {
    let reading = readings(index, text).into_iter().next();
    reading.is_some_and(|reading| {
        let words = reading.words.iter().filter(|word| word.nature != Nature::Glue);
        words.count() == 1
    })
}

/// The best way in which each entry matched so far.
struct MatchedEntries<'a> {
    index: &'a Index,
    request: &'a Request<'a>,
    by_entry: AHashMap<EntryIdx, Best>,
}

struct Best {
    score: f32,
    how: How,
    matched: Matched,
    is_misspelt: bool,
}

enum Matched {
    Text(String),
    Name(NameIdx),
}

impl MatchedEntries<'_> {
    fn add(&mut self, entry: EntryIdx, score: f32, how: How, text: String) {
        let matched = Matched::Text(text);
        self.offer(entry, Best { score, how, matched, is_misspelt: false });
    }

    fn add_name(&mut self, name: NameIdx, scored: Scored) {
        let record = &self.index.names[name as usize];
        let Scored { score, is_misspelt } = scored;
        let score = score * self.factor(record.source, record.entry);
        let matched = Matched::Name(name);
        self.offer(record.entry, Best { score, how: How::Words, matched, is_misspelt });
    }

    fn offer(&mut self, entry: EntryIdx, best: Best) {
        if best.score < LEAST_SCORE {
            return;
        }
        match self.by_entry.get(&entry) {
            Some(before) if before.score >= best.score => {}
            Some(_) | None => {
                self.by_entry.insert(entry, best);
            }
        }
    }

    fn factor(&self, source: NameSource, entry: EntryIdx) -> f32 {
        match source {
            NameSource::Alias(_) => ALIAS * self.depth(entry, DEEPER),
            NameSource::Name(at) => {
                let locale = self.index.entry(entry).names[at as usize].locale.as_deref();
                match (locale, self.request.locale) {
                    (Some(of_name), Some(wanted)) if !is_same_language(of_name, wanted) => {
                        OTHER_LOCALE
                    }
                    _ => 1.0,
                }
            }
        }
    }

    /// What the depth of an entry's code leaves, at so much a level.
    fn depth(&self, entry: EntryIdx, each_level: f32) -> f32 {
        let code = self.index.entry(entry).code.as_deref().map(crate::code::canonical);
        let n_levels = code.map_or(1, |code| code.split('.').count());
        each_level.powi(n_levels.saturating_sub(1) as i32)
    }

    /// Tells whether a code below the first level was found by some words of its name.
    fn has_deep_words(&self) -> bool {
        self.by_entry.iter().any(|(entry, best)| best.how == How::Words && self.level(*entry) > 1)
    }

    /// Counts the levels of an entry's code; none for one without a code.
    fn level(&self, entry: EntryIdx) -> usize {
        let code = self.index.entry(entry).code.as_deref().map(crate::code::canonical);
        code.map_or(0, |code| code.split('.').count())
    }

    /// Adds chapters that lie nearer to the query than what was found below them: `educație` is
    /// the chapter `Învățământ`, though only a code below has the word.
    fn add_chapters(&mut self, nearest: &[(EntryIdx, String, f32)]) {
        let near = |entry: EntryIdx| {
            nearest.iter().find(|(other, ..)| *other == entry).map_or(0.0, |(_, _, score)| *score)
        };
        let code = |entry: EntryIdx| {
            self.index.entry(entry).code.as_deref().map(crate::code::canonical).unwrap_or_default()
        };
        let mut chapters = Vec::new();
        for (chapter, name, score) in nearest.iter().filter(|(entry, ..)| self.level(*entry) == 1) {
            let prefix = format!("{}.", code(*chapter));
            let below = self.by_entry.keys().filter(|entry| code(**entry).starts_with(&prefix));
            let below: Vec<EntryIdx> = below.copied().collect();
            let is_nearer = below.iter().all(|entry| near(*entry) <= *score);
            if !below.is_empty() && is_nearer {
                let scores = below.iter().map(|entry| self.by_entry[entry].score);
                chapters.push((*chapter, name.clone(), scores.fold(*score, f32::max)));
            }
        }
        for (chapter, name, score) in chapters {
            self.add(chapter, score, How::Semantic, name);
        }
    }

    /// Who says one word means the chapter that has it, not what lies below.
    fn put_chapters_first(&mut self) {
        let is_described = |best: &Best| matches!(best.how, How::Words | How::Semantic);
        let levels: AHashMap<EntryIdx, usize> =
            self.by_entry.keys().map(|entry| (*entry, self.level(*entry))).collect();
        let below =
            self.by_entry.iter().filter(|(entry, best)| levels[entry] > 1 && is_described(best));
        let top = below.map(|(_, best)| best.score).fold(0.0, f32::max);
        let is_meant = |entry: &EntryIdx, best: &Best| {
            levels[entry] == 1 && is_described(best) && best.score >= NEARLY_AS_GOOD * top
        };
        let has_chapter = self.by_entry.iter().any(|(entry, best)| is_meant(entry, best));
        if !has_chapter || top == 0.0 {
            return;
        }
        for (entry, best) in &mut self.by_entry {
            if !is_described(best) {
                continue;
            }
            match levels[entry] {
                1 if is_meant(entry, best) => best.score = best.score.max(top),
                0 | 1 => {}
                _ => best.score *= BELOW_CHAPTER,
            }
        }
    }

    fn best(&self) -> f32 {
        self.by_entry.values().map(|best| best.score).fold(0.0, f32::max)
    }

    fn ranked(self) -> Vec<Match> {
        let hint = self.request.hint.map(Hint::new);
        let index = self.index;
        // Where the contexts of all have the word, as the label of a column, names decide.
        let names_decide = hint.as_ref().is_some_and(|hint| {
            let mut entries = self.by_entry.keys();
            entries.clone().all(|entry| hint.fits_traits(index, *entry))
                && entries.any(|entry| hint.fits_name(index, *entry))
        });
        let is_fitting = |entry: EntryIdx| {
            hint.as_ref().is_some_and(|hint| {
                hint.fits_name(index, entry) || (!names_decide && hint.fits_traits(index, entry))
            })
        };
        let has_fitting = hint.is_some() && self.by_entry.keys().any(|entry| is_fitting(*entry));
        let mut matches: Vec<Match> = self
            .by_entry
            .into_iter()
            .map(|(entry, best)| {
                let raised = match (has_fitting, is_fitting(entry)) {
                    (true, true) => best.score + HINT,
                    // A value or a code was named, not described.
                    (true, false) if !matches!(best.how, How::Value | How::Code) => {
                        best.score * OTHER_KIND
                    }
                    _ => best.score,
                };
                let matched = match best.matched {
                    Matched::Text(text) => text,
                    Matched::Name(name) => index.name_text(&index.names[name as usize]).to_owned(),
                };
                Match {
                    entry,
                    score: Score::new(f64::from(raised)),
                    matched,
                    how: best.how,
                    is_misspelt: best.is_misspelt,
                    trigram_similarity: 0.0,
                }
            })
            .collect();
        let sort_key = |entry: EntryIdx| {
            let entry = index.entry(entry);
            (entry.names.first().map_or("", |name| name.text.as_str()), entry.value.as_str())
        };
        matches.sort_by(|left, right| {
            right
                .score
                .cmp(&left.score)
                .then_with(|| left.how.cmp(&right.how))
                .then_with(|| sort_key(left.entry).cmp(&sort_key(right.entry)))
                .then_with(|| left.entry.cmp(&right.entry))
        });
        matches
    }
}

impl Match {
    /// Gives by how much a match must lead the second to be taken without asking, where a margin
    /// says it for names as they are written. A slip may lead from one name to another, so a
    /// misspelt one must lead by twice as much: of the misspelt cities that are taken among 34,000
    /// half as many are another city.
    pub fn lead_needed(&self, margin: f64) -> f64 {
        if self.is_misspelt { 2.0 * margin } else { margin }
    }
}

impl Answer {
    fn add_trigrams(&mut self, query: &str) {
        let query = fold(query);
        for found in &mut self.matches {
            found.trigram_similarity = similarity(&query, &fold(&found.matched));
        }
    }
}

/// Tells whether two locales are of one language: `en-US` is `en`.
pub fn is_same_language(left: &str, right: &str) -> bool {
    let language =
        |locale: &str| locale.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    language(left) == language(right)
}

/// A kind that the caller has in mind.
struct Hint {
    words: Vec<String>,
    kinds: Vec<&'static str>,
}

impl Hint {
    fn new(text: &str) -> Self {
        let words: Vec<String> = tokens(text).into_iter().map(|token| token.folded).collect();
        let kinds = words.iter().flat_map(|word| kinds_of_hint(word)).collect();
        Hint { words, kinds }
    }

    fn fits_name(&self, index: &Index, entry: EntryIdx) -> bool {
        let entry = index.entry(entry);
        let name = entry.names.first().map_or("", |name| name.text.as_str());
        tokens(name).into_iter().any(|token| {
            canonical_kind(&token.folded).is_some_and(|kind| self.kinds.contains(&kind))
        })
    }

    fn fits_traits(&self, index: &Index, entry: EntryIdx) -> bool {
        let traits = index.entry(entry).traits.iter();
        traits.flat_map(|text| tokens(text)).any(|token| self.words.contains(&token.folded))
    }
}
