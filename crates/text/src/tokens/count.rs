//! Token counts without a vocabulary.
//!
//! Language models cut text into pieces by rules that are nearly the same everywhere (a word with
//! the space before it, three digits, a run of marks), and then look for each piece in a vocabulary.
//! The pieces are found here as the o200k vocabulary's rules say; what a piece costs is what its
//! kind, length and pairs of letters cost there on average, over messages of programs in ninety
//! languages, answers of every tool, articles and random text. So a count is from a tenth below the
//! vocabulary's own to a quarter above it, in English, JSON and source code from 5 to 15 percent
//! above it. Letters of scripts that it hardly knows cost up to three tokens each, as Amharic, Lao
//! or runes do: an answer in them is much shorter than one in English. A vocabulary itself takes
//! 40 MB and a third of a second to load.

use super::pairs::Script;

/// Estimates how many tokens a language model counts in a text; linear, allocates nothing, and
/// never more than the text has bytes.
///
/// ```
/// assert_eq!(text::count_tokens(""), 0);
/// assert_eq!(text::count_tokens("The cat sat."), 4);
/// assert_eq!(text::count_tokens(r#"{"id":"a"}"#), 5);
/// assert_eq!(text::count_tokens("東京都"), 3);
/// assert_eq!(text::count_tokens("ᚠᛇᚻ"), 9);
/// ```
pub fn count_tokens(text: &str) -> usize {
    let mut counter = Counter::default();
    text.chars().for_each(|char| counter.add(char));
    counter.end(None);
    usize::try_from((counter.cost + TOKEN / 2) / TOKEN).unwrap_or(usize::MAX)
}

/// Costs are counted in hundredths of a token.
const TOKEN: u64 = 100;

/// What a piece is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Nothing,
    Word,
    Digits,
    Marks,
    Breaks,
    Spaces,
}

impl Kind {
    fn of(char: char) -> Kind {
        match char {
            'a'..='z' | 'A'..='Z' => Kind::Word,
            '0'..='9' => Kind::Digits,
            '\n' | '\r' => Kind::Breaks,
            ' ' | '\t' => Kind::Spaces,
            '!'..='~' => Kind::Marks,
            other if other.is_alphabetic() || is_combining(other) => Kind::Word,
            other if other.is_whitespace() => Kind::Spaces,
            other if other.is_numeric() => Kind::Digits,
            _ => Kind::Marks,
        }
    }
}

/// What is right before a piece and may belong to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Nothing,
    Space,
    /// One mark alone, which is not paid for yet.
    Mark,
}

/// Letters of a word by what they cost.
#[derive(Debug, Clone, Copy, Default)]
struct Letters {
    n_upper: u64,
    /// Of scripts with a table of pairs.
    n_paired: u64,
    /// What their pairs add, in 32nds of a token.
    pairs: i64,
    last: Option<(char, Script)>,
    n_cyrillic: u64,
    /// Of other scripts.
    n_other: u64,
    /// What those cost.
    other_cost: u64,
    /// Kana and Hangul.
    n_syllables: u64,
    n_han: u64,
}

/// The piece that is being read, and what those before it cost.
#[derive(Debug, Default)]
struct Counter {
    cost: u64,
    kind: Kind,
    before: Before,
    n_chars: u64,
    /// ASCII marks, each run of the same counted as three at most.
    n_marks: u64,
    /// The last of them, and how often it came in a row.
    last_mark: (char, u64),
    /// Marks outside ASCII, and what they cost.
    n_wide: u64,
    wide_cost: u64,
    letters: Letters,
    is_lower: bool,
}

impl Counter {
    fn add(&mut self, char: char) {
        let kind = Kind::of(char);
        // A capital letter behind a small one begins a word: `camelCase` is two.
        let is_hump = kind == Kind::Word && self.is_lower && char.is_uppercase();
        if kind != self.kind || is_hump {
            self.end(Some(kind));
            (self.kind, self.n_chars, self.n_wide, self.wide_cost) = (kind, 0, 0, 0);
            (self.n_marks, self.last_mark) = (0, ('\0', 0));
            self.letters = Letters::default();
        }
        self.n_chars += 1;
        self.is_lower = kind == Kind::Word && char.is_lowercase();
        match kind {
            Kind::Word => self.letters.add(char),
            Kind::Marks if !char.is_ascii() => {
                self.n_wide += 1;
                self.wide_cost += mark_cost(char);
            }
            Kind::Marks => {
                let (last, n_same) = self.last_mark;
                let n_same = if last == char { n_same + 1 } else { 1 };
                // `-----` is one token, `":"` is too.
                self.n_marks += u64::from(matches!(n_same, 1 | 3 | 5));
                self.last_mark = (char, n_same);
            }
            Kind::Nothing | Kind::Digits | Kind::Breaks | Kind::Spaces => {}
        }
    }

    /// Pays for the piece; `next` is what follows.
    fn end(&mut self, next: Option<Kind>) {
        let n_chars = self.n_chars;
        let before = std::mem::take(&mut self.before);
        self.cost += match self.kind {
            Kind::Nothing => 0,
            Kind::Word => self.letters.cost(n_chars) + mark_before(before, n_chars),
            // No digit has a space before it in its token.
            Kind::Digits => {
                n_chars.div_ceil(3) * TOKEN + u64::from(before == Before::Space) * TOKEN
            }
            Kind::Marks => {
                let is_lone = n_chars == 1 && before == Before::Nothing;
                if is_lone && next == Some(Kind::Word) {
                    self.before = Before::Mark;
                    self.wide_cost.saturating_sub(TOKEN)
                } else {
                    marks(self.n_marks, self.n_wide, self.wide_cost)
                }
            }
            Kind::Breaks => TOKEN,
            Kind::Spaces => {
                self.before = Before::Space;
                match next {
                    // It belongs to the break.
                    Some(Kind::Breaks) => 0,
                    None => TOKEN,
                    Some(_) => u64::from(n_chars > 1) * TOKEN,
                }
            }
        };
        // A break right behind marks is in their token.
        if self.kind == Kind::Marks && next == Some(Kind::Breaks) {
            self.cost -= TOKEN.min(self.cost);
        }
    }
}

/// What a mark costs that belongs to the word behind it.
fn mark_before(before: Before, n_letters: u64) -> u64 {
    let is_paid = before == Before::Mark && n_letters > 1;
    if is_paid { 45 } else { 0 }
}

/// What a run of marks costs: three are most often one token, as `":"` is.
fn marks(n_ascii: u64, n_wide: u64, wide_cost: u64) -> u64 {
    let of_ascii = if n_ascii > 0 { TOKEN + n_ascii.saturating_sub(3) * 45 } else { 0 };
    of_ascii + wide_cost + if n_ascii == 0 && n_wide > 0 { 20 } else { 0 }
}

impl Letters {
    fn add(&mut self, char: char) {
        self.n_upper += u64::from(char.is_uppercase());
        if let Some(script) = Script::of(char) {
            self.n_paired += 1;
            self.n_cyrillic += u64::from(script == Script::Cyrillic);
            self.pairs += script.pair(self.last.map(|(letter, _)| letter), Some(char));
            self.last = Some((char, script));
            return;
        }
        match char {
            '\u{3040}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}' | '\u{ac00}'..='\u{d7a3}' => {
                self.n_syllables += 1;
            }
            '\u{2e80}'..='\u{33ff}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
                self.n_han += 1;
            }
            other => {
                self.n_other += 1;
                self.other_cost += letter_cost(other);
            }
        }
    }

    /// What a word of so many letters costs.
    fn cost(&self, n: u64) -> u64 {
        let Letters { n_upper, n_paired, n_cyrillic, n_other, n_syllables, n_han, .. } = *self;
        if n_han + n_syllables > 0 {
            (n_han * 95 + n_syllables * 80 + n_paired * 30 + self.other_cost).max(TOKEN)
        } else if n_other > 0 {
            (self.other_cost + n_paired * 30).max(TOKEN)
        } else {
            let of_edge = self.last.map_or(0, |(letter, script)| script.pair(Some(letter), None));
            let more = (self.pairs + of_edge) * 100 / 32;
            let more = if (0..DOUBTFUL).contains(&more) { more * more / DOUBTFUL } else { more };
            let of_pairs = u64::try_from(TOKEN as i64 + more).unwrap_or(0);
            // Four random letters are hardly ever more than two tokens.
            let most = if n_cyrillic > 0 { n * TOKEN } else { n * 55 + 30 };
            let of_pairs = of_pairs.min(most).max(TOKEN);
            let small = of_pairs + n.saturating_sub(MAX_WORD_LETTERS) * 10;
            match n_upper == n && n > 1 {
                false => small,
                // A vocabulary knows few words in capitals.
                true if n_cyrillic > 0 => small.max(n * 62),
                true => (small * 55 / 100 + n * 26).saturating_sub(10).clamp(TOKEN, n * TOKEN),
            }
        }
    }
}

/// A word of which the pairs add less, in hundredths of a token, is most often one token all the
/// same: of what they add only that part counts which it is of this. Without it the descriptions of
/// tools counted 13 percent more than they are, instead of 11.
const DOUBTFUL: i64 = 40;

/// Words of more letters are none, but random text.
const MAX_WORD_LETTERS: u64 = 24;

/// What a letter costs of a script that is not told apart above: the first block that ends behind
/// it. The letters of a language that many write are together in a vocabulary; those of others come
/// byte by byte, and a letter there has two, three or four.
fn letter_cost(char: char) -> u64 {
    const COSTS: [(char, u64); 41] = [
        ('\u{300}', 200),  // phonetic letters
        ('\u{370}', 205),  // combining accents
        ('\u{400}', 42),   // Greek
        ('\u{590}', 36),   // Armenian
        ('\u{5c8}', 130),  // Hebrew points
        ('\u{610}', 46),   // Hebrew
        ('\u{64b}', 41),   // Arabic
        ('\u{660}', 80),   // Arabic points
        ('\u{700}', 41),   // Arabic
        ('\u{750}', 200),  // Syriac
        ('\u{780}', 41),   // Arabic
        ('\u{800}', 200),  // Thaana, N'Ko
        ('\u{900}', 250),  // Samaritan, Mandaic
        ('\u{980}', 38),   // Devanagari
        ('\u{a00}', 40),   // Bengali
        ('\u{a80}', 60),   // Gurmukhi
        ('\u{b00}', 44),   // Gujarati
        ('\u{b80}', 120),  // Oriya
        ('\u{c00}', 38),   // Tamil
        ('\u{c80}', 55),   // Telugu
        ('\u{d00}', 40),   // Kannada
        ('\u{d80}', 41),   // Malayalam
        ('\u{e00}', 60),   // Sinhala
        ('\u{e80}', 50),   // Thai
        ('\u{f00}', 195),  // Lao
        ('\u{1000}', 165), // Tibetan
        ('\u{10a0}', 60),  // Myanmar
        ('\u{1100}', 36),  // Georgian
        ('\u{1200}', 300), // Hangul in parts
        ('\u{13a0}', 240), // Ethiopic
        ('\u{1780}', 300), // Cherokee, syllabics, runes
        ('\u{1800}', 62),  // Khmer
        ('\u{1f00}', 290), // Mongolian and others
        ('\u{2000}', 230), // Greek with accents
        ('\u{2c00}', 150),
        ('\u{2e80}', 290), // Glagolitic, Coptic, Tifinagh
        ('\u{4e00}', 300), // rare Han
        ('\u{ac00}', 295), // Yi, Vai, Javanese
        ('\u{fb00}', 290),
        ('\u{10000}', 150), // forms of Arabic, wide Latin
        ('\u{20000}', 380), // Gothic, cuneiform
    ];
    match char {
        // Accents that languages have, and those that nobody writes.
        '\u{300}'..='\u{304}' | '\u{306}'..='\u{30c}' | '\u{323}' | '\u{327}' | '\u{328}' => {
            return 150;
        }
        // Letters of Uyghur and Kurdish.
        '\u{6ad}' | '\u{6be}' | '\u{6c6}'..='\u{6c8}' | '\u{6cb}' | '\u{6d0}' | '\u{6d5}' => {
            return 75;
        }
        _ => {}
    }
    COSTS.iter().find(|(end, _)| char < *end).map_or(340, |(_, cost)| *cost)
}

/// What a mark outside ASCII costs.
fn mark_cost(char: char) -> u64 {
    match char {
        '\u{80}'..='\u{ff}' => 85,
        '\u{100}'..='\u{7ff}' => 160,
        '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 100,
        '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' => 85,
        '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{24ff}' => 120,
        '\u{2500}'..='\u{25ff}' => 80,
        '\u{2200}'..='\u{22ff}' | '\u{2600}'..='\u{2bff}' => 160,
        '\u{1f000}'..='\u{1ffff}' => 160,
        '\u{10000}'.. => 340,
        _ => 140,
    }
}

/// Tells whether a sign is written onto a letter and is none itself, as the mark of a missing vowel
/// in Indian scripts is: it is a part of the word.
fn is_combining(char: char) -> bool {
    let low = u32::from(char) & 0x7f;
    match char {
        '\u{900}'..='\u{dff}' => {
            matches!(low, 0x3b | 0x3c | 0x4d | 0x51..=0x54) || char == '\u{dca}'
        }
        '\u{300}'..='\u{36f}'
        | '\u{483}'..='\u{489}'
        | '\u{591}'..='\u{5bd}'
        | '\u{658}'
        | '\u{6df}'..='\u{6ec}'
        | '\u{740}'..='\u{74a}'
        | '\u{7eb}'..='\u{7f3}'
        | '\u{818}'..='\u{82d}'
        | '\u{898}'..='\u{89f}'
        | '\u{8ca}'..='\u{8ff}'
        | '\u{e47}'..='\u{e4e}'
        | '\u{eba}'
        | '\u{ec8}'..='\u{ece}'
        | '\u{f18}'..='\u{f19}'
        | '\u{f35}'..='\u{f39}'
        | '\u{f3e}'..='\u{f3f}'
        | '\u{f84}'..='\u{f87}'
        | '\u{1037}'..='\u{103a}'
        | '\u{135d}'..='\u{135f}'
        | '\u{17c9}'..='\u{17d3}'
        | '\u{1ab0}'..='\u{1aff}'
        | '\u{1b34}'
        | '\u{1b44}'
        | '\u{1cd0}'..='\u{1cf9}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20f0}'
        | '\u{302a}'..='\u{302f}'
        | '\u{3099}'..='\u{309a}'
        | '\u{a8e0}'..='\u{a8f1}'
        | '\u{a9b3}'
        | '\u{a9c0}'
        | '\u{fe20}'..='\u{fe2f}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_as_vocabularies_cut_them() {
        for (text, n_tokens) in [
            (" the", 1),
            ("camelCase", 2),
            ("12345", 2),
            (" 5", 2),
            ("a.\n\nb", 3),
            ("  two", 2),
            ("\",\"id\":\"", 3),
            ("x ", 2),
        ] {
            assert_eq!(count_tokens(text), n_tokens, "{text:?}");
        }
    }
}
