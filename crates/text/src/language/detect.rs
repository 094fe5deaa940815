//! Tells which language a text is in, cheaply: scripts first, small words second, letter
//! statistics last.
//!
//! Only a sample is read, so a book costs as much as a page. A wrong answer costs inflected
//! matches in that one text and nothing else, since queries try every language of the index.

use whatlang::{Detector, Lang};

use crate::fold;
use crate::language::{Language, LanguageSet, stop_words};

/// How much of the start of a text is read.
const HEAD_BYTES: usize = 3072;
/// How much of the middle of a long text is read; a title page can be in another language.
const MIDDLE_BYTES: usize = 1536;
/// Small words of a text that are needed before their vote alone decides.
const MIN_VOTES: f64 = 2.0;
/// How far the winner of the vote must lead the second.
const MIN_LEAD: f64 = 1.25;
/// How far it must lead when the votes are few.
const MIN_LEAD_OF_FEW: f64 = 2.0;
/// Letters under which statistics are not asked at all.
const MIN_STATISTICS_LETTERS: usize = 24;
/// A Han character says about as much as this many letters.
const HAN_WEIGHT: usize = 3;

/// Gives the language of a text, as well as a sample of it shows.
///
/// Latin text that shows nothing is taken as English, since a stemmer that is wrong costs less
/// than none; text without letters is [`Language::Unknown`].
///
/// ```
/// use text::{Language, detect_language};
///
/// assert_eq!(detect_language("Legea privind bugetul de stat"), Language::Romanian);
/// assert_eq!(detect_language("the state budget act"), Language::English);
/// assert_eq!(detect_language("国家予算に関する法律"), Language::Japanese);
/// ```
pub fn detect_language(text: &str) -> Language {
    let head = &text[..floor_boundary(text, HEAD_BYTES)];
    let middle = if text.len() > 4 * HEAD_BYTES {
        let start = floor_boundary(text, text.len() / 2);
        &text[start..floor_boundary(text, start + MIDDLE_BYTES)]
    } else {
        ""
    };
    let mut scripts = Scripts::default();
    scripts.count(head);
    scripts.count(middle);
    match scripts.leading() {
        None => Language::Unknown,
        Some(Leading::Is(language)) => language,
        Some(Leading::Latin) => detect_latin(head, middle, &scripts),
        Some(Leading::Cyrillic) => detect_cyrillic(head, &scripts),
    }
}

/// Gives the language that a text shows: by its script, or by several small words that speak for
/// one language. Short texts in Latin letters often show none.
///
/// ```
/// use text::{Language, shown_language};
///
/// assert_eq!(shown_language("In what year was the act about the budget passed?"), Some(Language::English));
/// assert_eq!(shown_language("予算はいつ可決されましたか"), Some(Language::Japanese));
/// assert_eq!(shown_language("die hard"), None);
/// ```
pub fn shown_language(text: &str) -> Option<Language> {
    let head = &text[..floor_boundary(text, HEAD_BYTES)];
    let mut scripts = Scripts::default();
    scripts.count(head);
    match scripts.leading()? {
        Leading::Is(language) => Some(language),
        Leading::Cyrillic => Some(detect_cyrillic(head, &scripts)),
        Leading::Latin => {
            let votes = Votes::of(head, "");
            votes.is_clear().then_some(votes.language)
        }
    }
}

/// Gives the language that a query over documents in `languages` is in.
///
/// A few words seldom show their language, and many are a small word of another one: `cat` is
/// Romanian without its marks, `die` is a German article. What a query does not show is therefore
/// told by the documents.
///
/// ```
/// use text::{Language, LanguageSet, query_language};
///
/// let english = LanguageSet::from_iter([Language::English]);
/// assert_eq!(query_language("cat allowed", english), Language::English);
/// let german = LanguageSet::from_iter([Language::German]);
/// assert_eq!(query_language("was ist", german), Language::German);
/// assert_eq!(query_language("what is the price of it", german), Language::English);
/// ```
pub fn query_language(query: &str, languages: LanguageSet) -> Language {
    if let Some(shown) = shown_language(query) {
        return shown;
    }
    let usual = detect_language(query);
    if usual == Language::Unknown || languages.bits() == LanguageSet::all().bits() {
        return usual;
    }
    let votes = tally(&query[..floor_boundary(query, HEAD_BYTES)], "");
    let vote_for = |language: Language| votes.get(language as usize).copied().unwrap_or(0.0);
    let in_latin = languages.iter().filter(|language| LATIN.iter().any(|(_, one)| one == language));
    let better = |one: Language, other| if vote_for(other) > vote_for(one) { other } else { one };
    let Some(own) = in_latin.reduce(better) else { return usual };
    let is_usual = match languages.contains(usual) {
        true => vote_for(usual) >= vote_for(own),
        // One small word is not enough to leave the languages of the documents, letters are.
        false if vote_for(usual) > 0.0 => vote_for(usual) > vote_for(own).max(1.0),
        false => usual != Language::English && vote_for(own) == 0.0,
    };
    if is_usual { usual } else { own }
}

/// Gives the largest character boundary that is not past `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn detect_latin(head: &str, middle: &str, scripts: &Scripts) -> Language {
    let votes = Votes::of(head, middle);
    if votes.is_clear() || votes.is_alone() {
        return votes.language;
    }
    if scripts.latin >= MIN_STATISTICS_LETTERS
        && let Some(info) = Detector::new().detect(head)
        && (info.is_reliable() || scripts.romanian_letters > 0)
        && let Some(language) = from_whatlang(info.lang())
    {
        return language;
    }
    // The comma or cedilla below and the breve together are in no other language.
    if scripts.romanian_letters > 0 { Language::Romanian } else { Language::English }
}

/// What the small words say.
struct Votes {
    language: Language,
    best: f64,
    second: f64,
}

impl Votes {
    fn of(head: &str, middle: &str) -> Votes {
        let votes = tally(head, middle);
        let mut best = (0.0, Language::Unknown);
        let mut second = 0.0;
        for (vote, language) in votes.iter().zip(Language::ALL) {
            if *vote > best.0 {
                second = best.0;
                best = (*vote, *language);
            } else if *vote > second {
                second = *vote;
            }
        }
        Votes { language: best.1, best: best.0, second }
    }

    fn is_clear(&self) -> bool {
        self.best >= MIN_VOTES && self.best >= self.second * MIN_LEAD
    }

    /// One small word that only one language has decides a short text.
    fn is_alone(&self) -> bool {
        self.best >= 1.0 && self.best >= self.second * MIN_LEAD_OF_FEW
    }
}

/// Lets the small words vote; a word that speaks for three languages gives each a third.
fn tally(head: &str, middle: &str) -> [f64; 64] {
    let mut votes = [0.0_f64; 64];
    let mut folded = String::new();
    let words = head.split(|char: char| !char.is_alphabetic());
    for word in words.chain(middle.split(|char: char| !char.is_alphabetic())) {
        // No small word is longer than twelve letters of at most two bytes.
        if word.is_empty() || word.len() > 24 {
            continue;
        }
        folded.clear();
        fold::fold_into(word, &mut folded);
        let Some(languages) = stop_words::languages_of(&folded) else { continue };
        let mut rest = languages.bits();
        let weight = 1.0 / f64::from(rest.count_ones());
        while rest != 0 {
            if let Some(vote) = votes.get_mut(rest.trailing_zeros() as usize) {
                *vote += weight;
            }
            rest &= rest - 1;
        }
    }
    votes
}

fn detect_cyrillic(head: &str, scripts: &Scripts) -> Language {
    if scripts.ukrainian_letters > 0 {
        return Language::Ukrainian;
    }
    if scripts.serbian_letters > 0 {
        return Language::Serbian;
    }
    let statistics = (scripts.cyrillic >= MIN_STATISTICS_LETTERS)
        .then(|| Detector::new().detect(head))
        .flatten()
        .filter(whatlang::Info::is_reliable);
    match statistics.map(|info| info.lang()) {
        Some(Lang::Bul | Lang::Mkd) => Language::Bulgarian,
        Some(Lang::Ukr | Lang::Bel) => Language::Ukrainian,
        Some(Lang::Srp) => Language::Serbian,
        _ => Language::Russian,
    }
}

#[derive(Default)]
struct Scripts {
    latin: usize,
    romanian_letters: usize,
    cyrillic: usize,
    ukrainian_letters: usize,
    serbian_letters: usize,
    greek: usize,
    armenian: usize,
    hebrew: usize,
    arabic: usize,
    persian_letters: usize,
    devanagari: usize,
    tamil: usize,
    thai: usize,
    han: usize,
    kana: usize,
    hangul: usize,
}

enum Leading {
    Is(Language),
    Latin,
    Cyrillic,
}

impl Scripts {
    fn count(&mut self, sample: &str) {
        for char in sample.chars() {
            match char {
                'a'..='z' | 'A'..='Z' => self.latin += 1,
                'ă' | 'Ă' | 'ș' | 'Ș' | 'ț' | 'Ț' | 'ţ' | 'Ţ' => {
                    self.latin += 1;
                    self.romanian_letters += 1;
                }
                '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => self.latin += 1,
                '\u{370}'..='\u{3ff}' => self.greek += 1,
                '\u{400}'..='\u{52f}' => {
                    self.cyrillic += 1;
                    match char {
                        'і' | 'ї' | 'є' | 'ґ' => self.ukrainian_letters += 1,
                        'ђ' | 'ћ' | 'џ' | 'ј' | 'љ' | 'њ' => self.serbian_letters += 1,
                        _ => {}
                    }
                }
                '\u{530}'..='\u{58f}' => self.armenian += 1,
                '\u{590}'..='\u{5ff}' => self.hebrew += 1,
                '\u{600}'..='\u{6ff}' => {
                    self.arabic += 1;
                    if matches!(char, 'پ' | 'چ' | 'ژ' | 'گ' | 'ک' | 'ی') {
                        self.persian_letters += 1;
                    }
                }
                '\u{900}'..='\u{97f}' => self.devanagari += 1,
                '\u{b80}'..='\u{bff}' => self.tamil += 1,
                '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => {
                    self.thai += 1;
                }
                '\u{3041}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}' => self.kana += 1,
                '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => {
                    self.han += 1;
                }
                '\u{ac00}'..='\u{d7a3}' | '\u{1100}'..='\u{11ff}' => self.hangul += 1,
                _ => {}
            }
        }
    }

    fn leading(&self) -> Option<Leading> {
        // A text with more than a few kana is Japanese, however many Han it holds.
        let han_is_japanese = self.kana * 12 >= self.han && self.kana > 0;
        let han = if han_is_japanese { Language::Japanese } else { Language::Chinese };
        let persian = self.persian_letters * 20 > self.arabic;
        let arabic = if persian { Language::Persian } else { Language::Arabic };
        let candidates = [
            (self.latin, Leading::Latin),
            (self.cyrillic, Leading::Cyrillic),
            (self.greek, Leading::Is(Language::Greek)),
            (self.armenian, Leading::Is(Language::Armenian)),
            (self.hebrew, Leading::Is(Language::Hebrew)),
            (self.arabic, Leading::Is(arabic)),
            (self.devanagari, Leading::Is(Language::Hindi)),
            (self.tamil, Leading::Is(Language::Tamil)),
            (self.thai, Leading::Is(Language::Thai)),
            ((self.han + self.kana) * HAN_WEIGHT, Leading::Is(han)),
            (self.hangul * HAN_WEIGHT, Leading::Is(Language::Korean)),
        ];
        candidates
            .into_iter()
            .filter(|(n_letters, _)| *n_letters > 0)
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
            .map(|(_, leading)| leading)
    }
}

fn from_whatlang(lang: Lang) -> Option<Language> {
    LATIN.iter().find(|(known, _)| *known == lang).map(|(_, language)| *language)
}

/// The languages in Latin letters that both sides know; Croatian is stemmed as Serbian is.
const LATIN: &[(Lang, Language)] = &[
    (Lang::Eng, Language::English),
    (Lang::Ron, Language::Romanian),
    (Lang::Fra, Language::French),
    (Lang::Deu, Language::German),
    (Lang::Spa, Language::Spanish),
    (Lang::Ita, Language::Italian),
    (Lang::Por, Language::Portuguese),
    (Lang::Nld, Language::Dutch),
    (Lang::Swe, Language::Swedish),
    (Lang::Dan, Language::Danish),
    (Lang::Nob, Language::Norwegian),
    (Lang::Fin, Language::Finnish),
    (Lang::Est, Language::Estonian),
    (Lang::Hun, Language::Hungarian),
    (Lang::Tur, Language::Turkish),
    (Lang::Pol, Language::Polish),
    (Lang::Ces, Language::Czech),
    (Lang::Lit, Language::Lithuanian),
    (Lang::Cat, Language::Catalan),
    (Lang::Ind, Language::Indonesian),
    (Lang::Epo, Language::Esperanto),
    (Lang::Srp, Language::Serbian),
    (Lang::Hrv, Language::Serbian),
    (Lang::Vie, Language::Vietnamese),
];
