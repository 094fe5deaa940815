//! The small words of filters, by language: one row for each, so that another language is data.
//!
//! Entries are patterns, written without capitals; they stand between word boundaries. Japanese
//! and Chinese have no spaces and are read by patterns of their own.

/// The words of one language.
pub(super) struct Words {
    /// Joins two formats or two years that are both meant.
    pub(super) and: &'static str,
    /// Joins two formats of which either is meant.
    pub(super) or: &'static str,
    /// Is before a list of formats: "in ppt or docx".
    pub(super) before_formats: &'static str,
    /// Is behind a list of formats: "pdf files".
    pub(super) after_formats: &'static str,
    /// Joins the ends of a range of years.
    pub(super) to: &'static str,
    /// Is before the two ends of a range: "between 2019 and 2021".
    pub(super) between: &'static str,
    /// Is before one year: "from 2021", "in the year 2021".
    pub(super) of_year: &'static str,
    /// Begins a range that is open to the present, with its year.
    pub(super) since: &'static str,
    /// Begins a range that is open to the present, without its year.
    pub(super) after: &'static str,
    /// Ends a range that is open to the past: no filter.
    pub(super) until: &'static str,
    /// "Last year".
    pub(super) last_year: &'static str,
    /// "This year".
    pub(super) this_year: &'static str,
    /// "Next year".
    pub(super) next_year: &'static str,
    /// "The last N years", with `N` where the number is.
    pub(super) last_years: &'static str,
    /// Words that mean nothing once what they belonged to is a filter.
    pub(super) loose: &'static [&'static str],
}

/// English and Romanian have further patterns beside their rows.
pub(super) const LANGUAGES: [Words; 9] = [
    // English
    Words {
        and: "and",
        or: "or",
        before_formats: "in|as|only|type|format|formats|filetype|ext|extension|files?|documents?",
        after_formats: "files?|documents?|docs|formats?|presentations?|slides?|decks?|spreadsheets?|workbooks?|sheets?|attachments?",
        to: "to|through|thru|until|till",
        between: "between",
        of_year: "from|in|during|for|of|year|years|dated",
        since: "since|starting(?:\\s+(?:in|from))?",
        after: "after|later than",
        until: "before|until|till|up to|by",
        last_year: "",
        this_year: "",
        next_year: "",
        last_years: "",
        loose: &[
            "or", "and", "in", "from", "for", "of", "as", "the", "with", "since", "during", "only",
            "format",
        ],
    },
    // Romanian
    Words {
        and: "și|şi|si",
        or: "sau|ori",
        before_formats: "în|in format(?:ul)?|în format(?:ul)?|format(?:ul)?|ca|doar|numai|tip(?:ul)?|de tip|extensi[ae]|fi[sșş]iere(?:le)?|documente(?:le)?",
        after_formats: "fi[sșş]iere(?:le)?|documente(?:le)?|prezent[aă]ri(?:le)?|foi",
        to: "la|p[aâ]n[aă](?:\\s+(?:[iî]n|la))?",
        between: "[iî]ntre",
        of_year: "din|[iî]n|pe|pentru|anul|anului|anii|anilor",
        since: "[iî]ncep[aâ]nd\\s+(?:cu|din)(?:\\s+anul)?",
        after: "dup[aă]|ulterior(?:\\s+anului)?",
        until: "[iî]nainte de|p[aâ]n[aă]\\s+(?:[iî]n|la)",
        last_year: "",
        this_year: "",
        next_year: "",
        last_years: "",
        loose: &["sau", "și", "si", "şi", "din", "în", "de", "cu", "pentru", "la", "pe", "ca"],
    },
    // German
    Words {
        and: "und",
        or: "oder",
        before_formats: "im|als|nur|im format|dateityp|dateien|dokumente",
        after_formats: "dateien|dokumente|präsentationen|folien|tabellen|anhänge",
        to: "bis",
        between: "zwischen",
        of_year: "von|aus|im|aus dem|im jahre?|aus dem jahre?|vom jahr",
        since: "seit|ab",
        after: "nach",
        until: "vor|bis",
        last_year: "(?:im |aus dem |vom |des )?(?:letzt|vorig|vergangen)e[mnrs]?\\s+jahr(?:es)?",
        this_year: "(?:in |aus )?diese[ms]\\s+jahr(?:es)?",
        next_year: "(?:im )?nächste[ns]\\s+jahr(?:es)?",
        last_years: "(?:in |aus )?(?:den|der|die)\\s+letzten\\s+N\\s+jahren?",
        loose: &[
            "oder", "und", "im", "als", "nur", "von", "aus", "dem", "seit", "der", "die", "das",
        ],
    },
    // French
    Words {
        and: "et",
        or: "ou",
        before_formats: "en|au format|format|fichiers?|documents?",
        after_formats: "fichiers?|documents?|présentations?|tableaux",
        to: "à|au|jusqu'en|jusqu’en",
        between: "entre",
        of_year: "de|en|pour|de l['’]année|en l['’]an|de l['’]an",
        since: "depuis|à partir de|dès",
        after: "après",
        until: "avant|jusqu['’]en",
        last_year: "(?:de )?(?:l['’]année\\s+(?:dernière|passée|précédente)|l['’]an\\s+(?:dernier|passé))",
        this_year: "(?:de )?cette\\s+année",
        next_year: "(?:de )?l['’](?:année\\s+prochaine|an\\s+prochain)",
        last_years: "(?:des|ces|les|pendant les)\\s+N\\s+dernières\\s+années",
        loose: &["ou", "et", "en", "de", "du", "des", "au", "pour", "depuis", "format", "les"],
    },
    // Spanish
    Words {
        and: "y",
        or: "o|u",
        before_formats: "en|en formato|formato|archivos?|ficheros?|documentos?",
        after_formats: "archivos?|ficheros?|documentos?|presentaciones",
        to: "a|al|hasta",
        between: "entre",
        of_year: "de|en|para|del año|en el año|de los años",
        since: "desde|a partir de",
        after: "después de|tras",
        until: "antes de|hasta",
        last_year: "(?:del |el )?año\\s+pasado",
        this_year: "(?:de )?este\\s+año",
        next_year: "(?:el |del )?(?:próximo\\s+año|año\\s+próximo|año\\s+que\\s+viene)",
        last_years: "(?:de |en )?los\\s+últimos\\s+N\\s+años",
        loose: &["o", "u", "y", "en", "de", "del", "para", "desde", "formato", "los", "el"],
    },
    // Italian
    Words {
        and: "e|ed",
        or: "o|oppure",
        before_formats: "in formato|formato|documenti|file",
        after_formats: "file|documenti|presentazioni|fogli",
        to: "al",
        between: "tra|fra",
        of_year: "del|nel|di|dell['’]anno|nell['’]anno",
        since: "dal|a partire dal",
        after: "dopo il",
        until: "prima del|fino al",
        last_year: "(?:del)?l['’]anno\\s+(?:scorso|passato)|(?:dello\\s+)?scorso\\s+anno",
        this_year: "(?:di )?quest['’]anno",
        next_year: "(?:del)?l['’]anno\\s+prossimo",
        last_years: "(?:degli|negli|gli)\\s+ultimi\\s+N\\s+anni",
        loose: &["o", "e", "ed", "oppure", "del", "nel", "di", "dal", "formato", "della"],
    },
    // Portuguese
    Words {
        and: "e",
        or: "ou",
        before_formats: "em|em formato|no formato|formato|arquivos?|ficheiros?|documentos?",
        after_formats: "arquivos?|ficheiros?|documentos?|apresentações",
        to: "a|até",
        between: "entre",
        of_year: "de|em|para|do ano|no ano",
        since: "desde|a partir de",
        after: "depois de|após",
        until: "antes de|até",
        last_year: "(?:do |no )?ano\\s+passado",
        this_year: "(?:d)?este\\s+ano",
        next_year: "(?:no |do )?próximo\\s+ano",
        last_years: "(?:dos|nos|os)\\s+últimos\\s+N\\s+anos",
        loose: &["ou", "e", "em", "de", "do", "da", "no", "para", "desde", "formato"],
    },
    // Dutch
    Words {
        and: "en",
        or: "of",
        before_formats: "als|in|bestanden|documenten",
        after_formats: "bestanden|documenten|presentaties",
        to: "tot|tot en met",
        between: "tussen",
        of_year: "van|uit|in|uit het jaar|in het jaar",
        since: "sinds|vanaf",
        after: "na",
        until: "voor|tot",
        last_year: "(?:van )?(?:vorig|afgelopen)\\s+jaar",
        this_year: "(?:van )?dit\\s+jaar",
        next_year: "(?:van )?volgend\\s+jaar",
        last_years: "(?:van |uit )?de\\s+afgelopen\\s+N\\s+jaar",
        loose: &["of", "en", "als", "van", "uit", "sinds", "het", "de"],
    },
    // Polish
    Words {
        and: "i|oraz",
        or: "lub|albo",
        before_formats: "w formacie|pliki|dokumenty",
        after_formats: "pliki|dokumenty|prezentacje",
        to: "do",
        between: "między",
        of_year: "z|w|z roku|w roku|za rok",
        since: "od|od roku",
        after: "po",
        until: "przed|do",
        last_year: "(?:z |w )?(?:zeszłego\\s+roku|zeszłym\\s+roku|ubiegłego\\s+roku)",
        this_year: "(?:z |w )?(?:tego\\s+roku|tym\\s+roku)",
        next_year: "(?:w )?przyszłym\\s+roku",
        last_years: "(?:z )?ostatnich\\s+N\\s+lat",
        loose: &["lub", "albo", "i", "z", "w", "od", "oraz"],
    },
];

/// Joints of languages whose other words are not known.
pub(super) const OTHER_JOINTS: &str = r"\beller\b|или|и|και|ή|veya";

/// Puts the patterns of all languages together as alternatives, longer ones first.
pub(super) fn all(of: impl Fn(&Words) -> &'static str) -> String {
    let mut alternatives: Vec<&str> = LANGUAGES
        .iter()
        .flat_map(|words| split(of(words)))
        .filter(|pattern| !pattern.is_empty())
        .collect();
    alternatives.sort_unstable_by_key(|pattern| std::cmp::Reverse(pattern.len()));
    alternatives.dedup();
    alternatives.join("|")
}

/// Splits alternatives that are not inside brackets.
fn split(patterns: &'static str) -> Vec<&'static str> {
    let (mut parts, mut depth, mut begin) = (Vec::new(), 0_usize, 0);
    for (at, char) in patterns.char_indices() {
        match char {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => {
                parts.push(patterns.get(begin..at).unwrap_or_default());
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(patterns.get(begin..).unwrap_or_default());
    parts
}
