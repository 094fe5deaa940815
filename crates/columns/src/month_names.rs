//! Names of months as dates in files have them, in the languages whose dates are written with them.

/// The names of each month; a part of one from its beginning is its abbreviation.
const MONTHS: [&[&str]; 12] = [
    &[
        "january", "januar", "janvier", "ianuarie", "enero", "gennaio", "janeiro", "januari",
        "styczeń", "stycznia",
    ],
    &[
        "february",
        "februar",
        "février",
        "fevrier",
        "februarie",
        "febrero",
        "febbraio",
        "fevereiro",
        "februari",
        "luty",
        "lutego",
    ],
    &[
        "march", "märz", "maerz", "mrz", "mars", "martie", "marzo", "março", "marco", "maart",
        "mrt", "marzec", "marca",
    ],
    &["april", "avril", "aprilie", "abril", "aprile", "kwiecień", "kwietnia"],
    &["may", "mai", "mayo", "maggio", "maio", "mei", "maj", "maja"],
    &["june", "juni", "juin", "iunie", "junio", "giugno", "junho", "czerwiec", "czerwca"],
    &["july", "juli", "juillet", "iulie", "julio", "luglio", "julho", "lipiec", "lipca"],
    &["august", "août", "aout", "agosto", "augustus", "augusti", "sierpień", "sierpnia"],
    &[
        "september",
        "septembre",
        "septembrie",
        "septiembre",
        "settembre",
        "setembro",
        "wrzesień",
        "września",
    ],
    &[
        "october",
        "oktober",
        "octobre",
        "octombrie",
        "octubre",
        "ottobre",
        "outubro",
        "październik",
        "października",
    ],
    &["november", "novembre", "noiembrie", "noviembre", "novembro", "listopad", "listopada"],
    &[
        "december",
        "dezember",
        "décembre",
        "decembre",
        "decembrie",
        "diciembre",
        "dicembre",
        "dezembro",
        "grudzień",
        "grudnia",
    ],
];

/// The shortest abbreviation.
const MIN_CHARS: usize = 3;

/// Gives the number of a month from its name or an abbreviation that no other month has: `Jun`,
/// `Sept.`, `août`, `gen`.
pub(crate) fn month_named(word: &str) -> Option<i8> {
    let word = word.trim_end_matches('.').to_lowercase();
    let of_month =
        |names: &&[&str], is_it: &dyn Fn(&str) -> bool| names.iter().any(|name| is_it(name));
    let numbered = || (1_i8..).zip(MONTHS.iter());
    let whole = numbered().find(|(_, names)| of_month(names, &|name| name == word));
    if let Some((month, _)) = whole {
        return Some(month);
    }
    if word.chars().count() < MIN_CHARS {
        return None;
    }
    let mut begun =
        numbered().filter(|(_, names)| of_month(names, &|name| name.starts_with(&word)));
    let (month, _) = begun.next()?;
    begun.next().is_none().then_some(month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_abbreviations_are_known_and_nothing_is_guessed() {
        for (word, month) in [
            ("Jun", 6),
            ("sept.", 9),
            ("AOÛT", 8),
            ("août", 8),
            ("gen", 1),
            ("ene", 1),
            ("Mär", 3),
            ("mai", 5),
            ("iul", 7),
            ("dez", 12),
            ("noi", 11),
            ("juil", 7),
            ("May", 5),
            ("marca", 3),
        ] {
            assert_eq!(month_named(word), Some(month), "{word}");
        }
        for word in ["", "ju", "jui", "ma", "monday", "apples", "Junes", "3"] {
            assert_eq!(month_named(word), None, "{word}");
        }
    }
}
