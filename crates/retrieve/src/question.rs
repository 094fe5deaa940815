//! Analyse: from what was typed to words the index knows.

use std::collections::{BTreeMap, BTreeSet};

use model::Warning;
use store::{Clause, Filter, Form, Store, WordsQuery};
use text::{
    Analyzer, Language, LanguageSet, QueryWord, TokenKind, content_weight, function_language,
    query_language,
};

use crate::scopes::{KnownScopes, each_scope};
use crate::syntax::{Part, parse};
use crate::{Pipeline, Result, Scope};

/// What the exact spelling counts beside the folded one.
const EXACT_BOOST: f32 = 0.1;

/// A pair of characters that says less than this only holds sentences together.
const MIN_SAYING: f64 = 0.3;

/// Words of a query beyond these are not looked for.
const MAX_WORDS: usize = 256;

/// Takes the words of a text that are looked for, in documents of some languages.
type WordsOf = fn(&str, LanguageSet) -> Vec<QueryWord>;

/// A question, analysed.
pub(crate) struct Question {
    /// What is wanted, without syntax: what a model reads.
    pub(crate) plain: String,
    /// The words that are wanted, for matches and explanations.
    pub(crate) words: Vec<QueryWord>,
    /// The languages that the terms of the words are in.
    languages: LanguageSet,
    words_of: WordsOf,
    /// The question for the index.
    pub(crate) for_words: WordsQuery,
    /// Words in quotes, folded.
    pub(crate) quoted: BTreeSet<String>,
    /// What of it has to match because an operator says so.
    joined: Vec<Clause>,
    /// What the query asks of every document.
    pub(crate) filter: Filter,
    /// What was malformed.
    pub(crate) warnings: Vec<Warning>,
    /// Something has to match or must not, so that candidates by vector alone do not count.
    pub(crate) is_strict: bool,
    /// How like the words are to those that were typed, up to 1: below it where one was corrected.
    pub(crate) likeness: f64,
    /// The same question with single Han characters, for the scopes that have none of its words.
    by_characters: Option<Box<ByCharacters>>,
    /// What was known of the scopes when the search began; nothing where none are asked.
    pub(crate) known: KnownScopes,
}

/// A question with every Han character as a word, and which scopes are asked so.
struct ByCharacters {
    question: Question,
    scopes: Vec<bool>,
}

/// Analyses a question for documents in the given languages.
pub(crate) fn analyse(query: &str, pipeline: &Pipeline, languages: LanguageSet) -> Question {
    analyse_words(query, pipeline, languages, wanted_words)
}

fn analyse_words(
    query: &str,
    pipeline: &Pipeline,
    languages: LanguageSet,
    words_of: WordsOf,
) -> Question {
    let parsed = parse(query, &pipeline.fields, query_language(query, languages));
    let plain = parsed.plain_text();
    let mut question = Question {
        words: vec![],
        languages,
        words_of,
        for_words: WordsQuery::new(pipeline.bm25, pipeline.title_boost),
        quoted: BTreeSet::new(),
        joined: vec![],
        filter: Filter::All,
        warnings: parsed.warnings,
        is_strict: false,
        likeness: 1.0,
        by_characters: None,
        known: KnownScopes::default(),
        plain,
    };
    question.words = question.words_in(languages);
    let language = language_of(&question.plain, &question.words, languages);
    // Words are analysed together: a language, and a compound, is told from its neighbours.
    for word in &question.words {
        let weight = content_weight(word, language) as f32;
        let folded = Clause::any_term(Form::Folded, word.terms.clone()).boosted(weight);
        let exact = Clause::term(Form::Exact, word.exact.clone()).boosted(EXACT_BOOST * weight);
        question.for_words.should.extend([folded, exact]);
    }
    for part in &parsed.parts {
        add(part, languages, &mut question);
        quote(part, languages, &mut question.quoted);
    }
    question.is_strict = is_strict(&question.for_words);
    question
}

fn is_strict(words: &WordsQuery) -> bool {
    !words.must.is_empty() || !words.must_not.is_empty()
}

impl Question {
    /// Takes back that what `AND` joins has to match; tells whether anything was joined.
    pub(crate) fn relax(&mut self) -> bool {
        let joined = std::mem::take(&mut self.joined);
        self.for_words.must.retain(|clause| !joined.contains(clause));
        self.is_strict = is_strict(&self.for_words);
        if let Some(own) = &mut self.by_characters {
            own.question.relax();
        }
        !joined.is_empty()
    }

    /// Asks for what another form of the same question had to match or must not.
    pub(crate) fn keep_demands_of(&mut self, other: &Question) {
        self.for_words.must.clone_from(&other.for_words.must);
        self.for_words.must_not.clone_from(&other.for_words.must_not);
        self.is_strict = is_strict(&self.for_words);
        self.quoted.clone_from(&other.quoted);
    }

    /// Takes what is known of the scopes that are asked.
    #[must_use]
    pub(crate) fn over(mut self, known: KnownScopes) -> Self {
        self.known = known;
        self
    }

    /// Asks a scope whose namespace has no word of the question by single Han characters beside the
    /// pairs: `换锁谁付钱` has no pair in common with a rule that says who pays for a lock.
    ///
    /// The term statistics of a namespace tell, and never what was found: a document beside, or a
    /// filter, must not change what a passage has of the question.
    pub(crate) fn with_characters(
        mut self,
        query: &str,
        pipeline: &Pipeline,
        store: &Store,
        scopes: &[Scope],
    ) -> Result<Self> {
        let characters: WordsOf =
            |text, languages| words_with(text, languages, |word| word.exact.chars().all(is_han));
        let question = analyse_words(query, pipeline, self.languages, characters);
        let is_character = |word: &QueryWord| word.kind == TokenKind::Character;
        if !question.words.iter().any(is_character) {
            return Ok(self);
        }
        // Characters that are nowhere either would only make the question look longer.
        let is_wanted = |scope_idx: usize, scope: &Scope| -> Result<bool> {
            let languages = self.known.languages_of(scope_idx);
            Ok(self.is_unknown_in(store, scope, languages)?
                && !question.is_unknown_in(store, scope, languages)?)
        };
        let wanted = each_scope(store, scopes, is_wanted);
        let scopes = wanted.into_iter().collect::<Result<Vec<bool>>>()?;
        if scopes.contains(&true) {
            self.by_characters = Some(Box::new(ByCharacters { question, scopes }));
        }
        Ok(self)
    }

    /// Gives the part of the words that only hold sentences of a language together.
    pub(crate) fn function_share(&self, language: Language) -> f64 {
        let words = self.words_in(LanguageSet::from_iter([language]));
        let content: f64 = words.iter().map(|word| content_weight(word, language)).sum();
        if words.is_empty() { 1.0 } else { 1.0 - content / words.len() as f64 }
    }

    /// Gives the question as a scope is asked.
    pub(crate) fn in_scope(&self, scope_idx: usize) -> &Question {
        let own = self.by_characters().filter(|_| self.is_by_characters(scope_idx));
        own.unwrap_or(self)
    }

    /// Gives the question by single characters, where a scope is asked so.
    pub(crate) fn by_characters(&self) -> Option<&Question> {
        self.by_characters.as_ref().map(|own| &own.question)
    }

    /// Tells whether a scope is asked by single characters.
    pub(crate) fn is_by_characters(&self, scope_idx: usize) -> bool {
        let scopes = self.by_characters.as_ref().map(|own| &own.scopes);
        scopes.and_then(|scopes| scopes.get(scope_idx)).copied().unwrap_or_default()
    }

    /// Tells whether no passage of a scope's namespace has a word of the question.
    fn is_unknown_in(&self, store: &Store, scope: &Scope, languages: LanguageSet) -> Result<bool> {
        let terms: Vec<(Form, String)> = self
            .words_in(languages)
            .into_iter()
            .flat_map(|word| word.terms)
            .map(|term| (Form::Folded, term))
            .collect();
        let statistics = store.term_statistics(&scope.namespace, &terms)?;
        Ok(statistics.terms.iter().all(|term| term.n_passages == 0))
    }

    /// Gives the same words with their terms in other languages.
    fn words_in(&self, languages: LanguageSet) -> Vec<QueryWord> {
        let mut words = (self.words_of)(&self.plain, languages);
        words.truncate(MAX_WORDS);
        words
    }
}

/// The words of a question with their terms in each of some sets of languages.
///
/// A question is asked of many documents in many languages at once, and a word that is stemmed as in
/// one may be another word in the next: `older` is `old` in German. What a passage has is told by the
/// terms in its own language, so that no document beside it has a part in that.
pub(crate) struct TermsByLanguage<'a> {
    question: &'a Question,
    others: BTreeMap<u64, Vec<QueryWord>>,
}

impl<'a> TermsByLanguage<'a> {
    /// Makes the terms in these sets of languages.
    pub(crate) fn new(question: &'a Question, sets: impl Iterator<Item = LanguageSet>) -> Self {
        let mut others = BTreeMap::new();
        for set in sets.filter(|set| set.bits() != question.languages.bits()) {
            others.entry(set.bits()).or_insert_with(|| question.words_in(set));
        }
        TermsByLanguage { question, others }
    }

    /// Gives the words with their terms in a set of languages that was named before; with all terms
    /// of the question otherwise.
    pub(crate) fn of(&self, set: LanguageSet) -> &[QueryWord] {
        self.others.get(&set.bits()).unwrap_or(&self.question.words)
    }
}

/// Gives the language that a query is in, over documents in some languages.
pub(crate) fn language_of(query: &str, words: &[QueryWord], languages: LanguageSet) -> Language {
    let known = languages.iter().filter(|language| *language != Language::Unknown);
    // Over documents in several languages a word may be a small one in one and a subject in another.
    let function = (known.count() == 1).then(|| function_language(words, languages)).flatten();
    function.unwrap_or_else(|| query_language(query, languages))
}

/// Gives the words of a text without repeating what a longer token says already.
pub(crate) fn words_of(text: &str, languages: LanguageSet) -> Vec<QueryWord> {
    words_with(text, languages, |_| false)
}

/// Gives the words of a query: [`words_of`] and Japanese words of one character.
fn wanted_words(text: &str, languages: LanguageSet) -> Vec<QueryWord> {
    words_with(text, languages, |word| is_lone_han(text, word))
}

fn words_with(
    text: &str,
    languages: LanguageSet,
    is_wanted: impl Fn(&QueryWord) -> bool,
) -> Vec<QueryWord> {
    let mut words = Analyzer::new().analyze_query(text, languages);
    let bigrams: BTreeSet<u32> = words
        .iter()
        .filter(|word| word.kind == TokenKind::Bigram)
        .map(|word| word.position)
        .collect();
    // A bigram covers its own position and the next one; a lone character stands for itself.
    let in_bigram = |word: &QueryWord, bigrams: &BTreeSet<u32>| {
        let before = word.position.checked_sub(1);
        [Some(word.position), before].into_iter().flatten().any(|one| bigrams.contains(&one))
    };
    // One in a pair that says something: `行` is no word of `行吗`.
    let saying: BTreeSet<u32> = words
        .iter()
        .filter(|word| word.kind == TokenKind::Bigram && !is_small(word))
        .map(|word| word.position)
        .collect();
    words.retain(|word| {
        let is_alone = word.kind != TokenKind::Character || !in_bigram(word, &bigrams);
        is_alone || in_bigram(word, &saying) && is_wanted(word)
    });
    words
}

/// Tells whether a pair of characters only holds sentences together.
fn is_small(word: &QueryWord) -> bool {
    content_weight(word, Language::Unknown) < MIN_SAYING
}

/// Tells whether a character is a Han one between kana: a Japanese word of one character, such as
/// `犬` in `犬を飼えますか`, whose pairs with its neighbours are in no other form of the sentence.
fn is_lone_han(text: &str, word: &QueryWord) -> bool {
    let is_kana = |char: char| matches!(char, '\u{3041}'..='\u{30ff}');
    let before = text.get(..word.bytes.start).and_then(|before| before.chars().next_back());
    let after = text.get(word.bytes.end..).and_then(|after| after.chars().next());
    word.exact.chars().all(is_han)
        && ![before, after].into_iter().flatten().any(is_han)
        && [before, after].into_iter().flatten().any(is_kana)
}

fn is_han(char: char) -> bool {
    matches!(char, '\u{3400}'..='\u{9fff}' | '々')
}

fn add(part: &Part, languages: LanguageSet, question: &mut Question) {
    match part {
        Part::Words(_) => {}
        Part::Must(part) => {
            let clauses = required(part, languages);
            question.joined.extend(clauses.iter().cloned());
            question.for_words.must.extend(clauses);
        }
        Part::Phrase(text) => question.for_words.must.extend(phrase(text, languages)),
        Part::Prefix(start) => question.for_words.must.push(prefix(start)),
        Part::AnyOf(parts) => {
            // Alternatives only raise the score; their words are in the question already.
            for part in parts {
                match part {
                    Part::Phrase(text) => question.for_words.should.extend(phrase(text, languages)),
                    Part::Prefix(start) => question.for_words.should.push(prefix(start)),
                    Part::Words(_)
                    | Part::Must(_)
                    | Part::Not(_)
                    | Part::AnyOf(_)
                    | Part::Field { .. } => {}
                }
            }
        }
        Part::Not(part) => match &**part {
            Part::Words(text) => {
                let clauses = words_of(text, languages)
                    .into_iter()
                    .map(|word| Clause::any_term(Form::Folded, word.terms));
                question.for_words.must_not.extend(clauses);
            }
            Part::Phrase(text) => question.for_words.must_not.extend(phrase(text, languages)),
            Part::Prefix(start) => question.for_words.must_not.push(prefix(start)),
            Part::Field { name, value } => {
                let field = Filter::Not(Box::new(field(name, value)));
                question.filter = std::mem::take(&mut question.filter).and(field);
            }
            Part::AnyOf(parts) => {
                for part in parts {
                    add(&Part::Not(Box::new(part.clone())), languages, question);
                }
            }
            Part::Must(part) => add(&Part::Not(part.clone()), languages, question),
            Part::Not(_) => {}
        },
        Part::Field { name, value } => {
            question.filter = std::mem::take(&mut question.filter).and(field(name, value));
        }
    }
}

/// Notes the words of phrases.
fn quote(part: &Part, languages: LanguageSet, quoted: &mut BTreeSet<String>) {
    match part {
        Part::Phrase(text) => {
            quoted.extend(wanted_words(text, languages).into_iter().map(|word| word.folded));
        }
        Part::AnyOf(parts) => parts.iter().for_each(|part| quote(part, languages, quoted)),
        Part::Must(part) => quote(part, languages, quoted),
        Part::Words(_) | Part::Prefix(_) | Part::Not(_) | Part::Field { .. } => {}
    }
}

/// Gives what has to match: each word of a part, and of alternatives one. Alternatives of several
/// words have no such clause, and only raise the score.
fn required(part: &Part, languages: LanguageSet) -> Vec<Clause> {
    let one_of = |terms: Vec<String>| Clause::any_term(Form::Folded, terms);
    match part {
        Part::Words(text) => {
            words_of(text, languages).into_iter().map(|word| one_of(word.terms)).collect()
        }
        Part::AnyOf(parts) => {
            let single = |part: &Part| match part {
                Part::Words(text) => match words_of(text, languages).as_slice() {
                    [word] => Some(word.terms.clone()),
                    _ => None,
                },
                Part::Phrase(_)
                | Part::Prefix(_)
                | Part::Must(_)
                | Part::Not(_)
                | Part::AnyOf(_)
                | Part::Field { .. } => None,
            };
            let terms: Option<Vec<Vec<String>>> = parts.iter().map(single).collect();
            terms.map(|terms| one_of(terms.concat())).into_iter().collect()
        }
        Part::Phrase(_) | Part::Prefix(_) | Part::Must(_) | Part::Not(_) | Part::Field { .. } => {
            vec![]
        }
    }
}

fn phrase(text: &str, languages: LanguageSet) -> Option<Clause> {
    let words: Vec<QueryWord> = words_of(text, languages)
        .into_iter()
        .filter(|word| word.kind.is_sequential() || word.kind == TokenKind::Character)
        .collect();
    match words.as_slice() {
        [] => None,
        [word] => Some(Clause::any_term(Form::Folded, word.terms.clone())),
        [first, ..] => {
            let start = first.position;
            let words =
                words.iter().map(|word| (word.position - start, word.terms.clone())).collect();
            Some(Clause::Phrase { words, boost: 1.0 })
        }
    }
}

/// A prefix is looked for among exact spellings, since a stem may be shorter than what was typed.
fn prefix(start: &str) -> Clause {
    Clause::prefix(Form::Exact, text::exact(start))
}

/// Keyword attributes are compared as they are written, numbers as numbers.
fn field(name: &str, value: &str) -> Filter {
    let mut either = vec![Filter::equals(name, value)];
    if let Ok(number) = value.parse::<i64>() {
        either.push(Filter::range(name, number..=number));
    }
    // The value of a file ending is kept with its dot.
    if !value.starts_with('.') {
        either.push(Filter::equals(name, format!(".{value}")));
    }
    Filter::Or(either)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tous` over English documents found a rule about all employees with 0.75.
    #[test]
    fn what_only_holds_sentences_together_is_told_by_a_language() {
        let share = |query: &str, language: Language| {
            let english = LanguageSet::from_iter([Language::English]);
            analyse(query, &Pipeline::default(), english).function_share(language)
        };
        assert!(share("tous", Language::French) > 0.85);
        assert!(share("tous", Language::English) < 0.1);
        assert!(share("combien coûte le parking", Language::French) < 0.65);
        // Over documents of one language a word of theirs is meant.
        let language = |query: &str, documents: &[Language]| {
            let documents = LanguageSet::from_iter(documents.iter().copied());
            language_of(query, &wanted_words(query, documents), documents)
        };
        assert_eq!(language("care", &[Language::Romanian]), Language::Romanian);
        assert_eq!(language("care", &[Language::English]), Language::English);
    }

    /// `行吗` found whatever has `行`, since neither pair is anywhere.
    #[test]
    fn a_character_of_a_pair_that_says_nothing_is_no_word() {
        let characters = |query: &str| -> Vec<String> {
            let words = words_with(query, LanguageSet::all(), |_| true);
            let is_one = |word: &QueryWord| word.kind == TokenKind::Character;
            words.into_iter().filter(is_one).map(|word| word.exact).collect()
        };
        assert!(characters("行吗").is_empty());
        // `以` weighs next to nothing itself.
        assert_eq!(characters("可以养猫吗"), ["以", "养", "猫", "吗"]);
        assert_eq!(characters("换锁"), ["换", "锁"]);
    }

    /// `犬を飼えますか` found nothing by words, although a rule says `犬の飼育`.
    #[test]
    fn a_japanese_word_of_one_character_is_a_word_of_the_query() {
        let characters = |query: &str| -> Vec<String> {
            let words = wanted_words(query, LanguageSet::all());
            let is_one = |word: &QueryWord| word.kind == TokenKind::Character;
            words.into_iter().filter(is_one).map(|word| word.exact).collect()
        };
        assert_eq!(characters("犬を飼えますか"), ["犬", "飼"]);
        assert_eq!(characters("部屋の鍵"), ["鍵"]);
        assert_eq!(characters("鍵"), ["鍵"]);
        assert!(characters("可以养狗吗").is_empty());
        assert!(characters("駐輪について").is_empty());
    }
}
