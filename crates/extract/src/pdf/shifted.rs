//! Fonts that do not say what their codes stand for, where the codes are numbers of glyphs.
//!
//! Most TrueType fonts have their first glyphs in one order, that of the Macintosh: the space is
//! glyph 3, and so letters are 29 below their characters. A file that gives the numbers and nothing
//! else reads like `9ROXPHV` for `Volumes`. Each such character comes with a guess; whether a page's
//! guesses are text is told by how often the letters occur that are common in every language of the
//! Latin script.

/// Fewer letters than this prove nothing.
const MIN_LETTERS: usize = 20;

/// The letters that are common everywhere: half of a text and more, in English as in Turkish.
const COMMON: &str = "etaoinsr";

/// The least part of the letters that they are in text.
const TEXT_SHARE: f64 = 0.45;

/// The most that they are in letters that are 29 below what they stand for.
const NOISE_SHARE: f64 = 0.35;

/// The least part of all characters that letters and spaces are.
const WORDS_SHARE: f64 = 0.6;

/// Gives what a glyph stands for in the usual order of glyphs.
pub(super) fn usual_char(glyph: u32) -> Option<char> {
    match glyph {
        3..=97 => char::from_u32(glyph + 29),
        98..=225 => {
            let byte = u8::try_from(glyph + 30).ok()?;
            let bytes = [byte];
            let text = encoding_rs::MACINTOSH.decode_without_bom_handling(&bytes).0;
            text.chars().next().filter(|char| !char.is_control())
        }
        _ => None,
    }
}

/// What the characters of a page look like, counted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    n_chars: usize,
    n_letters: usize,
    n_common: usize,
    n_spaces: usize,
}

impl Counts {
    pub(super) fn add(&mut self, char: char) {
        self.n_chars += 1;
        self.n_letters += usize::from(char.is_alphabetic());
        self.n_common += usize::from(COMMON.contains(char.to_ascii_lowercase()));
        self.n_spaces += usize::from(char.is_whitespace());
    }

    /// Tells whether this is text of a language in the Latin script.
    pub(super) fn is_text(&self) -> bool {
        let part = |n: usize, of: usize| n as f64 / of.max(1) as f64;
        self.n_letters >= MIN_LETTERS
            && part(self.n_common, self.n_letters) >= TEXT_SHARE
            && part(self.n_letters + self.n_spaces, self.n_chars) >= WORDS_SHARE
    }

    /// Tells whether this is no text, although it is made of letters: a page of numbers is fine.
    pub(super) fn is_noise(&self) -> bool {
        self.n_letters >= MIN_LETTERS
            && (self.n_common as f64) < NOISE_SHARE * self.n_letters as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(chars: impl Iterator<Item = char>) -> Counts {
        let mut counts = Counts::default();
        chars.for_each(|char| counts.add(char));
        counts
    }

    #[test]
    fn glyphs_are_in_the_usual_order() {
        let text: String = "9ROXPHV".chars().filter_map(|char| usual_char(char as u32)).collect();
        assert_eq!(text, "Volumes");
        assert_eq!(
            [3, 19, 36, 68, 98, 108, 112].map(usual_char),
            [' ', '0', 'A', 'a', 'Ä', 'ä', 'é'].map(Some)
        );
        assert_eq!([0, 2, 226, 9999].map(usual_char), [None; 4]);
    }

    #[test]
    fn text_is_told_from_noise_in_many_languages() {
        for text in [
            "The volumes of the library are listed in the catalogue of the harbour office",
            "Die Bände der Bibliothek sind im Verzeichnis des Hafenamtes aufgeführt",
            "Les volumes de la bibliothèque sont énumérés dans le catalogue du port",
            "Kütüphanenin ciltleri liman dairesinin kataloğunda listelenmiştir",
            "A könyvtár kötetei a kikötői hivatal katalógusában vannak felsorolva",
            "Tomy biblioteki są wymienione w katalogu urzędu portowego miasta",
        ] {
            let shifted =
                || text.chars().filter_map(|char| char::from_u32((char as u32).checked_sub(29)?));
            assert!(counted(text.chars()).is_text(), "{text}");
            assert!(!counted(text.chars()).is_noise(), "{text}");
            assert!(counted(shifted()).is_noise(), "{text}");
            // Capitals are no reason to move them.
            assert!(!counted(text.to_uppercase().chars()).is_noise(), "{text}");
        }
        assert!(!counted("Contents".chars()).is_text(), "too short to know");
        assert!(!counted("1,234 5,678 ".repeat(20).chars()).is_noise(), "numbers are no letters");
    }
}
