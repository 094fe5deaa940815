//! Names of glyphs → characters, and the encodings that fonts start from.
//!
//! Latin letters with marks are found by rule (`Tcommaaccent` is a T with a mark), the rest by a
//! table of the names that writers use.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Gives the characters that a glyph's name stands for.
pub(super) fn text_of(name: &str) -> Option<String> {
    let name = name.split('.').next().filter(|stem| !stem.is_empty())?;
    if name.contains('_') {
        return name.split('_').map(text_of).collect();
    }
    char_of(name).map(|char| expanded(char).map_or_else(|| char.to_string(), str::to_owned))
}

/// Gives the letters that a ligature stands for.
pub(super) fn expanded(char: char) -> Option<&'static str> {
    Some(match char {
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        'ﬅ' | 'ﬆ' => "st",
        _ => return None,
    })
}

/// Gives the character that a glyph's name stands for.
pub(super) fn char_of(name: &str) -> Option<char> {
    let mut letters = name.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return letter.is_ascii_alphabetic().then_some(letter);
    }
    if let Some(char) = NAMES.get(name) {
        return Some(*char);
    }
    if let Some(hex) = name.strip_prefix("uni").and_then(|hex| hex.get(..4)) {
        return u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
    }
    if let Some(hex) = name.strip_prefix('u').filter(|hex| (4..=6).contains(&hex.len())) {
        return u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
    }
    if let Some(number) = name.strip_prefix("afii").and_then(|number| number.parse::<u32>().ok()) {
        return cyrillic(number);
    }
    let letter = name.chars().next().filter(char::is_ascii_alphabetic)?;
    marked(letter, name.get(1..)?)
}

/// Gives the character of a byte in the encoding of Type 1 fonts.
pub(super) fn standard_encoding(byte: u8) -> Option<char> {
    match byte {
        0x27 => Some('’'),
        0x60 => Some('‘'),
        0x20..=0x7e => Some(char::from(byte)),
        0xa1..=0xfb => {
            let char = STANDARD_HIGH.chars().nth(usize::from(byte - 0xa1))?;
            (char != '\0').then_some(char)
        }
        _ => None,
    }
}

/// Gives the character of a byte in the Symbol font.
pub(super) fn symbol_encoding(byte: u8) -> Option<char> {
    let char = match byte {
        0x20..=0x7e => SYMBOL_LOW.chars().nth(usize::from(byte - 0x20))?,
        0xa1..=0xfe => SYMBOL_HIGH.chars().nth(usize::from(byte - 0xa1))?,
        _ => return None,
    };
    (char != '\0').then_some(char)
}

const STANDARD_HIGH: &str = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\0–†‡·\0¶•‚„”»…‰\0¿\0`´ˆ˜¯˘˙¨\0˚¸\0˝˛ˇ—\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0Æ\0ª\0\0\0\0ŁØŒº\0\0\0\0\0æ\0\0\0ı\0\0łøœß";

const SYMBOL_LOW: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";

const SYMBOL_HIGH: &str = "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\0〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";

static NAMES: LazyLock<HashMap<&'static str, char>> = LazyLock::new(|| {
    let mut names = HashMap::new();
    for entry in TABLE.split_ascii_whitespace() {
        if let Some((name, char)) = entry.rsplit_once('=') {
            names.extend(char.chars().next().map(|char| (name, char)));
        }
    }
    // These cannot be in a list that is split at white space.
    names.extend([
        ("space", ' '),
        ("nbspace", ' '),
        ("nonbreakingspace", ' '),
        ("softhyphen", '\u{ad}'),
        ("sfthyphen", '\u{ad}'),
        ("equal", '='),
    ]);
    names
});

const TABLE: &str = "
exclam=! quotedbl=\" numbersign=# dollar=$ percent=% ampersand=& quotesingle=' quoteright=’
parenleft=( parenright=) asterisk=* plus=+ comma=, hyphen=- minus=− period=. slash=/ zero=0 one=1
two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 colon=: semicolon=; less=< greater=>
question=? at=@ bracketleft=[ backslash=\\ bracketright=] asciicircum=^ underscore=_ grave=`
quoteleft=‘ braceleft={ bar=| braceright=} asciitilde=~ exclamdown=¡ cent=¢ sterling=£ fraction=⁄
yen=¥ florin=ƒ section=§ currency=¤ quotedblleft=“ guillemotleft=« guillemotright=»
guilsinglleft=‹ guilsinglright=› fi=ﬁ fl=ﬂ ff=ﬀ ffi=ﬃ ffl=ﬄ endash=– emdash=— dagger=† daggerdbl=‡
periodcentered=· middot=· paragraph=¶ bullet=• quotesinglbase=‚ quotedblbase=„ quotedblright=”
ellipsis=… perthousand=‰ questiondown=¿ acute=´ circumflex=ˆ tilde=˜ macron=¯ breve=˘ dotaccent=˙
dieresis=¨ ring=˚ cedilla=¸ hungarumlaut=˝ ogonek=˛ caron=ˇ AE=Æ ae=æ ordfeminine=ª ordmasculine=º
Lslash=Ł lslash=ł Oslash=Ø oslash=ø OE=Œ oe=œ dotlessi=ı dotlessj=ȷ germandbls=ß Eth=Ð eth=ð
Thorn=Þ thorn=þ Dcroat=Đ dcroat=đ Dslash=Đ dslash=đ Hbar=Ħ hbar=ħ Tbar=Ŧ tbar=ŧ kgreenlandic=ĸ
Eng=Ŋ eng=ŋ IJ=Ĳ ij=ĳ longs=ſ napostrophe=ŉ onesuperior=¹ twosuperior=² threesuperior=³
onehalf=½ onequarter=¼ threequarters=¾ logicalnot=¬ multiply=× divide=÷ plusminus=± degree=° mu=µ
copyright=© registered=® trademark=™ brokenbar=¦ Euro=€ 
Alpha=Α Beta=Β Gamma=Γ Delta=Δ Epsilon=Ε Zeta=Ζ Eta=Η Theta=Θ Iota=Ι Kappa=Κ Lambda=Λ Mu=Μ Nu=Ν
Xi=Ξ Omicron=Ο Pi=Π Rho=Ρ Sigma=Σ Tau=Τ Upsilon=Υ Phi=Φ Chi=Χ Psi=Ψ Omega=Ω alpha=α beta=β gamma=γ
delta=δ epsilon=ε epsilon1=ϵ varepsilon=ε zeta=ζ eta=η theta=θ theta1=ϑ vartheta=ϑ iota=ι kappa=κ
lambda=λ nu=ν xi=ξ omicron=ο pi=π omega1=ϖ rho=ρ rho1=ϱ sigma=σ sigma1=ς tau=τ upsilon=υ phi=φ
phi1=ϕ varphi=φ chi=χ psi=ψ omega=ω infinity=∞ lessequal=≤ greaterequal=≥ notequal=≠
approxequal=≈ equivalence=≡ similar=∼ congruent=≅ proportional=∝ partialdiff=∂ gradient=∇
summation=∑ product=∏ integral=∫ radical=√ element=∈ notelement=∉ reflexsubset=⊆ propersubset=⊂
reflexsuperset=⊇ propersuperset=⊃ union=∪ intersection=∩ logicaland=∧ logicalor=∨ universal=∀
existential=∃ emptyset=∅ arrowleft=← arrowright=→ arrowup=↑ arrowdown=↓ arrowboth=↔
arrowdblleft=⇐ arrowdblright=⇒ arrowdblboth=⇔ asteriskmath=∗ dotmath=⋅ circleplus=⊕
circlemultiply=⊗ perpendicular=⊥ angle=∠ therefore=∴ minute=′ second=″ lozenge=◊ aleph=ℵ
weierstrass=℘ Rfraktur=ℜ Ifraktur=ℑ club=♣ diamond=♦ heart=♥ spade=♠ angleleft=〈 angleright=〉
braceleftbig={ bracerightbig=} parenleftbig=( parenrightbig=) bracketleftbig=[ bracketrightbig=]
visiblespace=␣ openbullet=◦ square=□ checkmark=✓ estimated=℮ litre=ℓ lscript=ℓ numero=№
figuredash=‒ horizontalbar=― underscoredbl=‗ exclamdbl=‼ fraction1=⁄ commaaccent=, quotereversed=‛
twodotleader=‥ colonmonetary=₡ lira=₤ peseta=₧ dong=₫ afii61352=№ tcedilla=ţ Tcedilla=Ţ
zerooldstyle=0 oneoldstyle=1 twooldstyle=2 threeoldstyle=3 fouroldstyle=4 fiveoldstyle=5
sixoldstyle=6 sevenoldstyle=7 eightoldstyle=8 nineoldstyle=9 zerosuperior=⁰ foursuperior=⁴
fivesuperior=⁵ sixsuperior=⁶ sevensuperior=⁷ eightsuperior=⁸ ninesuperior=⁹ nsuperior=ⁿ
hyphenchar=- alef=א bet=ב gimel=ג dalet=ד he=ה vav=ו zayin=ז het=ח tet=ט yod=י finalkaf=ך kaf=כ
lamed=ל finalmem=ם mem=מ finalnun=ן nun=נ samekh=ס ayin=ע finalpe=ף pe=פ finaltsadi=ץ tsadi=צ
qof=ק resh=ר shin=ש tav=ת";

/// Gives a Latin letter with the mark that the rest of its name says.
fn marked(letter: char, mark: &str) -> Option<char> {
    let pairs = match mark {
        "acute" => "AÁaáCĆcćEÉeéIÍiíLĹlĺNŃnńOÓoóRŔrŕSŚsśUÚuúYÝyýZŹzźGǴgǵWẂwẃ",
        "grave" => "AÀaàEÈeèIÌiìOÒoòUÙuùNǸnǹWẀwẁYỲyỳ",
        "circumflex" => "AÂaâCĈcĉEÊeêGĜgĝHĤhĥIÎiîJĴjĵOÔoôSŜsŝUÛuûWŴwŵYŶyŷ",
        "dieresis" => "AÄaäEËeëIÏiïOÖoöUÜuüYŸyÿWẄwẅ",
        "tilde" => "AÃaãIĨiĩNÑnñOÕoõUŨuũ",
        "ring" => "AÅaåUŮuů",
        "macron" => "AĀaāEĒeēIĪiīOŌoōUŪuū",
        "breve" => "AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭ",
        "ogonek" => "AĄaąEĘeęIĮiįUŲuų",
        "caron" => "CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzžGǦgǧ",
        "dotaccent" | "dot" => "CĊcċEĖeėGĠgġIİZŻzż",
        "cedilla" => "CÇcçSŞsşTŢtţ",
        "commaaccent" => "GĢgģKĶkķLĻlļNŅnņRŖrŗSȘsșTȚtț",
        "hungarumlaut" => "OŐoőUŰuű",
        "slash" => "OØoøLŁlł",
        "horn" => "OƠoơUƯuư",
        "tonos" => "AΆEΈIΊOΌ",
        _ => return None,
    };
    let mut pairs = pairs.chars();
    while let (Some(plain), Some(marked)) = (pairs.next(), pairs.next()) {
        if plain == letter {
            return Some(marked);
        }
    }
    None
}

/// Gives the character of an AFII number, which Cyrillic glyphs are named by.
fn cyrillic(number: u32) -> Option<char> {
    let code = match number {
        10017..=10022 => 0x410 + number - 10017,
        10023 => 0x401,
        10024..=10049 => 0x416 + number - 10024,
        10050 => 0x490,
        10051..=10061 => 0x402 + number - 10051 + u32::from(number >= 10051) - 1,
        10062 => 0x40e,
        10065..=10070 => 0x430 + number - 10065,
        10071 => 0x451,
        10072..=10097 => 0x436 + number - 10072,
        10098 => 0x491,
        10110 => 0x45e,
        10145 => 0x40f,
        10193 => 0x45f,
        _ => return None,
    };
    char::from_u32(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_characters() {
        for (name, expected) in [
            ("A", "A"),
            ("Aacute", "Á"),
            ("tcommaaccent", "ț"),
            ("ffi", "ffi"),
            ("f_f_l", "ffl"),
            ("uni20AC", "€"),
            ("u1F600", "😀"),
            ("afii10017", "А"),
            ("one.oldstyle", "1"),
            ("space", " "),
        ] {
            assert_eq!(text_of(name).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(text_of("g123"), None);
        assert_eq!(text_of(".notdef"), None);
    }

    #[test]
    fn encodings_have_their_length() {
        assert_eq!(standard_encoding(0xfb), Some('ß'));
        assert_eq!(standard_encoding(0xe1), Some('Æ'));
        assert_eq!(symbol_encoding(0x61), Some('α'));
        assert_eq!(symbol_encoding(0x7e), Some('∼'));
        assert_eq!(symbol_encoding(0xfe), Some('⎭'));
    }
}
