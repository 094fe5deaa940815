//! Words that say what kind of thing a name names, and words that say nothing.
//!
//! A kind word (`comuna`, `city`) distinguishes little inside a name, yet a query that says
//! `primăria` does not mean the county council. Inflected forms share one canonical form, so
//! that `comunei` is `comuna`. The lists hold the administrative words of Romanian and English,
//! and the articles and prepositions of a dozen languages of Europe; rarity in the data does the
//! rest for other languages and domains.

/// What a word contributes by its nature, before rarity is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Names a kind of unit.
    Kind,
    /// Glue between words.
    Glue,
    /// Everything else.
    Plain,
}

pub(crate) fn nature(folded: &str) -> Nature {
    if GLUE.contains(&folded) {
        Nature::Glue
    } else if canonical_kind(folded).is_some() {
        Nature::Kind
    } else {
        Nature::Plain
    }
}

/// Gives the canonical form of a kind word, or nothing for any other word.
pub(crate) fn canonical_kind(folded: &str) -> Option<&'static str> {
    KINDS.iter().find(|(_, forms)| forms.contains(&folded)).map(|(kind, _)| *kind)
}

/// Gives the kinds that a word of this kind also speaks of: a town hall is the hall of a town,
/// and registers name the town.
pub(crate) fn related_kinds(kind: &str) -> &'static [&'static str] {
    match kind {
        "primarie" => &["comuna", "oras", "municipiu", "sector", "uat"],
        "comuna" | "oras" | "municipiu" | "sector" => &["primarie", "uat"],
        "judet" => &["judetean"],
        "judetean" => &["judet"],
        _ => &[],
    }
}

/// Gives the kinds that a hint such as `county` or `city` speaks of.
pub(crate) fn kinds_of_hint(folded: &str) -> Vec<&'static str> {
    match folded {
        "county" | "counties" | "judet" | "judete" => vec!["judet"],
        "city" | "cities" | "oras" | "municipality" => vec!["municipiu", "oras"],
        "town" | "towns" => vec!["oras"],
        "commune" | "village" | "rural" => vec!["comuna", "sat"],
        "hall" => vec!["primarie"],
        other => canonical_kind(other).into_iter().collect(),
    }
}

const KINDS: [(&str, &[&str]); 18] = [
    ("comuna", &["comuna", "comunei", "comune", "comunelor", "com", "commune"]),
    ("oras", &["oras", "orasul", "orasului", "orase", "orasele", "oraselor", "town", "or"]),
    (
        "municipiu",
        &["municipiu", "municipiul", "municipiului", "municipii", "mun", "municipality", "city"],
    ),
    ("judet", &["judet", "judetul", "judetului", "judete", "judetelor", "jud", "county"]),
    ("judetean", &["judetean", "judeteana", "judetene"]),
    ("sat", &["sat", "satul", "satului", "village"]),
    ("sector", &["sector", "sectorul", "sectorului", "district"]),
    ("primarie", &["primaria", "primarie", "primariei", "primarii", "hall"]),
    ("consiliu", &["consiliu", "consiliul", "consiliului", "council"]),
    ("prefectura", &["prefectura", "prefecturii"]),
    ("unitate", &["unitate", "unitatea", "unitatii", "unit"]),
    ("administrativ", &["administrativ", "administrativa", "administrative"]),
    ("teritorial", &["teritorial", "teritoriala", "territorial"]),
    ("uat", &["uat"]),
    ("local", &["local", "locala", "locale"]),
    ("regiune", &["regiune", "regiunea", "regiunii", "region"]),
    ("resedinta", &["resedinta"]),
    ("minister", &["minister", "ministerul", "ministerului", "ministry"]),
];

/// Without `sur`, which joins words in French and is the south in Spanish.
const GLUE: [&str; 71] = [
    "a", "ai", "al", "ale", "am", "an", "and", "auf", "aus", "bei", "beim", "cu", "dans", "das",
    "de", "degli", "dei", "del", "della", "delle", "dem", "den", "der", "des", "di", "die", "din",
    "dos", "du", "een", "el", "et", "for", "fur", "het", "im", "in", "la", "las", "le", "les",
    "los", "mit", "nel", "nella", "nr", "och", "of", "og", "on", "pe", "pentru", "por", "pour",
    "prin", "privind", "sau", "se", "si", "the", "to", "un", "und", "van", "vom", "von", "with",
    "y", "zu", "zum", "zur",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_consistent() {
        for (kind, forms) in KINDS {
            for form in forms {
                assert_eq!(canonical_kind(form), Some(kind), "`{form}` is listed under two kinds");
                assert!(!GLUE.contains(form), "`{form}` is both kind and glue");
            }
        }
    }

    #[test]
    fn inflected_kinds_are_one() {
        assert_eq!(canonical_kind("comunei"), canonical_kind("comuna"));
        assert_eq!(nature("cluj"), Nature::Plain);
        assert_eq!(nature("de"), Nature::Glue);
        assert_eq!(kinds_of_hint("county"), ["judet"]);
    }
}
