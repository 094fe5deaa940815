//! A question in natural language as filters and a query string.
//!
//! Without a language model the filters are read by rules and the words are joined; with one,
//! the model may write the query, and its filters are checked as ours are.

use infer::{Llm, Message};
use model::{Clock, Deadline};
use serde::Serialize;
use text::query_filters;

use crate::summary::shares_words;
use crate::walk::normal_ext;
use crate::{Error, Result};

/// Words after which a question is no longer rewritten by the rules.
const MAX_WORDS: usize = 32;

/// Tokens that the model may write.
const MAX_TOKENS: u32 = 200;

/// Filters that were read out of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RewrittenFilters {
    /// Extensions with their point.
    pub exts: Vec<String>,
    /// Years.
    pub years: Vec<String>,
}

/// A question, rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rewritten {
    /// The query string.
    pub fts: String,
    /// The filters.
    pub filters: RewrittenFilters,
    /// What was done.
    pub notes: String,
    /// What did it: `rules`, or the model's name.
    pub engine: String,
}

/// Rewrites a question.
pub(crate) fn rewrite(
    llm: Option<&dyn Llm>,
    clock: &Clock,
    query: &str,
    deadline: &Deadline,
) -> Result<Rewritten> {
    let said = query_filters(query, clock);
    let filters = RewrittenFilters {
        exts: said.extensions.iter().map(|ext| normal_ext(ext)).collect(),
        years: said.years.iter().map(i32::to_string).collect(),
    };
    let by_rules = fts(&said.text, &filters.years);
    let Some(llm) = llm else {
        return Ok(Rewritten {
            notes: "read by rules: question words left out, extensions and years taken as filters"
                .to_owned(),
            fts: by_rules,
            filters,
            engine: "rules".to_owned(),
        });
    };
    let prompt = format!(
        "Rewrite the question between the marks as a short full-text query: important words \
         only, phrases in double quotes, OR between phrases that are alternatives. Answer with the \
         query alone, on one line.\n\
         <question>\n{}\n</question>",
        query.replace('<', "‹").replace('>', "›")
    );
    let completion = llm
        .complete(&[Message::user(prompt)], MAX_TOKENS, &deadline.for_upstream())
        .map_err(Error::Llm)?;
    let notes = match checked(&completion.text, query) {
        Some(_) => "query by the language model, filters by rules",
        None => "the language model gave no usable query: read by rules",
    };
    Ok(Rewritten {
        fts: checked(&completion.text, query).unwrap_or(by_rules),
        filters,
        notes: notes.to_owned(),
        engine: llm.name().to_owned(),
    })
}

/// Joins the words that say what is wanted, as they were typed: phrases in quotes, `OR` between
/// two terms and what is excluded stay as `searchFiles` reads them, other operators and words that
/// ask go. Words are alternatives in a search, so nothing is between them; text without spaces
/// stays whole.
fn fts(text: &str, years: &[String]) -> String {
    let mut kept: Vec<String> = Vec::new();
    let (mut is_or, mut is_not) = (false, false);
    let pieces = pieces(text);
    let is_shouted = !text.chars().any(char::is_lowercase);
    for (idx, piece) in pieces.iter().enumerate() {
        let next = pieces.get(idx + 1);
        let context = Context { is_first: kept.is_empty(), is_shouted, text, next };
        let term = match piece {
            Piece::Phrase { phrase, is_excluded } => {
                is_not |= *is_excluded;
                format!("\"{phrase}\"")
            }
            Piece::Word("OR") => {
                is_or = !kept.is_empty();
                continue;
            }
            Piece::Word("NOT") => {
                is_not = true;
                continue;
            }
            Piece::Word(typed) => {
                let Some(word) = said(typed, &context) else { continue };
                is_not |= is_excluded(typed);
                word.to_owned()
            }
        };
        let term = if is_not { format!("-{term}") } else { term };
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
    match (kept.is_empty(), years.is_empty()) {
        (false, _) => kept.join(" "),
        (true, false) => years.join(" OR "),
        // A question of small words alone is better than none.
        (true, true) => text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// A phrase in quotes, or a word outside of them.
enum Piece<'a> {
    Phrase { phrase: &'a str, is_excluded: bool },
    Word(&'a str),
}

/// Where a word is.
struct Context<'a> {
    /// Whether nothing before it was kept.
    is_first: bool,
    /// Whether the whole query is in capitals.
    is_shouted: bool,
    text: &'a str,
    next: Option<&'a Piece<'a>>,
}

/// Cuts a text at spaces, but for what is in quotes; a quote that never closes is a space.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let parts: Vec<&str> = text.split('"').collect();
    let n_parts = parts.len();
    let mut pieces = Vec::new();
    let mut is_excluded = false;
    for (idx, part) in parts.into_iter().enumerate() {
        let is_quoted = idx % 2 == 1 && idx + 1 < n_parts;
        if is_quoted && part.chars().any(char::is_alphanumeric) {
            pieces.push(Piece::Phrase { phrase: part.trim(), is_excluded });
        } else {
            pieces.extend(part.split_whitespace().map(Piece::Word));
        }
        is_excluded = part == "-" || part.ends_with(" -");
    }
    pieces
}

/// Tells whether a search reads the word as excluded: a dash before a letter.
fn is_excluded(typed: &str) -> bool {
    typed.strip_prefix('-').is_some_and(|rest| rest.starts_with(char::is_alphabetic))
}

/// Gives what a word says, when it says something: no operator of another syntax, no small word,
/// nothing that asks.
fn said<'a>(typed: &'a str, context: &Context<'_>) -> Option<&'a str> {
    // `C++` and `C#` are names.
    let is_edge = |char: char| !char.is_alphanumeric() && !matches!(char, '*' | '+' | '#');
    let is_operator = typed == "AND" || typed == "NEAR" || typed.starts_with("NEAR/");
    let word = without_asking(typed.trim_matches(is_edge)).trim_matches(is_edge);
    // `WHO`, `IT` and `CAN` among small letters are names.
    let is_name = !context.is_shouted
        && word.chars().nth(1).is_some()
        && word.chars().all(char::is_uppercase);
    // A small word of one language that is a thing in another goes only where it asks.
    let is_homograph = HOMOGRAPHS.contains(&word.to_lowercase().as_str());
    let says_nothing = (is_small(word) && !is_homograph) || asks(word, context);
    let is_small = !is_name && says_nothing;
    (!is_operator && !is_small && !word.is_empty()).then_some(word)
}

fn is_small(word: &str) -> bool {
    text::is_small_word(&text::fold(word))
}

/// Tells whether a word asks or commands where it is.
fn asks(word: &str, context: &Context<'_>) -> bool {
    let word = word.to_lowercase();
    let word = word.as_str();
    // `price list` and `trade show` are things, `list contracts` is a command; `health care` is
    // one, `care este bugetul` asks.
    let is_before_small = || match context.next {
        Some(Piece::Word(next)) => {
            is_small(next.trim_matches(|char: char| !char.is_alphanumeric()))
        }
        Some(Piece::Phrase { .. }) | None => false,
    };
    QUESTION_WORDS.contains(&word)
        || context.is_first && COMMANDS.contains(&word)
        || context.is_first
            && HOMOGRAPHS.contains(&word)
            && (is_before_small() || context.text.trim_end().ends_with('?'))
}

/// Takes away what asks at the ends of text without spaces: `東京の図書館はどこですか` is about
/// `東京の図書館`, which stays whole.
fn without_asking(text: &str) -> &str {
    const ENDINGS: &[&str] = &[
        "はどこにありますか",
        "をで探してください",
        "を探してください",
        "で探してください",
        "を検索してください",
        "を見せてください",
        "はありますか",
        "をで探して",
        "を探して",
        "で探して",
        "を検索して",
        "を見せて",
        "について教えて",
        "を教えて",
        "教えて",
        "について教えてください",
        "を教えてください",
        "教えてください",
        "はどこですか",
        "はいつですか",
        "はいくらですか",
        "はどうですか",
        "はなぜですか",
        "は誰ですか",
        "とは何ですか",
        "は何ですか",
        "とはなんですか",
        "ですか",
        "ますか",
        "とは",
        "是什么",
        "在哪里",
        "在哪儿",
        "是多少",
        "需要多久",
        "要多久",
        "有多久",
        "多久",
        "是谁",
        "怎么样",
        "吗",
        "呢",
    ];
    const BEGINNINGS: &[&str] = &[
        "我想知道关于",
        "我想知道",
        "请告诉我",
        "告诉我",
        "请问",
        "什么是",
        "为什么",
        "如何",
        "怎么",
    ];
    let ending = ENDINGS.iter().find_map(|ending| text.strip_suffix(ending));
    let text = ending.filter(|rest| !rest.is_empty()).unwrap_or(text);
    let beginning = BEGINNINGS.iter().find_map(|beginning| text.strip_prefix(beginning));
    beginning.filter(|rest| !rest.is_empty()).unwrap_or(text)
}

/// Words that ask, and are found everywhere.
const QUESTION_WORDS: &[&str] = &[
    // English
    "what",
    "which",
    "who",
    "whom",
    "whose",
    "when",
    "where",
    "why",
    "how",
    "please",
    "does",
    "did",
    // Romanian
    "cine",
    "unde",
    "cum",
    "cand",
    "când",
    "cât",
    "ce",
    // German
    "was",
    "wer",
    "wo",
    "wann",
    "warum",
    "wie",
    "welche",
    "welcher",
    "welches",
    "bitte",
    // French
    "que",
    "qui",
    "quoi",
    "où",
    "quand",
    "pourquoi",
    "quel",
    "quelle",
    "quels",
    "quelles",
    // Spanish, Italian, Portuguese
    "qué",
    "quién",
    "dónde",
    "cuándo",
    "cómo",
    "cuál",
    "cuáles",
    "dove",
    "quando",
    "perché",
    "quale",
    "onde",
    "qual",
    "quais",
    // Dutch, Polish
    "wat",
    "hoeveel",
    "waar",
    "wanneer",
    "waarom",
    "welke",
    "gdzie",
    "kiedy",
    "dlaczego",
    "który",
    "która",
    // Russian, Ukrainian
    "что",
    "где",
    "когда",
    "почему",
    "какой",
    "какая",
    "какие",
    "сколько",
    "де",
    "коли",
    "чому",
    "який",
    "яка",
    "які",
    "скільки",
    // Korean
    "어디에",
    "어디",
    "언제",
    "무엇",
    "누가",
];

/// What a query begins with that only tells somebody to search.
const COMMANDS: &[&str] = &[
    "find",
    "show",
    "list",
    "give",
    "tell",
    "get",
    "search",
    "do",
    "can",
    "could",
    "would",
    "should",
    "găsește",
    "gaseste",
    "arată",
    "arata",
    "finde",
    "zeige",
    "suche",
    "trouve",
    "cherche",
    "montre",
    "busca",
    "encuentra",
    "muestra",
    "trova",
    "cerca",
    "mostra",
    "zoek",
    "znajdź",
    "pokaż",
    "найди",
    "покажи",
    "знайди",
];

/// Words that ask in one language and are things in another: `cat`, `care`, `comment`.
const HOMOGRAPHS: &[&str] = &["cat", "care", "comment", "come", "hoe", "jak"];

/// Takes the query out of what a model wrote: one line of the syntax that a search reads, or
/// nothing when it is something else.
fn checked(answer: &str, question: &str) -> Option<String> {
    let in_json = written_in_json(answer);
    let answer = in_json.as_deref().unwrap_or(answer);
    let line =
        answer.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("```"))?;
    // `Here is the query: vendor contracts`.
    let line = match line.split_once(':') {
        Some((lead, rest)) if lead.to_lowercase().contains("query") => rest.trim(),
        _ => line,
    };
    if line.matches('"').count() % 2 == 1 {
        return None;
    }
    let query = fts(&line.replace(['<', '>', '`'], " "), &[]);
    let most = question.chars().count() * 2 + MORE_CHARS;
    let has_words = query.chars().any(char::is_alphanumeric);
    // A query without a word of the question is about something else, such as an apology.
    let is_about = shares_words(&query, question, 1);
    (has_words && is_about && line.chars().count() <= most).then_some(query)
}

/// Takes the query out of an answer in the form of the tool's own.
fn written_in_json(answer: &str) -> Option<String> {
    let (begin, end) = (answer.find('{')?, answer.rfind('}')?);
    let value: serde_json::Value = serde_json::from_str(answer.get(begin..=end)?).ok()?;
    value["fts"].as_str().map(str::to_owned)
}

/// How much longer than the question a rewritten one may be, beside twice its length.
const MORE_CHARS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_say_something_are_kept() {
        for (text, expected) in [
            ("Which contracts mention vendor X?", "contracts mention vendor X"),
            ("how do I renew the \"master agreement\"?", "renew \"master agreement\""),
            ("東京の図書館はどこですか？", "東京の図書館"),
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
            ("roof - tiles, -5 degrees", "roof tiles 5 degrees"),
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
        ] {
            assert_eq!(fts(text, &[]), expected, "{text}");
        }
        assert_eq!(fts("the", &["2020".to_owned(), "2021".to_owned()]), "2020 OR 2021");
    }

    #[test]
    fn what_a_model_writes_is_checked() {
        let check = |answer: &str| checked(answer, "contracts of vendor X");
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
        let check_ja = checked("東京の図書館はどこですか", "東京の図書館");
        assert_eq!(check_ja.as_deref(), Some("東京の図書館"));
        assert_eq!(check("I am sorry, I cannot help with this"), None);
        assert_eq!(check(""), None);
        assert_eq!(check("what is the"), None);
        let seed = r#"{"fts": "vendor NEAR/5 contract AND (2021)", "filters": {"exts": []}}"#;
        assert_eq!(check(seed).as_deref(), Some("vendor contract 2021"));
        let told = check("Here is the query: vendor contracts");
        assert_eq!(told.as_deref(), Some("vendor contracts"));
        assert_eq!(check("\"vendor"), None);
        assert_eq!(check(&"word ".repeat(100)), None);
    }
}
