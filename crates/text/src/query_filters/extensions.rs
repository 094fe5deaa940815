//! Kinds of files: `.pdf`, "in ppt or docx", "PowerPoint files", `docx格式`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::lazy::folded;
use super::leftovers::{self, BOUND};
use super::words::denials::{BEFORE_BEHIND, BEHIND, TOUCHING};
use super::{HOLE, cut_out, doubt, words};

/// Words that name a kind of file, with the extensions they mean; `ppt` means both forms.
const KINDS: &[(&str, &[&str])] = &[
    ("pdf", &["pdf"]),
    ("pdfs", &["pdf"]),
    ("doc", &["doc", "docx"]),
    ("docs", &["doc", "docx"]),
    ("docx", &["docx"]),
    ("word", &["doc", "docx"]),
    ("ppt", &["ppt", "pptx"]),
    ("ppts", &["ppt", "pptx"]),
    ("pptx", &["pptx"]),
    ("powerpoint", &["ppt", "pptx"]),
    ("power point", &["ppt", "pptx"]),
    ("powerpoints", &["ppt", "pptx"]),
    ("パワーポイント", &["ppt", "pptx"]),
    ("パワポ", &["ppt", "pptx"]),
    ("幻灯片", &["ppt", "pptx"]),
    ("演示文稿", &["ppt", "pptx"]),
    ("xls", &["xls", "xlsx"]),
    ("xlsx", &["xlsx"]),
    ("excel", &["xls", "xlsx"]),
    ("エクセル", &["xls", "xlsx"]),
    ("ワード", &["doc", "docx"]),
    ("odt", &["odt"]),
    ("ods", &["ods"]),
    ("odp", &["odp"]),
    ("csv", &["csv"]),
    ("csvs", &["csv"]),
    ("tsv", &["tsv"]),
    ("txt", &["txt"]),
    ("md", &["md"]),
    ("markdown", &["md"]),
    ("htm", &["htm", "html"]),
    ("html", &["htm", "html"]),
    ("xml", &["xml"]),
    ("json", &["json"]),
    ("yml", &["yaml", "yml"]),
    ("yaml", &["yaml", "yml"]),
    ("eml", &["eml"]),
    ("msg", &["msg"]),
    ("epub", &["epub"]),
    ("rtf", &["rtf"]),
    ("zip", &["zip"]),
];

/// Gives the extensions, without the point, of a kind of file that people name otherwise than by one
/// of them: `markdown`, `excel`. Nothing for everything else.
///
/// ```
/// assert_eq!(text::extensions_named("Markdown"), ["md"]);
/// assert!(text::extensions_named("md").is_empty());
/// ```
pub fn extensions_named(kind: &str) -> &'static [&'static str] {
    let kind = kind.trim().to_lowercase();
    let named = KINDS.iter().find(|(name, extensions)| *name == kind && !extensions.contains(name));
    named.map_or(&[], |(_, extensions)| extensions)
}

/// An extension written with a point may also be one of code.
const CODE: &[&str] =
    &["rs", "py", "js", "ts", "java", "c", "h", "cpp", "go", "sql", "sh", "toml", "ini", "log"];

/// Formats that nobody says without meaning the format.
pub(super) const PLAIN: &str =
    "pdfs?|docx|pptx?|ppts|xlsx?|odt|ods|odp|csv|tsv|epub|rtf|powerpoints?";

struct Patterns {
    dotted: Regex,
    cued: Regex,
    named: Regex,
    either: Regex,
    plain: Regex,
    last: Regex,
    beside_ideograph: Regex,
    convert: Regex,
    explicit: Regex,
    files: Regex,
    year_follows: Regex,
}

/// The names of all kinds as alternatives, longer ones first: the first that fits wins.
pub(super) fn names() -> String {
    let mut names: Vec<String> = KINDS.iter().map(|(name, _)| regex::escape(name)).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names.join("|")
}

/// Gives the patterns of one kind, and of what joins two of them.
fn kind_and_joint() -> (String, String) {
    let kind = format!(r"\*?\.?(?:{})", names());
    let (either, both) = (words::ors(), words::ands());
    let joint = format!(
        r"\s*(?:{BOUND}|,\s*(?:{either}|{both})\b|[,;/|&+、，；・·／＋＆]|\b(?:{either}|{both})(?:\s*/\s*(?:{either}|{both}))?\b\.?|이나|와|과|または|又は|もしくは|あるいは|或いは|と|か|や|或者|或是|或|和|与|及|以及)\s*"
    );
    (kind, joint)
}

/// What may be before and after ASCII words beside Han and kana.
const EDGE: &str = r"(?-u:\b)";

/// Formats that are not wanted: "but not in pdf or docx", `PDF以外の`, `除了pdf`.
static EXCLUDED: LazyLock<Regex> = LazyLock::new(|| {
    let (kind, joint) = kind_and_joint();
    let list = format!(r"(?:{kind})(?:{joint}(?:{kind}))*");
    let (either, both) = (words::ors(), words::ands());
    // "but in pdf" asks for it.
    let not = words::denials().replace("|but|", "|");
    let small = words::all(|words| words.before_formats);
    let after = words::all(|words| words.after_formats);
    let prefixed = format!(
        r"(?:^|[\s,(])(?:(?:{BUT}|{both}|{either})\s+)?(?:{not})(?:\s+|[-־])(?:(?:{small}|{ARTICLES})\s+){{0,3}}({list}){EDGE}(?:[\s-]+(?:{after}|format(?:ul)?)\b)?"
    );
    let suffixed = format!(
        r"({list})(?:形式|ファイル|格式|文件|파일)?(?:{BEFORE_BEHIND})*(?:{BEHIND})(?:の|で|的|は)?"
    );
    let touching = format!(r"(?:{TOUCHING})[\s־-]*({list})(?:格式|文件)?(?:之外|以外|外)?(?:的)?");
    Regex::new(&format!("(?i){prefixed}|{suffixed}|{touching}"))
        .expect("the pattern is constant and tested")
});

/// Is before "not" where both belong together.
pub(super) const BUT: &str =
    "but|just|only|aber|jedoch|mais|pero|dar|ma|mas|maar|ale|но|але|men|αλλά";

/// Articles and small words before a format that is not wanted.
const ARTICLES: &str = "a|an|the|any|i|gli|le|w|we|v|ve|в|во|у|dalam|le|la|les|el|los|das|dem|der|ein|eine|il|o|os|de|het|un|une";

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let (kind, joint) = kind_and_joint();
    let names = names();
    let dotted_kind = format!(r"(?:{names}|{})", CODE.join("|"));
    let plain = format!("(?:{PLAIN})");
    let either = words::ors();
    let list = format!(r"(?:{kind})(?:{joint}(?:{kind}))*");
    let or = format!(r"\s*(?:,\s*(?:{either})\b|/|\||\b(?:{either})\b)\s*");
    let plain_list = format!(r"(?:(?:{kind}){joint})*(?:{plain})(?:{joint}(?:{kind}))*");
    let edge = EDGE;
    let before = format!("(?:{})", words::all(|words| words.before_formats));
    let after = format!("(?:{})", words::all(|words| words.after_formats));
    let after_wide = r"(?:の)?(?:ファイル|形式|フォーマット|資料|文書|ドキュメント|文件|文档|格式|表格|附件|파일|문서|형식|자료)(?:の|的|で|中|의|을|를|로)?";
    let build = |pattern: String| Regex::new(&pattern).expect("the pattern is constant and tested");
    let convert = words::all(|words| words.convert);
    let (both, since) = (words::ands(), words::all(|words| words.since));
    let of_year = words::all(|words| words.of_year);
    // "in pdf or in word"
    let cued_list = format!(r"(?:{kind})(?:{joint}(?:{before}\s+)?(?:{kind}))*");
    Patterns {
        convert: build(format!(r"(?i)\b(?:{convert})\b")),
        explicit: build(r"(?i)(?:filetype|ext|type|format)[:=]".to_owned()),
        files: build(format!(r"(?i)^(?:{})\s", words::joints::FILES)),
        year_follows: build(format!(
            r"(?i)^\s*,?\s*(?:(?:{both})\s+)?(?:(?:{of_year}|{since})\s+){}(?:19|20)\d\d",
            words::joints::THE_YEAR
        )),
        dotted: build(format!(r"(?i)(?:^|[\s,(（、])(\*?\.{dotted_kind})(?:$|[\s,;)）、。])")),
        cued: build(format!(
            r"(?i)(?:^|[\s,(])({before}\s*[:=]?\s+(?:the\s+)?|(?:filetype|ext|type|format)[:=])({cued_list}){edge}(?:[\s-]+(?:{after}|format(?:ul)?)(?:$|[\s,]))?"
        )),
        named: build(format!(
            r"(?i)(?:{edge}({list}){edge}[\s-]+{after}(?:$|[\s,.;?])|({list})\s*{after_wide})"
        )),
        either: build(format!(
            r"(?i)(?:^|[\s,(])((?:{kind})(?:{joint}(?:{kind}))*(?:{or}(?:{kind}))(?:{joint}(?:{kind}))*){edge}(?:$|[\s,.;?)])"
        )),
        plain: build(format!(r"(?i){edge}{plain}{edge}")),
        // What is not wanted was cut out behind it: "html and csv, but not md".
        last: build(format!(
            r"(?i)(?:^|[\s,(])({plain_list})\)?(?:[\s,;]*(?:(?:{BUT})[\s,]*)?{HOLE})?\s*[.?!]?\s*$"
        )),
        beside_ideograph: build(format!(
            r"(?i){edge}({plain_list}){edge}(?:の|的|で|\p{{Han}}|\p{{Katakana}})|[\p{{Han}}の的](?:\s*)({plain_list}){edge}"
        )),
    }
});

/// Takes the kinds of files out of a query.
pub(super) fn take(query: &mut String) -> Vec<String> {
    let mut found = Vec::new();
    if !names_a_kind(query) {
        return found;
    }
    let patterns = &*PATTERNS;
    // `pdf in docx umwandeln` is about both formats, and about neither as a filter.
    if patterns.convert.is_match(query) && !patterns.explicit.is_match(query) {
        return found;
    }
    while let Some(range) = first_of(&patterns.dotted, query, &[1]) {
        found.extend(extensions_in(query.get(range.clone()).unwrap_or_default()));
        cut_out(query, range);
    }
    while let Some((whole, list)) = cued(query) {
        found.extend(extensions_in(query.get(list).unwrap_or_default()));
        cut_out(query, whole);
    }
    while let Some(captures) = patterns.named.captures(query) {
        let Some((whole, list)) = list_of(&captures, &[1, 2]) else { break };
        let list_text = query.get(list.clone()).unwrap_or_default();
        if is_talk(query, whole.start)
            || is_weak_name(list_text) && !is_naming(query, whole.clone())
        {
            break;
        }
        found.extend(extensions_in(list_text));
        cut_out(query, whole);
    }
    while let Some(range) = either(query) {
        found.extend(extensions_in(query.get(range.clone()).unwrap_or_default()));
        cut_out(query, range);
    }
    if let Some(range) = first_of(&patterns.last, query, &[1])
        && !is_talk(query, range.start)
    {
        found.extend(extensions_in(query.get(range.clone()).unwrap_or_default()));
        cut_out(query, range);
    }
    if let Some(range) = first_of(&patterns.beside_ideograph, query, &[1, 2]) {
        found.extend(extensions_in(query.get(range.clone()).unwrap_or_default()));
        cut_out(query, range);
    }
    found
}

/// Takes the kinds of files out of a query that are not wanted.
pub(super) fn take_excluded(query: &mut String) -> Vec<String> {
    let mut found = Vec::new();
    // Most queries want what they name, and need none of the patterns for what is not wanted.
    if !names_a_kind(query) || !doubt::is_negated(query) || PATTERNS.convert.is_match(query) {
        return found;
    }
    let before = query.clone();
    while let Some(captures) = EXCLUDED.captures(query) {
        let Some((whole, list)) = list_of(&captures, &[1, 2, 3]) else { break };
        let is_suffixed = captures.get(2).is_some();
        let head = query.get(..whole.start).unwrap_or_default();
        let tail = query.get(whole.end..).unwrap_or_default();
        if leftovers::list_goes_on(head, tail, is_suffixed) {
            *query = before;
            return vec![];
        }
        let list_text = query.get(list.clone()).unwrap_or_default();
        // "not word for word" names no format.
        let is_alone = list.end == whole.end;
        let next = query.get(whole.end..).unwrap_or_default();
        let is_last = !next.contains(char::is_alphanumeric);
        if is_weak_name(list_text) && is_alone && !is_last {
            break;
        }
        found.extend(extensions_in(list_text));
        cut_out(query, whole);
    }
    found
}

/// Finds formats of which either is meant, wherever they are in a query: "excel or csv budget". One
/// of them must be a format to everybody, and the query must not weigh one against the other.
fn either(query: &str) -> Option<Range<usize>> {
    const WEIGHING: &[&str] = &[
        "vs",
        "versus",
        "better",
        "best",
        "difference",
        "differences",
        "compare",
        "comparing",
        "comparison",
        "choose",
        "support",
        "supports",
        "supported",
        "unterschied",
        "unterschiede",
        "vergleich",
        "vergleichen",
        "besser",
        "différence",
        "différences",
        "comparer",
        "mieux",
        "diferencia",
        "diferencias",
        "comparar",
        "mejor",
        "differenza",
        "meglio",
        "diferença",
        "melhor",
        "verschil",
        "vergelijken",
        "beter",
        "diferența",
        "diferenta",
        "różnica",
        "разница",
        "сравнение",
        "лучше",
        "різниця",
        "порівняння",
        "краще",
    ];
    let lower = query.to_lowercase();
    let is_weighed =
        lower.split(|char: char| !char.is_alphanumeric()).any(|word| WEIGHING.contains(&word));
    if is_weighed {
        return None;
    }
    PATTERNS.either.captures_iter(query).find_map(|captures| {
        let list = captures.get(1)?;
        // Formats that are words of prose too are meant as formats where they end a query.
        let is_last = !query.get(list.end()..)?.contains(char::is_alphanumeric)
            && query.get(..list.start())?.contains(char::is_alphanumeric);
        let is_meant =
            (PATTERNS.plain.is_match(list.as_str()) || is_last) && !is_talk(query, list.start());
        is_meant.then(|| list.range())
    })
}

/// Tells whether there is anything to find: every pattern needs the name of a kind, and all of them
/// together take longer to compile than a search.
pub(super) fn names_a_kind(query: &str) -> bool {
    let folded = folded(query);
    KINDS.iter().any(|(name, _)| folded.contains(name))
        || CODE.iter().any(|ending| folded.contains(&format!(".{ending}")))
}

/// Finds a list after a word such as "in"; gives the stretch to cut and the list.
fn cued(query: &str) -> Option<(Range<usize>, Range<usize>)> {
    PATTERNS.cued.captures_iter(query).find_map(|captures| {
        let cue = captures.get(1)?;
        let list = captures.get(2)?;
        let whole = captures.get(0)?;
        let words = list.as_str();
        // "in word embeddings", "in doc strings": the name of a program alone is not enough.
        let next = query.get(whole.end()..).unwrap_or_default();
        let ends =
            whole.end() > list.end() || next.trim().is_empty() || !next.starts_with([' ', '-']);
        // `fichiers html sur …`, `type:html …` and `in html from 2021` are.
        let said_as = query.get(cue.start()..list.start()).unwrap_or_default();
        let is_named = !is_program(words)
            && (PATTERNS.files.is_match(said_as)
                || PATTERNS.explicit.is_match(said_as)
                || PATTERNS.year_follows.is_match(next));
        let is_sure = ends || is_named || !is_weak_name(words);
        let is_cue = !is_talk(query, cue.start());
        (is_sure && is_cue).then(|| (cue.start()..whole.end(), list.range()))
    })
}

fn first_of(pattern: &Regex, query: &str, groups: &[usize]) -> Option<Range<usize>> {
    let captures = pattern.captures(query)?;
    groups.iter().find_map(|group| captures.get(*group)).map(|found| found.range())
}

fn list_of(captures: &Captures<'_>, groups: &[usize]) -> Option<(Range<usize>, Range<usize>)> {
    let list = groups.iter().find_map(|group| captures.get(*group))?;
    Some((captures.get(0)?.range(), list.range()))
}

/// Names of programs and short forms that begin other words of prose: `word for word`.
fn is_program(list: &str) -> bool {
    matches!(list.to_lowercase().trim(), "word" | "doc" | "docs" | "msg" | "power point")
}

/// Words that are also plain words of prose.
fn is_weak_name(list: &str) -> bool {
    let list = list.trim().to_lowercase();
    matches!(
        list.as_str(),
        "word"
            | "excel"
            | "doc"
            | "docs"
            | "md"
            | "json"
            | "xml"
            | "html"
            | "txt"
            | "zip"
            | "msg"
            | "markdown"
            | "yaml"
            | "yml"
    )
}

/// `Word documents` names files; `json format` names a format that is talked about.
fn is_naming(query: &str, whole: Range<usize>) -> bool {
    let words = query.get(whole).unwrap_or_default().to_lowercase();
    !words.contains("format") && !words.starts_with("docs ")
}

/// Tells whether the query talks about a format instead of asking for it: "convert … to pdf".
fn is_talk(query: &str, at: usize) -> bool {
    const TALK: &[&str] = &[
        "to",
        "into",
        "convert",
        "converting",
        "parse",
        "parsing",
        "export",
        "import",
        "generate",
        "create",
        "render",
        "a",
        "an",
        "the",
        "what",
        "is",
        "read",
        "reading",
        "write",
        "edit",
        "open",
        "converti",
        "convertesc",
        "exporta",
        "genera",
        "citesc",
        "scriu",
        "un",
        "despre",
        "about",
        "vs",
    ];
    let head = query.get(..at).unwrap_or_default();
    let last = head.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    TALK.contains(&last.as_str())
}

fn extensions_in(list: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = list.to_lowercase();
    // Longest names first, so that `pptx` is not read as `ppt`.
    let mut names: Vec<(&str, &[&str])> = KINDS.to_vec();
    let code: Vec<[&str; 1]> = CODE.iter().map(|name| [*name]).collect();
    names.extend(code.iter().map(|name| (name[0], &name[..])).filter(|_| list.contains('.')));
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    for (name, extensions) in names {
        while let Some(at) = find_word(&rest, name) {
            found.extend(extensions.iter().map(|extension| (*extension).to_owned()));
            rest.replace_range(at..at + name.len(), &" ".repeat(name.len()));
        }
    }
    found
}

fn find_word(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let touches = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        !touches(before) && !touches(text.as_bytes().get(at + word.len()))
    })
}
