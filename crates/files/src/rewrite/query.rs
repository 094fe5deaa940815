//! A question in natural language as filters and a query string.
//!
//! Without a language model the filters are read by rules and the words are joined; with one,
//! the model may write the query, and its filters are checked as ours are.

use infer::{Llm, Message};
use model::{Clock, Deadline};
use serde::Serialize;
use text::{Language, LanguageSet, QueryFilters, query_filters, query_language};

use super::answered::checked;
use super::korean::without_particle;
use super::syntax::{
    Piece, as_typed, has_operators, is_excluded, is_minus, is_refused, left_out, pieces, terms,
};
use super::words::{
    AFTER_ASKING, ANYTHING, ASKING_BEGINNINGS, BEGINNINGS, COMMANDS, ENDINGS, HOMOGRAPHS,
    KOREAN_BEGINNINGS, KOREAN_ENDINGS, NEGATIONS, QUESTION_WORDS, WISHES, each, has,
};
use crate::filters::Filters;
use crate::years::shown;
use crate::{Error, Result};

/// Words after which a question is no longer rewritten by the rules.
const MAX_WORDS: usize = 32;

/// Tokens that the model may write.
const MAX_TOKENS: u32 = 200;

/// Filters that were read out of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RewrittenFilters {
    /// Extensions with their point, and a dash before those that are not wanted.
    pub exts: Vec<String>,
    /// Years, and ranges of many.
    pub years: Vec<String>,
}

/// A question, rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rewritten {
    /// The query string.
    pub fts: String,
    /// Kinds of files and years that the words ask for or rule out.
    pub filters: RewrittenFilters,
    /// What was done.
    pub notes: String,
    /// What did it: `rules`, or the model's name.
    pub engine: String,
}

/// Rewrites a question.
/// The languages of what is searched tell the language of a query that does not show its own.
pub(crate) fn rewrite(
    llm: Option<&dyn Llm>,
    clock: &Clock,
    query: &str,
    languages: LanguageSet,
    deadline: &Deadline,
) -> Result<Rewritten> {
    let said = query_filters(query, clock);
    let filters = Filters::of_query(&said);
    let filters = RewrittenFilters { exts: filters.shown_exts(), years: shown(&filters.years) };
    let kept = as_typed(&said.text, languages);
    let by_rules = match kept.unwrap_or_else(|| fts(&said.text, &filters.years, languages)) {
        // A search for a query that says nothing but filters is for the files that pass them.
        nothing if nothing.is_empty() => query.split_whitespace().collect::<Vec<_>>().join(" "),
        query => as_meant(query, &said, clock),
    };
    let Some(llm) = llm else {
        let is_cut = terms(&by_rules).count() >= MAX_WORDS;
        let cut = match is_cut {
            true => format!("; only the first {MAX_WORDS} words that say something are here"),
            false => String::new(),
        };
        return Ok(Rewritten {
            notes: format!(
                "read by rules: question words left out, extensions and years taken as \
                 filters{cut}"
            ),
            fts: by_rules,
            filters,
            engine: "rules".to_owned(),
        });
    };
    let prompt = format!(
        "Rewrite the question between the marks as a short full-text query: important words \
         only, phrases in double quotes, OR between phrases that are alternatives. Write `not \
         covered` as it is, and leave no word out of the search. Answer with the query alone, on \
         one line.\n\
         <question>\n{}\n</question>",
        query.replace('<', "‹").replace('>', "›")
    );
    let completion = llm
        .complete(&[Message::user(prompt)], MAX_TOKENS, &deadline.for_upstream())
        .map_err(Error::Llm)?;
    let written = checked(&completion.text, query, languages);
    let notes = match written {
        Some(_) => "query by the language model, filters by rules",
        None => "the language model gave no usable query: read by rules",
    };
    Ok(Rewritten {
        fts: written.map_or(by_rules, |query| as_meant(query, &said, clock)),
        filters,
        notes: notes.to_owned(),
        engine: llm.name().to_owned(),
    })
}

/// Puts words in quotes that a search would read as filters although they were not meant so: `what is
/// a pdf` is about PDF, and `"pdf"` is a word where `pdf` alone would be a filter.
fn as_meant(query: String, said: &QueryFilters, clock: &Clock) -> String {
    let is_meant = |query: &str| {
        let read = query_filters(query, clock);
        let is_in = |some: &[String], all: &[String]| some.iter().all(|one| all.contains(one));
        is_in(&read.extensions, &said.extensions)
            && is_in(&read.without_extensions, &said.without_extensions)
            && read.years.iter().all(|year| said.years.contains(year))
    };
    if is_meant(&query) {
        return query;
    }
    let is_denying = text::denies_filter(&said.text);
    let quoted = |word: &str| {
        let read = || query_filters(word, clock);
        match word {
            _ if word.starts_with('-') || read().is_empty() => Some(word.to_owned()),
            // A phrase has to match: what is not wanted is no phrase.
            _ if is_denying && !read().years.is_empty() => None,
            _ => Some(format!("\"{word}\"")),
        }
    };
    // Every second part is in quotes already.
    let parts = query.split('"').enumerate().map(|(part_idx, part)| match part_idx % 2 {
        0 => part.split(' ').filter_map(quoted).collect::<Vec<_>>().join(" "),
        _ => format!("\"{part}\""),
    });
    let changed: String = parts.collect();
    let says_something = changed.contains(char::is_alphanumeric);
    if says_something && is_meant(&changed) { changed } else { query }
}

/// Joins the words that say what is wanted, as they were typed: phrases in quotes, `OR` between
/// two terms and what is excluded stay as `searchFiles` reads them, other operators and words that
/// ask go. Words are alternatives in a search, so nothing is between them; text without spaces
/// stays whole.
pub(super) fn fts(text: &str, years: &[String], languages: LanguageSet) -> String {
    let mut kept: Vec<String> = Vec::new();
    let (mut is_or, mut is_not, mut is_led) = (false, false, false);
    let pieces = pieces(text);
    // A script without capitals is never shouted, whatever operators are in it.
    let has_letters = |is: fn(char) -> bool| {
        let words = text.split_whitespace().filter(|word| !["AND", "OR", "NOT"].contains(word));
        words.flat_map(str::chars).any(is)
    };
    let is_shouted = has_letters(char::is_uppercase) && !has_letters(char::is_lowercase);
    let language = query_language(text, languages);
    let has_operators = !is_shouted && has_operators(&pieces, language);
    let asks_in_korean = text.split_whitespace().any(|word| is_korean_asking(&plain(word)));
    for (idx, piece) in pieces.iter().enumerate() {
        let next = pieces.get(idx + 1);
        let before = idx.checked_sub(1).and_then(|before| pieces.get(before));
        let is_first = kept.is_empty();
        let context = Context { is_first, is_led, is_shouted, language, text, before, next };
        let term = match piece {
            Piece::Phrase { phrase, is_excluded } => {
                is_not |= *is_excluded;
                format!("\"{phrase}\"")
            }
            Piece::Word("OR") => {
                is_or = !kept.is_empty();
                continue;
            }
            // `which costs are NOT covered` asks for what is not covered.
            Piece::Word("NOT") if has_operators || matches!(next, Some(Piece::Phrase { .. })) => {
                is_not = true;
                continue;
            }
            Piece::Word("NOT") if next.is_some() => "not".to_owned(),
            Piece::Word(typed) => {
                let Some(word) = content_word(typed, &context) else {
                    is_led |= leads(typed);
                    continue;
                };
                is_not |= is_excluded(typed);
                if is_minus(typed) && !is_not {
                    format!("-{word}")
                } else if asks_in_korean {
                    without_particle(word).to_owned()
                } else {
                    word.to_owned()
                }
            }
        };
        let term = if is_not { left_out(&term) } else { term };
        if !kept.contains(&term) {
            // What is excluded is no alternative.
            kept.extend((is_or && !is_not).then(|| "OR".to_owned()));
            kept.push(term);
        }
        (is_or, is_not) = (false, false);
        if kept.len() >= MAX_WORDS {
            break;
        }
    }
    if kept.iter().all(|term| is_refused(term)) {
        // A search for nothing but what is left out finds nothing: these are the words of it.
        kept.iter_mut().for_each(|term| *term = term.replacen('-', "not ", 1));
    }
    match (kept.is_empty(), years.is_empty()) {
        (false, _) => kept.join(" "),
        (true, false) => years.join(" OR "),
        // A question of small words alone is better than none.
        (true, true) => text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// Where a word is.
struct Context<'a> {
    /// Whether nothing before it was kept.
    is_first: bool,
    /// Whether a request began before it: "show …", "is there …", "I …".
    is_led: bool,
    /// Whether the whole query is in capitals.
    is_shouted: bool,
    language: Language,
    text: &'a str,
    before: Option<&'a Piece<'a>>,
    next: Option<&'a Piece<'a>>,
}

/// Takes the signs off a word, and its case.
fn plain(word: &str) -> String {
    text::without_signs(word, |_| false).to_lowercase()
}

fn is_korean_asking(word: &str) -> bool {
    each(KOREAN_BEGINNINGS).any(|beginning| word.starts_with(beginning))
        || has(QUESTION_WORDS, word) && word.chars().any(|char| ('가'..='힣').contains(&char))
        || each(KOREAN_ENDINGS).any(|ending| word.ends_with(ending))
}

impl Context<'_> {
    /// Tells whether the word right before asks, or is one of those that only follow such a word.
    fn is_after_asking(&self) -> bool {
        let Some(Piece::Word(before)) = self.before else { return false };
        let before = plain(before);
        let is_asking = |list| has(list, &before);
        is_asking(QUESTION_WORDS) || is_asking(HOMOGRAPHS) && self.is_first
    }

    /// A phrase in quotes is no word: nothing then.
    fn next_word(&self) -> Option<String> {
        match self.next {
            Some(Piece::Word(next)) => Some(plain(next)),
            Some(Piece::Phrase { .. }) | None => None,
        }
    }
}

/// Gives what a word says, when it says something: no operator of another syntax, no small word,
/// nothing that asks.
fn content_word<'a>(typed: &'a str, context: &Context<'_>) -> Option<&'a str> {
    // `C++` and `C#` are names.
    let is_of_name = |char: char| matches!(char, '*' | '+' | '#');
    let is_operator = typed == "AND" || typed == "NEAR" || typed.starts_with("NEAR/");
    let word = without_asking(text::without_signs(typed, is_of_name));
    let word = text::without_signs(word, is_of_name);
    // `WHO`, `IT` and `CAN` among small letters are names.
    let is_name = !context.is_shouted
        && word.chars().nth(1).is_some()
        && word.chars().all(char::is_uppercase);
    // A small word of one language that is a thing in another goes only where it asks.
    let is_homograph = has(HOMOGRAPHS, &word.to_lowercase());
    let is_small_word = is_small(word, context.language);
    let says_nothing = (is_small_word && !is_homograph) || asks(word, context);
    // `contracts not signed` are others than `contracts signed`.
    let is_negation = has(NEGATIONS, &word.to_lowercase());
    let is_small = !is_name && !is_negation && says_nothing;
    (!is_operator && !is_small && !word.is_empty()).then_some(word)
}

/// A small word of another language is a thing in this one: `van hire`, `die casting`. One of two
/// letters is none.
pub(super) fn is_small(word: &str, language: Language) -> bool {
    let folded = text::fold(word);
    let is_short = folded.chars().nth(MAX_SHORT_CHARS).is_none();
    text::is_small_word_of(&folded, language) || is_short && text::is_small_word(&folded)
}

/// Small words of no more characters are small whatever the language is.
const MAX_SHORT_CHARS: usize = 2;

/// Tells whether a word asks or commands where it is.
fn asks(word: &str, context: &Context<'_>) -> bool {
    let word = word.to_lowercase();
    // `what's`, `who’re`
    let word =
        word.split(['\'', '’']).next().filter(|first| has(QUESTION_WORDS, first)).unwrap_or(&word);
    // `price list` and `trade show` are things, `list contracts` is a command; `health care` is
    // one, `care este bugetul` asks.
    let is_before_small = || match context.next {
        Some(Piece::Word(next)) => is_small(text::without_signs(next, |_| false), context.language),
        Some(Piece::Phrase { .. }) | None => false,
    };
    let is_request = context.is_first && context.is_led;
    let is_last =
        context.next.is_none() && context.text.trim_end().ends_with(['?', '？', '؟', ';']);
    let is_behind_small = || match context.before {
        Some(Piece::Word(before)) => is_small(&plain(before), context.language),
        _ => false,
    };
    has(QUESTION_WORDS, word)
        || has(AFTER_ASKING, word)
            && (context.is_first && context.is_after_asking() || is_last && context.is_led)
        // `hol van a torony`, `kontrak ada di mana?`
        || has(HOMOGRAPHS, word)
            && (context.is_first && context.next_word().is_some_and(|next| has(AFTER_ASKING, &next))
                || is_last && is_behind_small())
        || each(KOREAN_BEGINNINGS).any(|beginning| word.starts_with(beginning))
        || context.is_first && has(COMMANDS, word)
        || is_request && has(WISHES, word)
        || context.is_first && ["looking", "searching"].contains(&word) && is_before_small()
        // `documents about harbours`, but not `document control`.
        || is_request && has(ANYTHING, word) && is_before_small()
        || context.is_first
            && has(HOMOGRAPHS, word)
            && (is_before_small() || context.text.trim_end().ends_with('?'))
}

/// Tells whether a word that was left out began a request.
fn leads(typed: &str) -> bool {
    let word = plain(typed);
    let word = word.as_str();
    ["i", "we", "is", "are", "there", "ich", "wir", "je", "nous"].contains(&word)
        || has(QUESTION_WORDS, word)
        || has(COMMANDS, word)
}

/// Takes away what asks at the ends of text without spaces: `東京の図書館はどこですか` is about
/// `東京の図書館`, which stays whole.
fn without_asking(text: &str) -> &str {
    let ending = each(ENDINGS).find_map(|ending| text.strip_suffix(ending));
    // A verb stays whole: `行いますか` is `行います`.
    let verb = || text.strip_suffix('か').filter(|rest| rest.ends_with("ます"));
    let without = ending.filter(|rest| !rest.is_empty()).or_else(verb);
    let text = without.unwrap_or(text);
    let asking = without.map_or("", |_| ASKING_BEGINNINGS);
    let mut beginnings = each(BEGINNINGS).chain(each(asking));
    let beginning = beginnings.find_map(|beginning| text.strip_prefix(beginning));
    beginning.filter(|rest| !rest.is_empty()).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_joined_stays_joined() {
        let check = |typed: &str, expected: Option<&str>| {
            assert_eq!(as_typed(typed, LanguageSet::all()).as_deref(), expected, "{typed}");
        };
        for typed in [
            "vendor NEAR/5 contract AND (2021)",
            "(harbour OR pier) AND crane",
            "crane NEAR \"stone pier\"",
        ] {
            check(typed, Some(typed));
        }
        check("vendor AND contract NOT draft", Some("vendor AND contract -draft"));
        check("roof AND -tiles", Some("roof AND -tiles"));
        check("roof AND NOT tiles", Some("roof AND -tiles"));
        check("roof AND wall NOT 2019", Some("roof AND wall -\"2019\""));
        check(
            "\"do NOT enter\" AND (wall NOT 7zip)",
            Some("\"do NOT enter\" AND (wall -\"7zip\")"),
        );
        for other in [
            "AND vendor contract AND",
            "(vendor AND contract",
            "roof AND tiles NOT (slate OR copper)",
            "roof OR tiles",
            "roof tiles",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn only_words_that_say_something_are_kept() {
        for (text, expected) in [
            ("Which contracts mention vendor X?", "contracts mention vendor X"),
            ("how do I renew the \"master agreement\"?", "renew \"master agreement\""),
            ("東京の図書館はどこですか？", "東京の図書館"),
            ("どこに契約書がありますか", "契約書"),
            ("予算はどこにあるか？", "予算"),
            ("การประชุมเมื่อไหร่", "การประชุม"),
            ("การประชุมเมื่อไหร่?", "การประชุม"),
            ("นโยบายค่าเดินทางใหม่", "นโยบายค่าเดินทางใหม่"),
            ("भारतीय संसद्?", "भारतीय संसद्"),
            ("where is the cafe\u{301}?", "cafe\u{301}"),
            ("どこでもドアの作り方", "どこでもドアの作り方"),
            ("リモートワーク手当とは何ですか", "リモートワーク手当"),
            ("请问出差补助是多少？", "出差补助"),
            ("契約書 更新", "契約書 更新"),
            ("ですか", "ですか"),
            ("Wie lange gilt der Vertrag?", "lange gilt Vertrag"),
            ("where is the", "where is the"),
            ("c++ or c#", "c++ c#"),
            ("契約書をで探して", "契約書"),
            ("リモートワークについて教えて", "リモートワーク"),
            ("我想知道关于出差补助", "出差补助"),
            ("Hoeveel kost het contract?", "kost contract"),
            ("the \"state of the art\" in casting", "\"state of the art\" casting"),
            ("an unclosed \"quote of mine", "unclosed quote mine"),
            ("vendor NEAR/5 contract AND (2021)", "vendor contract 2021"),
            ("roof OR tiles OR", "roof OR tiles"),
            ("OR roof NOT tiles", "roof -tiles"),
            (
                "roof -tiles -\"red brick\" NOT \"old house\"",
                "roof -tiles -\"red brick\" -\"old house\"",
            ),
            ("roof - tiles, -5 degrees", "roof tiles -5 degrees"),
            ("roof OR -tiles", "roof -tiles"),
            // What asks or commands in one place is a thing in another.
            ("list contracts in the price list", "contracts price list"),
            ("trade show 2021", "trade show 2021"),
            ("health care contracts", "health care contracts"),
            ("care este bugetul spitalului?", "bugetul spitalului"),
            ("cat food invoices", "cat food invoices"),
            ("cat a costat podul", "costat podul"),
            ("WHO guidelines on IT security", "WHO guidelines IT security"),
            ("WHO IS THE VENDOR", "VENDOR"),
            // A negation says something.
            ("Which contracts are not signed?", "contracts not signed"),
            ("contracts without a signature", "contracts without signature"),
            ("Which costs are NOT covered by the policy?", "costs not covered policy"),
            ("WHAT IS NOT COVERED", "not COVERED"),
            ("damage NOT covered", "damage not covered"),
            ("contracts NOT vendors", "contracts -vendors"),
            ("灯台 NOT 石", "灯台 -石"),
            ("damage AND flood NOT covered", "damage flood -covered"),
            ("damage and flood is NOT covered", "damage flood not covered"),
            ("what is covered and NOT excluded OR limited?", "covered not excluded OR limited"),
            ("Verträge ohne Unterschrift", "Verträge ohne Unterschrift"),
            // What only asks somebody to search is not looked for.
            ("find me documents about harbour fees", "harbour fees"),
            ("show me all the files on vendor X", "vendor X"),
            ("I need the contracts of vendor X", "contracts vendor X"),
            ("we are looking for information on parking", "parking"),
            ("is there anything about parking?", "parking"),
            ("could you tell me what the allowance is", "allowance"),
            ("can you help me find the ferry timetable", "ferry timetable"),
            ("zeige mir Dokumente über Hafengebühren", "Hafengebühren"),
            ("montre-moi les documents sur le port", "port"),
            ("document control procedure", "document control procedure"),
            ("the need for housing", "need housing"),
            ("show me documents", "documents"),
            // Korean
            ("계약서는 어디에 있나요?", "계약서"),
            ("해고 예고 기간은 얼마인가요?", "해고 예고 기간"),
            ("연차휴가에 대해 알려주세요", "연차휴가"),
            ("대한항공 계약서 찾아줘", "대한항공 계약서"),
        ] {
            assert_eq!(fts(text, &[], LanguageSet::all()), expected, "{text}");
        }
        let years = ["2020".to_owned(), "2021".to_owned()];
        assert_eq!(fts("the", &years, LanguageSet::all()), "2020 OR 2021");
    }

    /// `van`, `door` and `hat` are small words of other languages, and were left out of every query.
    #[test]
    fn small_words_are_those_of_the_language() {
        let english = LanguageSet::from_iter([Language::English]);
        for query in ["van hire", "door repair", "hat sizes", "met office", "die casting mould"] {
            assert_eq!(fts(query, &[], english), query);
        }
        let dutch = LanguageSet::from_iter([Language::Dutch]);
        assert_eq!(fts("kosten van het contract", &[], dutch), "kosten contract");
    }

    #[test]
    fn questions_lose_what_asks_in_many_languages() {
        for (text, expected) in [
            ("What's the deadline for filing?", "deadline filing"),
            ("Где находится маяк?", "маяк"),
            ("Де знаходиться маяк?", "маяк"),
            ("Που είναι ο φάρος;", "φάρος"),
            ("ما هي سياسة الإجازات؟", "سياسة الإجازات"),
            ("أين يوجد المنارة", "المنارة"),
            ("איפה המגדלור?", "המגדלור"),
            ("प्रकाशस्तंभ कहाँ है?", "प्रकाशस्तंभ"),
            ("ประภาคารอยู่ที่ไหน", "ประภาคาร"),
            ("ngọn hải đăng ở đâu?", "ngọn hải đăng"),
            ("di mana mercusuar?", "mercusuar"),
            ("onde fica o farol?", "farol"),
            ("Combien coûte le loyer ?", "coûte loyer"),
            ("¿Cuánto cuesta el alquiler?", "cuesta alquiler"),
            ("Hvor ligger kontrakten?", "ligger kontrakten"),
            ("Missä vuokrasopimus on?", "vuokrasopimus"),
            ("Kolik stojí pronájem haly?", "stojí pronájem haly"),
            ("Kira sözleşmesi nerede?", "Kira sözleşmesi"),
            ("契約期間は何年ですか？", "契約期間"),
            ("灯台の点検は毎月何日に行いますか", "灯台の点検は毎月何日に行います"),
            ("合同的有效期是多长时间？", "合同的有效期"),
            ("谁负责维修锁？", "负责维修锁"),
            ("Hol van a világítótorony?", "világítótorony"),
            ("hol van a szerződés", "szerződés"),
            ("Gdzie jest latarnia morska?", "latarnia morska"),
            ("Czy jest umowa najmu?", "umowa najmu"),
            ("Când vine vaporul?", "vaporul"),
            ("Who keeps the lighthouse?", "lighthouse"),
            ("mana kontrak sewa?", "kontrak sewa"),
            ("Kontrak sewa ada di mana?", "Kontrak sewa"),
            ("Dov'è il faro?", "faro"),
            ("Onde está o farol?", "farol"),
            ("Nerede deniz feneri var?", "deniz feneri"),
            ("Де є маяк?", "маяк"),
            ("איפה נמצא המגדלור?", "המגדלור"),
            ("등대는 어디에 있습니까?", "등대"),
            ("누가 등대를 관리합니까?", "등대 관리"),
            ("계약이 언제 끝나나요?", "계약 끝나나요"),
            ("정기회의가 언제 있나요?", "정기회의"),
            ("연차휴가 언제 신청하나요?", "연차휴가 신청"),
            // The same words elsewhere say something.
            ("van hire contracts", "van hire contracts"),
            ("vine growers", "vine growers"),
            ("the goalkeeper keeps the ball", "goalkeeper keeps ball"),
            ("mana pool rules", "mana pool rules"),
            ("apă potabilă", "apă potabilă"),
        ] {
            assert_eq!(fts(text, &[], LanguageSet::all()), expected, "{text}");
        }
    }

    /// Whatever the rules write, a search reads the same filters out of it, or fewer.
    #[test]
    fn what_is_written_is_read_as_it_was_meant() {
        let clock = Clock::fixed(model::Timestamp(1_700_000_000_000));
        let rewritten = |query: &str| {
            let soon = Deadline::after(std::time::Duration::from_secs(1));
            rewrite(None, &clock, query, LanguageSet::all(), &soon).unwrap()
        };
        let check = |query: &str, fts: &str, exts: &[&str], years: &[&str]| {
            let Rewritten { fts: written, filters, .. } = rewritten(query);
            assert_eq!(written, fts, "{query}");
            assert_eq!(filters.exts, exts, "{query}");
            assert_eq!(filters.years, years, "{query}");
            // As the whole query of a search.
            let read = Filters::of_query(&query_filters(&written, &clock));
            assert!(read.shown_exts().iter().all(|ext| filters.exts.contains(ext)), "{query}");
            let years = crate::years::spelled_out(&filters.years);
            assert!(read.years.iter().all(|year| years.contains(year)), "{query}");
        };
        let long: Vec<String> = (0..40).map(|n| format!("berth{n}")).collect();
        assert!(rewritten(&long.join(" ")).notes.contains("only the first 32 words"));
        assert!(!rewritten("berth").notes.contains("only"));
        check("ship not in pdf", "ship", &["-.pdf"], &[]);
        check("contracts from 2021, but not in pdf", "contracts", &["-.pdf"], &["2021"]);
        check("what is a pdf?", "\"pdf\"", &[], &[]);
        check("carbon neutral by 2030", "carbon neutral \"2030\"", &[], &[]);
        check("who signed ISO 9001:2015?", "signed ISO 9001:2015", &[], &[]);
        check("contract before 2022", "contract", &[], &["1900-2021"]);
        check("contract since 2021", "contract", &[], &["2021", "2022", "2023"]);
        check("excel or csv budget", "budget", &[".csv", ".xls", ".xlsx"], &[]);
        check("in pdf", "in pdf", &[".pdf"], &[]);
        check("convert the pdf to docx", "convert pdf docx", &[], &[]);
        check("contracts not from 2022", "contracts not 2022", &[], &[]);
        check("contracts other than 2022", "contracts other", &[], &[]);
        check("contracts except 2022", "contracts except 2022", &[], &[]);
    }

    #[test]
    fn what_a_model_writes_is_checked() {
        let check = |answer: &str| checked(answer, "contracts of vendor X", LanguageSet::all());
        assert_eq!(
            check("vendor AND (contract OR agreement)\nbecause…").as_deref(),
            Some("vendor contract OR agreement")
        );
        assert_eq!(
            check("```\n\"vendor x\" contract\n```").as_deref(),
            Some("\"vendor x\" contract")
        );
        assert_eq!(check("what are the vendor contracts?").as_deref(), Some("vendor contracts"));
        assert_eq!(check("vendor NEAR/3 contract").as_deref(), Some("vendor contract"));
        let check_ja = checked("東京の図書館はどこですか", "東京の図書館", LanguageSet::all());
        assert_eq!(check_ja.as_deref(), Some("東京の図書館"));
        assert_eq!(check("I am sorry, I cannot help with this"), None);
        assert_eq!(check(""), None);
        assert_eq!(check("what is the"), None);
        let seed = r#"{"fts": "vendor NEAR/5 contract AND (2021)", "filters": {"exts": []}}"#;
        assert_eq!(check(seed).as_deref(), Some("vendor contract 2021"));
        assert_eq!(check("1. vendor contracts").as_deref(), Some("vendor contracts"));
        let told = check("Here is the query: vendor contracts");
        assert_eq!(told.as_deref(), Some("vendor contracts"));
        assert_eq!(check("\"vendor"), None);
        // JSON of another form, and prose that repeats the question.
        for other in [
            r#"{"query": "vendor contracts", "terms": ["vendor"]}"#,
            r#"["vendor", "contracts"]"#,
            "```json\n{\"search\": \"vendor contracts\"}\n```",
            "You can find the contracts of vendor X if you look in the folder that has them.",
            "Sure! I would look for contracts of vendor X.",
        ] {
            assert_eq!(check(other), None, "{other}");
        }
        assert_eq!(check(&"word ".repeat(100)), None);
        let check = |answer: &str, question: &str| checked(answer, question, LanguageSet::all());
        for written in ["costs AND NOT covered", "costs -covered", "costs -\"covered\""] {
            let query = check(written, "which costs are not covered?");
            assert_eq!(query.as_deref(), Some("costs not covered"), "{written}");
        }
        let query = check("roof AND -tiles", "roof -tiles");
        assert_eq!(query.as_deref(), Some("roof -tiles"));
    }
}
