//! The languages the analyser can tell apart, and sets of them that fit in a word.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Declares the languages with their ISO 639-1 codes.
macro_rules! languages {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// A language that the analyser can recognise; not every one has a stemmer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "most languages need no more than their name")]
        pub enum Language {
            $($(#[$doc])* #[serde(rename = $code)] $name,)*
        }

        impl Language {
            /// Every language, in a fixed order.
            pub const ALL: &'static [Language] = &[$(Language::$name,)*];

            /// Gives the ISO 639-1 code; `und` when the language is not known.
            pub fn code(self) -> &'static str {
                match self {
                    $(Language::$name => $code,)*
                }
            }
        }
    };
}

languages! {
    /// No language could be told, or none that the analyser knows.
    Unknown = "und",
    English = "en",
    Romanian = "ro",
    French = "fr",
    German = "de",
    Spanish = "es",
    Italian = "it",
    Portuguese = "pt",
    Dutch = "nl",
    Swedish = "sv",
    Danish = "da",
    /// Norwegian, Bokmål.
    Norwegian = "no",
    Finnish = "fi",
    Estonian = "et",
    Hungarian = "hu",
    Turkish = "tr",
    Polish = "pl",
    Czech = "cs",
    Lithuanian = "lt",
    Catalan = "ca",
    Basque = "eu",
    Irish = "ga",
    Indonesian = "id",
    Esperanto = "eo",
    /// Serbian, in either script.
    Serbian = "sr",
    Russian = "ru",
    /// Ukrainian; has no stemmer.
    Ukrainian = "uk",
    /// Bulgarian; has no stemmer.
    Bulgarian = "bg",
    Greek = "el",
    Armenian = "hy",
    Arabic = "ar",
    Persian = "fa",
    /// Hebrew; has no stemmer.
    Hebrew = "he",
    Yiddish = "yi",
    Hindi = "hi",
    Nepali = "ne",
    Tamil = "ta",
    /// Vietnamese; has no stemmer.
    Vietnamese = "vi",
    /// Japanese; character bigrams.
    Japanese = "ja",
    /// Chinese; character bigrams.
    Chinese = "zh",
    /// Korean; character bigrams.
    Korean = "ko",
    /// Thai, Lao, Khmer or Burmese; character bigrams.
    Thai = "th",
}

/// A code that names no known language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown language `{received}`: expected an ISO 639-1 code such as `en`, `ro` or `ja`")]
pub struct UnknownLanguage {
    /// The text that was given.
    pub received: String,
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(code: &str) -> Result<Self, UnknownLanguage> {
        Language::ALL
            .iter()
            .copied()
            .find(|language| language.code().eq_ignore_ascii_case(code))
            .ok_or_else(|| UnknownLanguage { received: code.to_owned() })
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A set of languages, such as those whose documents are in a namespace.
///
/// It is one word, so a manifest can keep it as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LanguageSet(u64);

impl LanguageSet {
    /// No language.
    pub const EMPTY: LanguageSet = LanguageSet(0);

    /// Every language: right for a query when nothing is known about the index.
    pub fn all() -> Self {
        Language::ALL.iter().copied().collect()
    }

    /// Takes the number that [`LanguageSet::bits`] gave; bits of no language are dropped.
    pub fn from_bits(bits: u64) -> Self {
        LanguageSet(bits & LanguageSet::all().0)
    }

    /// Gives the set as a number.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Adds a language.
    pub fn insert(&mut self, language: Language) {
        self.0 |= 1 << language as u64;
    }

    /// Tells whether a language was put in.
    pub fn contains(self, language: Language) -> bool {
        self.0 & (1 << language as u64) != 0
    }

    /// Tells whether no language was put in.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Gives the languages of both sets.
    pub fn union(self, other: LanguageSet) -> Self {
        LanguageSet(self.0 | other.0)
    }

    /// Gives the languages in their fixed order.
    pub fn iter(self) -> impl Iterator<Item = Language> {
        Language::ALL.iter().copied().filter(move |language| self.contains(*language))
    }
}

impl FromIterator<Language> for LanguageSet {
    fn from_iter<I: IntoIterator<Item = Language>>(languages: I) -> Self {
        let mut set = LanguageSet::EMPTY;
        for language in languages {
            set.insert(language);
        }
        set
    }
}
