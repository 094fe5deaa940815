//! Names of files in an archive, as the person saw them who packed it.
//!
//! Few programs say in which encoding they wrote names. Most write UTF-8; Windows writes the code
//! page of its console, which differs by country, and old Unix programs whatever the disk had. All
//! names of an archive are looked at together: one of few letters tells little. A code page is as
//! good as the names are words in it: letters of one language, beside the letters that its words
//! have.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GBK, SHIFT_JIS};

use crate::archive::code_pages::{Alphabet, CODE_PAGES, CodePage, Words};

/// Bytes of names that a guess looks at.
const GUESS_BYTES: usize = 64 << 10;

/// What a letter is worth that no word of the language has at its place.
const WRONG: i64 = -8;

/// What a letter of two bytes is worth, and a common one of one.
const RIGHT: i64 = 4;

/// Decodes the names of an archive.
pub(super) fn decode_names(names: &[&[u8]]) -> Vec<String> {
    let unknown: Vec<&[u8]> =
        names.iter().copied().filter(|name| std::str::from_utf8(name).is_err()).collect();
    let page = if unknown.is_empty() { None } else { Some(guess(&unknown)) };
    names
        .iter()
        .map(|name| match (std::str::from_utf8(name), page) {
            (Ok(name), _) => name.to_owned(),
            (Err(_), Some(page)) => page.decode(name),
            (Err(_), None) => String::from_utf8_lossy(name).into_owned(),
        })
        .collect()
}

/// Finds the code page in which names look most like words.
fn guess(names: &[&[u8]]) -> CodePage {
    let mut n_bytes = 0;
    let sample: Vec<&[u8]> = names
        .iter()
        .copied()
        .take_while(|name| {
            n_bytes += name.len();
            n_bytes <= GUESS_BYTES || n_bytes == name.len()
        })
        .collect();
    let detected = crate::encoding::guess_of_names(&sample);
    let worth = |page: &CodePage| {
        let of_names: i64 = sample.iter().map(|name| page.worth(name)).sum();
        // The detector knows how often letters follow each other; it decides between equals.
        of_names.saturating_mul(8) + i64::from(page.is(detected) && of_names > 0) * of_names
    };
    let mut best = (CODE_PAGES[0], i64::MIN);
    for page in CODE_PAGES {
        let worth = worth(&page);
        if worth > best.1 {
            best = (page, worth);
        }
    }
    best.0
}

impl CodePage {
    /// Tells how much a name looks like words in this code page.
    fn worth(&self, name: &[u8]) -> i64 {
        let chars: Vec<char> = self.decode(name).chars().collect();
        let places = || CharInName::all(&chars).filter(|place| !place.char.is_ascii());
        match self.words {
            Words::Latin(alphabets) => alphabets
                .iter()
                .map(|alphabet| places().map(|place| place.in_latin(alphabet)).sum())
                .max()
                .unwrap_or_default(),
            Words::Greek => places().map(CharInName::in_greek).sum::<i64>() - clusters(&chars),
            Words::Cyrillic => {
                places().map(CharInName::in_cyrillic).sum::<i64>() - clusters(&chars)
            }
            Words::Hebrew => places().map(CharInName::in_hebrew).sum(),
            Words::Arabic => places().map(CharInName::in_arabic).sum(),
            Words::Wide => places().map(|place| place.in_wide(self)).sum(),
        }
    }
}

/// A character of a name with its neighbours.
#[derive(Debug, Clone, Copy)]
struct CharInName {
    before: Option<char>,
    char: char,
    after: Option<char>,
}

impl CharInName {
    fn all(chars: &[char]) -> impl Iterator<Item = CharInName> {
        chars.iter().enumerate().map(|(at, char)| CharInName {
            before: at.checked_sub(1).and_then(|before| chars.get(before)).copied(),
            char: *char,
            after: chars.get(at + 1).copied(),
        })
    }

    fn near(self, test: impl Fn(char) -> bool) -> bool {
        [self.before, self.after].into_iter().flatten().any(test)
    }

    /// A capital inside a word of small letters is a letter of another code page.
    fn is_capital_inside(self) -> bool {
        self.char.is_uppercase() && self.before.is_some_and(char::is_lowercase)
    }

    fn is_at_start(self) -> bool {
        !self.before.is_some_and(char::is_alphabetic)
    }

    fn is_at_end(self) -> bool {
        !self.after.is_some_and(char::is_alphabetic)
    }

    /// Tells what a sign is worth that is no letter: those of every code page say nothing, between
    /// letters they are letters of another one.
    fn as_sign(self) -> i64 {
        let is_inside = self.before.is_some_and(char::is_alphabetic)
            && self.after.is_some_and(char::is_alphabetic);
        match self.char {
            char::REPLACEMENT_CHARACTER | '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' => -20,
            '“' | '”' | '‘' | '’' | '–' | '—' | '…' | '°' | '«' | '»' | '№' | '§' if !is_inside => {
                0
            }
            _ => WRONG,
        }
    }

    fn in_latin(self, alphabet: &Alphabet) -> i64 {
        let mut small = self.char.to_lowercase();
        let worth = match small.next() {
            Some('º' | 'ª') if self.near(char::is_alphabetic) && !self.is_at_end() => WRONG,
            Some(small) if alphabet.common.contains(small) && !small.is_ascii() => RIGHT,
            Some(small) if alphabet.rare.contains(small) => RIGHT / 2,
            // The capital of `i` in Turkish is two characters when it is small.
            Some('i') if alphabet.common.contains('ı') => RIGHT,
            _ if self.char.is_alphabetic() => WRONG,
            _ => return self.as_sign(),
        };
        let is_vowel = |char: char| "áéíóúýàèìòùâêîôûäëïöüÿãõåæø".contains(char);
        // A word of accents alone is no word, and two vowels with accents are hardly ever neighbours.
        let is_alone =
            self.near(char::is_alphabetic) && !self.near(|char| char.is_ascii_alphabetic());
        match () {
            () if worth < 0 || self.is_capital_inside() => WRONG,
            () if is_vowel(self.char) && self.near(is_vowel) => WRONG / 2,
            () if self.near(|char| is_accented(self.char, char)) => WRONG / 2,
            () if is_alone => worth / 4,
            // Sentences and names begin with capitals.
            () if self.is_at_start() && self.char.is_uppercase() => worth + 1,
            () => worth,
        }
    }

    fn in_greek(self) -> i64 {
        match self.char {
            'σ' if self.is_at_end() => WRONG,
            'ς' if !self.is_at_end() => WRONG,
            'Ά'..='ώ' => self.as_letter(),
            _ => self.as_sign(),
        }
    }

    fn in_cyrillic(self) -> i64 {
        let is_vowel = |char: char| is_vowel(char) || char == 'ь' || char == 'ъ';
        let small = self.char.to_lowercase().next().unwrap_or(self.char);
        match small {
            'ь' | 'ъ' if self.is_at_start() || self.before.is_some_and(is_vowel) => WRONG,
            'ъ' | 'ы' if self.is_at_start() || (small == 'ъ' && self.is_at_end()) => WRONG,
            'й' if !self.is_at_start() && !self.before.is_some_and(is_vowel) => WRONG,
            '\u{400}'..='\u{45f}' | '\u{490}' | '\u{491}' => self.as_letter(),
            _ => self.as_sign(),
        }
    }

    fn in_hebrew(self) -> i64 {
        match self.char {
            'ך' | 'ם' | 'ן' | 'ף' | 'ץ' if !self.is_at_end() => WRONG,
            'כ' | 'מ' | 'נ' | 'צ' if self.is_at_end() => WRONG / 4,
            'א'..='ת' => self.as_letter(),
            _ => self.as_sign(),
        }
    }

    fn in_arabic(self) -> i64 {
        match self.char {
            'ة' | 'ى' if !self.is_at_end() => WRONG,
            'ء'..='ي' => self.as_letter(),
            _ => self.as_sign(),
        }
    }

    /// A letter of another script than Latin, which shares no word with that one.
    fn as_letter(self) -> i64 {
        let is_wrong = self.near(|char| char.is_ascii_alphabetic()) || self.is_capital_inside();
        if is_wrong { WRONG } else { RIGHT }
    }

    fn in_wide(self, page: &CodePage) -> i64 {
        let is_beside_latin = self.near(|char| char.is_ascii_alphabetic());
        match self.char {
            // Beside a letter of ASCII, an accent and the letter after it are as likely.
            '\u{3041}'..='\u{30fe}' | '\u{ac00}'..='\u{d7a3}' | '\u{4e00}'..='\u{9fff}'
                if is_beside_latin =>
            {
                2
            }
            '\u{3041}'..='\u{30fe}' => 2 * RIGHT,
            '\u{ac00}'..='\u{d7a3}' | '\u{4e00}'..='\u{9fff}' => worth_of_wide(self.char, page),
            '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff5e}' if is_beside_latin => WRONG,
            '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff5e}' => RIGHT,
            _ => self.as_sign(),
        }
    }
}

/// Tells whether a letter is another one with an accent: such two are hardly ever neighbours, but
/// for `ée`.
fn is_accented(char: char, plain: char) -> bool {
    match plain.to_ascii_lowercase() {
        'a' => "áàâãä".contains(char),
        'i' => "íìîï".contains(char),
        'o' => "óòôõö".contains(char),
        'u' => "úùûü".contains(char),
        _ => false,
    }
}

/// Counts what speaks against words of Greek or Cyrillic letters: many consonants side by side,
/// many vowels, and words without a vowel.
fn clusters(chars: &[char]) -> i64 {
    let mut against = 0;
    for word in chars.split(|char| !char.is_alphabetic() || char.is_ascii()) {
        let (mut n_consonants, mut n_vowels, mut has_vowel) = (0, 0, false);
        for char in word {
            match is_vowel(*char) {
                true => (n_consonants, n_vowels, has_vowel) = (0, n_vowels + 1, true),
                false => (n_consonants, n_vowels) = (n_consonants + 1, 0),
            }
            against += i64::from(n_consonants > 3 || n_vowels > 3) * RIGHT;
        }
        // Some words and many abbreviations have none.
        against += i64::from(word.len() > 3 && !has_vowel) * RIGHT;
    }
    against
}

fn is_vowel(char: char) -> bool {
    char.to_lowercase().any(|small| "αεηιουωάέήίόύώϊϋΐΰаеёиіїоуыэюяє".contains(small))
}

/// Characters that are in daily use are in the first half of the old sets of Japan, China and
/// Taiwan, and syllables in that of Korea; a wrong code page gives rare ones. Names in Korean hardly
/// have Han characters.
fn worth_of_wide(char: char, page: &CodePage) -> i64 {
    let mut text = [0; 4];
    let text = char.encode_utf8(&mut text);
    let pair = |encoding: &'static Encoding| {
        let (bytes, _, has_errors) = encoding.encode(text);
        match (has_errors, bytes.as_ref()) {
            (false, [lead, trail]) => Some((*lead, *trail)),
            _ => None,
        }
    };
    let is_daily = match () {
        () if matches!(char, '\u{ac00}'..) => {
            matches!(pair(EUC_KR), Some((0xb0..=0xc8, 0xa1..)))
        }
        () if page.is(GBK) => matches!(pair(GBK), Some((0xb0..=0xd7, 0xa1..))),
        () if page.is(BIG5) => matches!(pair(BIG5), Some((0xa4..=0xc6, _))),
        () if page.is(SHIFT_JIS) || page.is(EUC_JP) => {
            matches!(pair(SHIFT_JIS), Some((0x88..=0x97, _)))
        }
        () => false,
    };
    if is_daily { 2 * RIGHT } else { -2 }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{IBM866, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252};
    use encoding_rs::{WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256};

    use super::*;
    use crate::archive::code_pages::{CP437, CP720, CP737, CP850, CP852, CP857, CP862, Characters};

    fn encoded(characters: Characters, name: &str) -> Vec<u8> {
        CodePage { characters, words: Words::Wide }.encode(name)
    }

    #[track_caller]
    fn check(characters: Characters, names: &[&str]) {
        for names in names.iter().map(|name| vec![*name]).chain([names.to_vec()]) {
            let encoded: Vec<Vec<u8>> =
                names.iter().map(|name| encoded(characters, name)).collect();
            let encoded: Vec<&[u8]> = encoded.iter().map(Vec::as_slice).collect();
            assert_eq!(decode_names(&encoded), names);
        }
    }

    const fn table(upper: &'static str) -> Characters {
        Characters::Table(upper)
    }

    const fn known(encoding: &'static Encoding) -> Characters {
        Characters::Known(encoding)
    }

    #[test]
    fn names_are_those_that_people_saw() {
        for name in ["résumé.txt", "München/Straße.txt", "año nuevo.docx", "Ärger über Öl.txt"]
        {
            check(table(CP437), &[name]);
            check(table(CP850), &[name]);
            check(known(WINDOWS_1252), &[name]);
        }
        check(table(CP437), &["Straße.txt"]);
        check(table(CP850), &["São João.txt", "Relatório nº 3.txt"]);
        for name in ["予算報告.txt", "会議/メモ.txt", "ドキュメント.docx", "2024年度 予算.xlsx"]
        {
            check(known(SHIFT_JIS), &[name]);
        }
        check(known(GBK), &["预算报告.txt", "中文/合同.txt", "会议纪要 2024.docx"]);
        check(known(EUC_KR), &["예산 보고서.txt", "회의록.docx"]);
        check(known(BIG5), &["預算報告書.txt", "會議紀錄.docx"]);
        for name in ["Документ.txt", "отчёт за год.docx", "Договор.doc"] {
            check(known(IBM866), &[name]);
            check(known(WINDOWS_1251), &[name]);
        }
    }

    /// They were read as words of Western Europe, as Cyrillic or as Korean.
    #[test]
    fn names_of_central_europe_and_of_other_scripts_are_those_that_people_saw() {
        for name in [
            "Zażółć gęślą jaźń.txt",
            "Příliš žluťoučký kůň.doc",
            "Umowa współpracy.docx",
            "Lista obecności.xlsx",
            "Árvíztűrő tükörfúrógép.txt",
        ] {
            check(table(CP852), &[name]);
            check(known(WINDOWS_1250), &[name]);
        }
        check(table(CP852), &["Raport pe lună.txt", "Šablona.docx"]);
        for name in ["Sözleşme.txt", "İş planı.docx", "Çağrı kayıtları.xlsx"] {
            check(table(CP857), &[name]);
            check(known(WINDOWS_1254), &[name]);
        }
        for name in ["Συμβόλαιο.txt", "Αναφορά 2021.docx"] {
            check(table(CP737), &[name]);
            check(known(WINDOWS_1253), &[name]);
        }
        check(table(CP862), &["חוזה שכירות.txt"]);
        check(known(WINDOWS_1255), &["חוזה שכירות.txt"]);
        check(table(CP720), &["عقد الإيجار.txt"]);
        check(known(WINDOWS_1256), &["عقد الإيجار.txt"]);
    }

    #[test]
    fn names_in_utf8_stay_beside_others() {
        let old = encoded(known(SHIFT_JIS), "予算.txt");
        let names = decode_names(&["予定.txt".as_bytes(), &old, b"plain.txt"]);
        assert_eq!(names, ["予定.txt", "予算.txt", "plain.txt"]);
        assert_eq!(decode_names(&[]), Vec::<String>::new());
        assert_eq!(decode_names(&[&[0xff; 300]]).len(), 1);
    }
}
