//! The choice of a tool by rules, in Japanese and English.
//!
//! A question is about the knowledge base itself when it speaks of it, or counts what is in it,
//! and nothing else of substance is left once the words of such questions are taken away.
//! Text to be repaired is recognised by strokes that stand for long vowels, or by a request to
//! repair followed by the text. Everything else is a search.

use super::ToolName;

/// Names of the knowledge base itself.
const ITSELF: &[&str] = &[
    "ナレッジベース",
    "ナレッジ・ベース",
    "知識ベース",
    "ナレッジ",
    "knowledge base",
    "knowledge bases",
    "knowledgebase",
    "データベース",
    "kb",
];

/// What a knowledge base is made of.
const PARTS: &[&str] = &[
    "ドキュメント",
    "文書",
    "資料",
    "ファイル",
    "コレクション",
    "チャンク",
    "documents",
    "document",
    "docs",
    "files",
    "file",
    "collections",
    "collection",
    "chunks",
    "chunk",
    "passages",
];

/// Asks for a number.
const COUNTS: &[&str] = &[
    "何件",
    "何個",
    "何文書",
    "いくつ",
    "件数",
    "総数",
    "合計",
    "文書数",
    "ドキュメント数",
    "資料数",
    "ファイル数",
    "コレクション数",
    "チャンク数",
    "どれくらい",
    "どのくらい",
    "how many",
    "how much",
    "number of",
    "total number",
    "count of",
    "count",
    "total",
    "statistics",
    "stats",
    "統計情報",
    "統計",
    "規模",
    "size",
    "how big",
    "how large",
];

/// Asks for an overview.
const OVERVIEW: &[&str] = &[
    "概要",
    "要約",
    "サマリー",
    "サマリ",
    "まとめ",
    "全体像",
    "どんな内容",
    "どのような内容",
    "何が入って",
    "何が含まれて",
    "何が書かれて",
    "どんな情報",
    "どのような情報",
    "どんな資料",
    "どのような資料",
    "どんなドキュメント",
    "どのようなドキュメント",
    "どんな文書",
    "内容",
    "overview",
    "summary",
    "summarise",
    "summarize",
    "describe",
    "what is in",
    "what's in",
    "what does",
    "contain",
    "contains",
    "about",
    "explain",
    "contents",
    "content",
    "topics",
    "cover",
    "covers",
    "covered",
];

/// Words that carry nothing of their own.
const FILLERS: &[&str] = &[
    "について教えてください",
    "について教えて",
    "について説明して",
    "について",
    "に関して",
    "教えてください",
    "教えて",
    "説明してください",
    "説明して",
    "知りたいです",
    "知りたい",
    "見せてください",
    "見せて",
    "表示してください",
    "表示して",
    "してください",
    "ください",
    "下さい",
    "お願いします",
    "お願い",
    "ありますか",
    "あるのか",
    "ある",
    "あります",
    "ですか",
    "でしょうか",
    "です",
    "ますか",
    "いますか",
    "います",
    "いる",
    "されている",
    "されて",
    "登録",
    "格納",
    "保存",
    "含まれて",
    "含まれる",
    "入って",
    "全部で",
    "全部",
    "全体",
    "すべて",
    "現在",
    "今",
    "この",
    "その",
    "こちら",
    "の中に",
    "の中",
    "中に",
    "には",
    "では",
    "とは",
    "って",
    "どんな",
    "どのような",
    "何",
    "なに",
    "数",
    "は",
    "の",
    "を",
    "に",
    "が",
    "で",
    "と",
    "も",
    "か",
    "て",
    "し",
    "へ",
    "よ",
    "ね",
    "簡単に",
    "ざっくり",
    "情報",
    "メタ",
];

/// English words that carry nothing of their own.
const FILLER_WORDS: &[&str] = &[
    "a",
    "an",
    "the",
    "this",
    "that",
    "these",
    "those",
    "it",
    "its",
    "is",
    "are",
    "there",
    "in",
    "inside",
    "of",
    "on",
    "for",
    "to",
    "me",
    "us",
    "i",
    "we",
    "you",
    "please",
    "can",
    "could",
    "would",
    "do",
    "does",
    "did",
    "have",
    "has",
    "give",
    "tell",
    "show",
    "get",
    "what",
    "what's",
    "which",
    "kind",
    "kinds",
    "sort",
    "information",
    "info",
    "stored",
    "indexed",
    "here",
    "all",
    "and",
    "or",
    "s",
    "some",
    "short",
    "brief",
    "quick",
    "currently",
    "now",
    "available",
    "at",
    "with",
    "how",
    "like",
    "whole",
    "entire",
    "general",
    "high",
    "level",
    "want",
    "need",
    "my",
    "our",
    "be",
    "will",
    "from",
    "into",
    "by",
    "many",
    "exist",
    "exists",
    "metadata",
    "did",
];

/// Asks for a repair of text.
const REPAIRS: &[&str] = &[
    "正規化",
    "補正",
    "修正",
    "直して",
    "変換",
    "整形",
    "校正",
    "長音",
    "normalize",
    "normalise",
    "fix",
    "repair",
    "clean up",
    "correct",
    "convert",
];

/// Chooses the tool for a question.
pub fn choose_by_rules(query: &str) -> ToolName {
    let plain = text::exact(query);
    if is_ocr(query, &plain) {
        ToolName::NormalizeOcrText
    } else if is_about_the_base(&plain) {
        ToolName::GetKnowledgeBaseSummary
    } else {
        ToolName::SearchDocuments
    }
}

/// Gives the text to repair inside a request to repair it.
pub fn ocr_payload(query: &str) -> &str {
    let trimmed = query.trim();
    for (open, close) in [('「', '」'), ('『', '』'), ('"', '"'), ('“', '”')] {
        if let (Some(start), Some(end)) = (trimmed.find(open), trimmed.rfind(close))
            && start + open.len_utf8() < end
        {
            return &trimmed[start + open.len_utf8()..end];
        }
    }
    let head: String = trimmed.chars().take_while(|c| !matches!(c, ':' | '：' | '\n')).collect();
    let is_request = {
        let head = text::exact(&head);
        head.contains("ocr") || REPAIRS.iter().any(|word| head.contains(word))
    };
    if is_request && head.len() < trimmed.len() {
        let rest = &trimmed[head.len()..];
        return rest.trim_start_matches([':', '：', '\n', ' ', '\u{3000}', '\r']);
    }
    trimmed
}

fn is_ocr(query: &str, plain: &str) -> bool {
    let payload = ocr_payload(query);
    let has_own_payload = payload.len() < query.trim().len() && !payload.trim().is_empty();
    let has_strokes = text::repair_long_vowels(query) != query;
    let speaks_of_ocr = plain.contains("ocr") || plain.contains("文字認識");
    let asks_for_repair = REPAIRS.iter().any(|word| plain.contains(word));
    let is_question = query.contains(['?', '？']);
    if has_strokes {
        // Strokes alone may just be how someone types a question.
        let is_bare = plain.chars().filter(|c| c.is_alphanumeric()).all(is_katakana);
        return speaks_of_ocr || asks_for_repair || (is_bare && !is_question);
    }
    has_own_payload && asks_for_repair && (speaks_of_ocr || plain.contains("hyphen"))
}

fn is_katakana(c: char) -> bool {
    matches!(c, '\u{30A0}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}')
}

fn is_about_the_base(plain: &str) -> bool {
    let speaks_of = |words: &[&str]| words.iter().any(|word| contains_word(plain, word));
    let is_anchored = speaks_of(ITSELF) || (speaks_of(PARTS) && speaks_of(COUNTS));
    is_anchored && is_nothing_left(plain)
}

/// Tells whether a text holds a word; a Latin word must be by itself.
fn contains_word(text: &str, word: &str) -> bool {
    if !word.is_ascii() {
        return text.contains(word);
    }
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
        is_edge(before) && is_edge(after)
    })
}

/// Takes away the words of questions about a knowledge base; tells whether nothing is left.
fn is_nothing_left(plain: &str) -> bool {
    let mut phrases: Vec<&str> =
        [ITSELF, PARTS, COUNTS, OVERVIEW, FILLERS].into_iter().flatten().copied().collect();
    phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.chars().count()));
    let mut left = plain.to_owned();
    for phrase in phrases.iter().filter(|phrase| !phrase.is_ascii()) {
        left = left.replace(phrase, " ");
    }
    let spoken = phrases.iter().filter(|phrase| phrase.is_ascii() && phrase.contains(' '));
    for phrase in spoken {
        if contains_word(&left, phrase) {
            left = left.replace(phrase, " ");
        }
    }
    left.split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .all(|word| FILLER_WORDS.contains(&word) || phrases.contains(&word))
}
