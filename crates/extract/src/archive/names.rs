//! Names of files in an archive, as the person saw them who packed it.
//!
//! Few programs say in which encoding they wrote names. Most write UTF-8; Windows writes the code
//! page of its console, which differs by country, and old Unix programs whatever the disk had. All
//! names of an archive are looked at together: one of few letters tells little.

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GBK, IBM866, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1252,
};

/// The upper half of the code page of consoles in the United States, which the format names as its
/// own.
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// The same for Western Europe.
const CP850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

/// Bytes of names that a guess looks at.
const GUESS_BYTES: usize = 64 << 10;

/// A way to read a name.
#[derive(Debug, Clone, Copy)]
enum CodePage {
    /// The upper half of a page of 256 characters.
    Table(&'static str),
    Known(&'static Encoding),
}

/// What names are tried as; the earlier of equals is taken.
const CODE_PAGES: [CodePage; 11] = [
    CodePage::Table(CP437),
    CodePage::Table(CP850),
    CodePage::Known(WINDOWS_1252),
    CodePage::Known(SHIFT_JIS),
    CodePage::Known(GBK),
    CodePage::Known(BIG5),
    CodePage::Known(EUC_KR),
    CodePage::Known(EUC_JP),
    CodePage::Known(IBM866),
    CodePage::Known(WINDOWS_1251),
    CodePage::Known(WINDOWS_1250),
];

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
        let is_detected = matches!(page, CodePage::Known(encoding) if *encoding == detected);
        of_names.saturating_mul(4) + i64::from(is_detected && of_names > 0) * of_names
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
    fn decode(self, name: &[u8]) -> String {
        match self {
            CodePage::Known(encoding) => encoding.decode_without_bom_handling(name).0.into_owned(),
            CodePage::Table(upper) => name
                .iter()
                .map(|byte| match byte.checked_sub(0x80) {
                    None => char::from(*byte),
                    Some(at) => upper.chars().nth(at.into()).unwrap_or(char::REPLACEMENT_CHARACTER),
                })
                .collect(),
        }
    }

    /// Tells how much a name looks like words in this code page: for each byte that is no ASCII,
    /// whether the character is one that people write there.
    fn worth(self, name: &[u8]) -> i64 {
        let chars: Vec<char> = self.decode(name).chars().collect();
        let mut worth = 0;
        for (at, char) in chars.iter().enumerate().filter(|(_, char)| !char.is_ascii()) {
            let before = at.checked_sub(1).and_then(|before| chars.get(before)).copied();
            let after = chars.get(at + 1).copied();
            worth += self.worth_of(*char, before, after);
        }
        worth
    }

    /// Tells how likely a character is between its neighbours in a name.
    fn worth_of(self, char: char, before: Option<char>, after: Option<char>) -> i64 {
        let neighbours = [before, after];
        let near = |test: fn(char) -> bool| neighbours.into_iter().flatten().any(test);
        let is_ascii_letter = |char: char| char.is_ascii_alphabetic();
        match char {
            char::REPLACEMENT_CHARACTER | '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' => -20,
            // A capital inside a word of small letters is a letter of another code page.
            _ if is_latin(char) => {
                let is_inside = before.is_some_and(char::is_lowercase) && char.is_uppercase();
                match near(is_ascii_letter) {
                    _ if is_inside => -3,
                    true => 2,
                    // Words of accents alone are names in characters of two bytes.
                    false => -2,
                }
            }
            '\u{400}'..='\u{45f}' | '\u{490}' | '\u{491}' => {
                let is_inside = before.is_some_and(char::is_lowercase) && char.is_uppercase();
                match (near(is_ascii_letter), near(is_cyrillic)) {
                    (true, _) => -3,
                    _ if is_inside => -3,
                    (false, true) => 2,
                    (false, false) => 0,
                }
            }
            // Beside a letter of ASCII, an accent and the letter after it are as likely.
            '\u{3041}'..='\u{30fe}' | '\u{ac00}'..='\u{d7a3}' | '\u{4e00}'..='\u{9fff}'
                if near(is_ascii_letter) =>
            {
                1
            }
            // Two bytes each.
            '\u{3041}'..='\u{30fe}' | '\u{ac00}'..='\u{d7a3}' => 4,
            '\u{4e00}'..='\u{9fff}' => worth_of_han(char, self),
            '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff5e}' => match near(is_ascii_letter) {
                true => -3,
                false => 2,
            },
            '“' | '”' | '‘' | '’' | '–' | '—' | '…' | '°' | 'º' | 'ª' | '«' | '»' | '№' | '§' => {
                match before.is_some_and(is_ascii_letter) && after.is_some_and(is_ascii_letter) {
                    true => -3,
                    false => 0,
                }
            }
            _ => -4,
        }
    }
}

/// Han characters that are in daily use are in the first half of the old sets of Japan, China and
/// Taiwan; a wrong code page gives rare ones. Names in Korean hardly have any.
fn worth_of_han(char: char, page: CodePage) -> i64 {
    let mut text = [0; 4];
    let text = char.encode_utf8(&mut text);
    let pair = |encoding: &'static Encoding| {
        let (bytes, _, has_errors) = encoding.encode(text);
        match (has_errors, bytes.as_ref()) {
            (false, [lead, trail]) => Some((*lead, *trail)),
            _ => None,
        }
    };
    let is_of =
        |encoding: &'static Encoding| matches!(page, CodePage::Known(known) if known == encoding);
    let is_daily = match () {
        () if is_of(GBK) => matches!(pair(GBK), Some((0xb0..=0xd7, 0xa1..))),
        () if is_of(BIG5) => matches!(pair(BIG5), Some((0xa4..=0xc6, _))),
        () if is_of(SHIFT_JIS) || is_of(EUC_JP) => {
            matches!(pair(SHIFT_JIS), Some((0x88..=0x97, _)))
        }
        () => false,
    };
    if is_daily { 4 } else { -1 }
}

fn is_latin(char: char) -> bool {
    matches!(char, '\u{c0}'..='\u{24f}') && !matches!(char, '×' | '÷')
}

fn is_cyrillic(char: char) -> bool {
    matches!(char, '\u{400}'..='\u{45f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(page: CodePage, name: &str) -> Vec<u8> {
        match page {
            CodePage::Known(encoding) => encoding.encode(name).0.into_owned(),
            CodePage::Table(upper) => name
                .chars()
                .map(|char| match char.is_ascii() {
                    true => char as u8,
                    false => 0x80 + upper.chars().position(|other| other == char).unwrap() as u8,
                })
                .collect(),
        }
    }

    #[track_caller]
    fn check(page: CodePage, names: &[&str]) {
        let encoded: Vec<Vec<u8>> = names.iter().map(|name| encoded(page, name)).collect();
        let encoded: Vec<&[u8]> = encoded.iter().map(Vec::as_slice).collect();
        assert_eq!(decode_names(&encoded), names);
    }

    #[test]
    fn names_are_those_that_people_saw() {
        for name in ["résumé.txt", "München/Straße.txt", "año nuevo.docx", "Ärger über Öl.txt"]
        {
            check(CodePage::Table(CP437), &[name]);
            check(CodePage::Table(CP850), &[name]);
            check(CodePage::Known(WINDOWS_1252), &[name]);
        }
        check(CodePage::Table(CP850), &["São João.txt", "Relatório nº 3.txt"]);
        for name in ["予算報告.txt", "会議/メモ.txt", "ドキュメント.docx", "2024年度 予算.xlsx"]
        {
            check(CodePage::Known(SHIFT_JIS), &[name]);
        }
        for name in ["预算报告.txt", "中文/合同.txt", "会议纪要 2024.docx"] {
            check(CodePage::Known(GBK), &[name]);
        }
        for name in ["예산 보고서.txt", "회의록.docx"] {
            check(CodePage::Known(EUC_KR), &[name]);
        }
        for name in ["預算報告書.txt", "會議紀錄.docx"] {
            check(CodePage::Known(BIG5), &[name]);
        }
        for name in ["Документ.txt", "отчёт за год.docx"] {
            check(CodePage::Known(IBM866), &[name]);
            check(CodePage::Known(WINDOWS_1251), &[name]);
        }
    }

    #[test]
    fn names_in_utf8_stay_beside_others() {
        let old = encoded(CodePage::Known(SHIFT_JIS), "予算.txt");
        let names = decode_names(&["予定.txt".as_bytes(), &old, b"plain.txt"]);
        assert_eq!(names, ["予定.txt", "予算.txt", "plain.txt"]);
        assert_eq!(decode_names(&[]), Vec::<String>::new());
        assert_eq!(decode_names(&[&[0xff; 300]]).len(), 1);
    }
}
