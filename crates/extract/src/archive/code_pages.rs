//! The code pages in which programs wrote names of files, and whose words are written in each.

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GBK, IBM866, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256, WINDOWS_1257,
};

/// The upper half of the code page of consoles in the United States, which the format names as its
/// own.
pub(super) const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// The same for Western Europe.
pub(super) const CP850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

/// The same for Central Europe.
pub(super) const CP852: &str = "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}";

/// The same for Turkey.
pub(super) const CP857: &str = "ÇüéâäàåçêëèïîıÄÅÉæÆôöòûùİÖÜø£ØŞşáíóúñÑĞğ¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ºªÊËÈ\u{fffd}ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµ\u{fffd}×ÚÛÙìÿ¯´\u{ad}±\u{fffd}¾¶§÷¸°¨·¹³²■\u{a0}";

/// The same for the Baltic countries.
pub(super) const CP775: &str = "ĆüéāäģåćłēŖŗīŹÄÅÉæÆōöĢ¢ŚśÖÜø£Ø×¤ĀĪóŻżź”¦©®¬½¼Ł«»░▒▓│┤ĄČĘĖ╣║╗╝ĮŠ┐└┴┬├─┼ŲŪ╚╔╩╦╠═╬Žąčęėįšųūž┘┌█▄▌▐▀ÓßŌŃõÕµńĶķĻļņĒŅ’\u{ad}±“¾¶§÷„°∙·¹³²■\u{a0}";

/// The same for Greece.
pub(super) const CP737: &str = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρσςτυφχψ░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀ωάέήϊίόύϋώΆΈΉΊΌΎΏ±≥≤ΪΫ÷≈°∙·√ⁿ²■\u{a0}";

/// The same for Israel.
pub(super) const CP862: &str = "אבגדהוזחטיךכלםמןנסעףפץצקרשת¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// The same for Arabic countries.
pub(super) const CP720: &str = "éâàçêëèïî\u{651}\u{652}ô¤ـûùءآأؤ£إئابةتثجحخدذرزسشص«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀ضطظعغفµقكلمنهوىي≡\u{64b}\u{64c}\u{64d}\u{64e}\u{64f}\u{650}≈°∙·√ⁿ²■\u{a0}";

/// A way to read a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodePage {
    pub(super) characters: Characters,
    pub(super) words: Words,
}

/// What the bytes stand for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Characters {
    /// The upper half of a page of 256 characters.
    Table(&'static str),
    Known(&'static Encoding),
}

/// What people write in a code page.
#[derive(Debug, Clone, Copy)]
pub(super) enum Words {
    /// Words of Latin letters, in one of some languages.
    Latin(&'static [Alphabet]),
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    /// Characters of two bytes.
    Wide,
}

/// The letters of a language beside those of ASCII, small ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alphabet {
    pub(super) common: &'static str,
    pub(super) rare: &'static str,
}

const fn alphabet(common: &'static str, rare: &'static str) -> Alphabet {
    Alphabet { common, rare }
}

/// French, German, Spanish, Portuguese, Italian, Dutch, of the north, Icelandic.
const WESTERN: &[Alphabet] = &[
    alphabet("éèàêç", "âîôûùëïœüÿæ"),
    alphabet("äöüß", "é"),
    alphabet("áéíóúñ", "ü¿¡ºª"),
    alphabet("ãáâçéêíóõú", "àôüºª"),
    alphabet("àèéìòù", "íú"),
    alphabet("ëé", "ïöüèê"),
    alphabet("åäöæøé", "ü"),
    alphabet("", "ðþáéíóúýæö"),
];

/// Polish, Czech, Slovak, Hungarian, Romanian, Croatian and Slovene, and the German beside them.
const CENTRAL: &[Alphabet] = &[
    alphabet("ąćęłńóśźż", ""),
    alphabet("áčéěířšůúýž", "ďňťóö"),
    alphabet("áčéíľšťúýž", "äďĺňóôŕ"),
    alphabet("áéíóöőúüű", ""),
    alphabet("ăâîșşțţ", ""),
    alphabet("čćđšž", ""),
    alphabet("äöüß", ""),
];

const TURKISH: &[Alphabet] = &[alphabet("çğıöşü", "âîû")];

/// Lithuanian, Latvian, Estonian.
const BALTIC: &[Alphabet] =
    &[alphabet("ąčęėįšųūž", ""), alphabet("āčēģīķļņšūž", ""), alphabet("äõöü", "šž")];

const fn table(upper: &'static str, words: Words) -> CodePage {
    CodePage { characters: Characters::Table(upper), words }
}

const fn known(encoding: &'static Encoding, words: Words) -> CodePage {
    CodePage { characters: Characters::Known(encoding), words }
}

/// What names are tried as; the earlier of equals is taken.
pub(super) const CODE_PAGES: [CodePage; 22] = [
    table(CP437, Words::Latin(WESTERN)),
    table(CP850, Words::Latin(WESTERN)),
    known(WINDOWS_1252, Words::Latin(WESTERN)),
    table(CP852, Words::Latin(CENTRAL)),
    known(WINDOWS_1250, Words::Latin(CENTRAL)),
    known(SHIFT_JIS, Words::Wide),
    known(GBK, Words::Wide),
    known(BIG5, Words::Wide),
    known(EUC_KR, Words::Wide),
    known(EUC_JP, Words::Wide),
    known(IBM866, Words::Cyrillic),
    known(WINDOWS_1251, Words::Cyrillic),
    table(CP857, Words::Latin(TURKISH)),
    known(WINDOWS_1254, Words::Latin(TURKISH)),
    table(CP737, Words::Greek),
    known(WINDOWS_1253, Words::Greek),
    table(CP862, Words::Hebrew),
    known(WINDOWS_1255, Words::Hebrew),
    table(CP720, Words::Arabic),
    known(WINDOWS_1256, Words::Arabic),
    table(CP775, Words::Latin(BALTIC)),
    known(WINDOWS_1257, Words::Latin(BALTIC)),
];

impl CodePage {
    pub(super) fn is(&self, encoding: &'static Encoding) -> bool {
        matches!(self.characters, Characters::Known(known) if known == encoding)
    }

    pub(super) fn decode(&self, name: &[u8]) -> String {
        match self.characters {
            Characters::Known(encoding) => {
                encoding.decode_without_bom_handling(name).0.into_owned()
            }
            Characters::Table(upper) => name
                .iter()
                .map(|byte| match byte.checked_sub(0x80) {
                    None => char::from(*byte),
                    Some(at) => upper.chars().nth(at.into()).unwrap_or(char::REPLACEMENT_CHARACTER),
                })
                .collect(),
        }
    }

    /// Writes a name in the code page, for tests.
    #[cfg(test)]
    pub(super) fn encode(&self, name: &str) -> Vec<u8> {
        match self.characters {
            Characters::Known(encoding) => encoding.encode(name).0.into_owned(),
            Characters::Table(upper) => name
                .chars()
                .map(|char| match char.is_ascii() {
                    true => char as u8,
                    false => 0x80 + upper.chars().position(|other| other == char).unwrap() as u8,
                })
                .collect(),
        }
    }
}
