//! A law: years that are bounded are read as a person reads them, or they are no filter.
//!
//! Each phrase of the table has a naive reading. What is not understood gives no years at all; what
//! is gives just those of the reading. Phrases that must be understood are in tables of their own.

use model::Timestamp;

use super::*;

/// Mid-November 2023.
const NOW: i32 = 2023;

fn years_of(query: &str) -> Vec<i32> {
    query_filters(query, &Clock::fixed(Timestamp(1_700_000_000_000))).years
}

/// What a phrase with the years `A` and `B` means.
#[derive(Debug, Clone, Copy)]
enum Reading {
    /// From `A` on.
    Since,
    /// Behind `A`.
    After,
    /// Ahead of `A`.
    Before,
    /// To `A`.
    Until,
    /// Between `A` and `B`, with both.
    Between,
    /// Between the two, without them.
    Within,
    /// Ahead of `A` or behind `B`.
    Outside,
    /// More than can be said with years, or something else.
    Unclear,
}

impl Reading {
    fn years(self, a: i32, b: i32) -> Vec<i32> {
        match self {
            Reading::Since => (a..=NOW).collect(),
            Reading::After => (a + 1..=NOW).collect(),
            Reading::Before => (1900..a).collect(),
            Reading::Until => (1900..=a).collect(),
            Reading::Between => (a..=b).collect(),
            Reading::Within => (a + 1..b).collect(),
            Reading::Outside => (1900..a).chain(b + 1..=NOW).collect(),
            Reading::Unclear => vec![],
        }
    }
}

use Reading::{After, Before, Between, Outside, Since, Unclear, Until, Within};

/// Phrases that are understood.
const UNDERSTOOD: &[(Reading, &str)] = &[
    (
        Since,
        "since A|from A on|from A onwards|starting in A|A and later|A or later|A and after|A or newer|\
         A and onwards|A (and later)|no earlier than A|not earlier than A|not before A|>=A|>= A|≥A|≥ A|=> A|\
         since Q3 A|after Q3 A|since mid A|after the end of A|since the beginning of A|since Jan A|\
         A to date|A+|between A and now|seit A|ab A|seit Ende A|nach Q2 A|A und später|A oder neuer|A und danach|\
         depuis A|à partir de A|A et après|A ou plus tard|desde A|a partir de A|A y después|A o posterior|\
         A e dopo|A o più recenti|A ou mais recente|A ou depois|după T1 A|A și ulterior|A sau mai nou|sinds A|vanaf A|\
         A en later|A of nieuwer|A och senare|A eller nyare|A og senere|od A|A lub później|A и позже|A или новее|\
         A年以降|A年以来|自A年以来|A년 이후",
    ),
    (
        After,
        "after A|later than A|newer than A|more recent than A|>A|> A|after the year A|nach A|später als A|\
         neuer als A|jünger als A|nach dem Jahr A|après A|postérieurs à A|plus récents que A|después de A|posterior a A|\
         más recientes que A|dopo il A|depois de A|posteriores a A|după A|mai noi de A|later dan A|efter A|senare än A|\
         senere end A|nyere enn A|po A|nowsze niż A|после A|новее A",
    ),
    (
        Before,
        "before A|prior to A|earlier than A|older than A|<A|< A|vor A|früher als A|älter als A|avant A|\
         antérieurs à A|plus anciens que A|antes de A|anterior a A|más antiguos que A|prima del A|anteriores a A|\
         înainte de A|mai vechi de A|eerder dan A|före A|tidigare än A|äldre än A|før A|ældre end A|przed A|\
         starsze niż A|перед A|раньше A|старше A",
    ),
    (
        Until,
        "until A|till A|up to A|no later than A|not later than A|not after A|<=A|<= A|≤A|≤ A|=< A|\
         A and earlier|A or earlier|A and before|A or older|A (or earlier)|before Q3 A|before the end of A|\
         until mid A|bis A|bis Ende A|vor Mitte A|A und früher|A oder älter|A et avant|A ou plus ancien|hasta A|A y antes|\
         A o anterior|A e prima|até A|A ou antes|A en eerder|A och tidigare|A og tidligere|A i wcześniej|A и раньше|\
         A年まで|A年以前|A년까지",
    ),
    (
        Between,
        "between A and B|from A to B|A to B|A-B|A – B|A until B|A through B|between Q3 A and Q1 B|\
         between A and Q1 B|between Q3 A and B|between the end of A and mid B|between early A and late B|from Q3 A to Q1 B|\
         Q1 A to Q2 B|between Jan A and Mar B|>=A and <=B|>=A <=B|since A until B|from A until B|B to A|B-A|\
         from A up to B|A through the end of B|A Q3 to B Q1|A to the very end of B|[A TO B]|not before A and not after B|no earlier than A and no later than B|\
         zwischen A und B|zwischen Q3 A und Q1 B|von A bis B|ab A bis B|seit A bis B|zwischen Anfang A und Ende B|\
         entre A et B|entre T3 A et T1 B|de A à B|depuis A jusqu'en B|entre A y B|desde A hasta B|de A a B|\
         entre A e B|tra A e B|fra il A e il B|între A și B|de la A la B|din A până în B|tussen A en B|van A tot B|\
         mellan A och B|mellem A og B|między A i B|od A do B|mezi A a B|между A и B|с A по B|A年からB年まで|\
         A年至B年|A到B年|A년부터 B년까지",
    ),
    (
        Within,
        "after A and before B|after A, before B|>A <B|> A and < B|>A, <B|\
         later than A and earlier than B|later than A, earlier than B|newer than A and older than B|\
         nach A und vor B|später als A und früher als B|après A et avant B|después de A y antes de B|\
         efter A och före B|после A и перед B",
    ),
    (Outside, "before A or after B|<A or >B|vor A oder nach B|avant A ou après B"),
];

/// Phrases that say something else than their years alone do. None of them is understood today;
/// those that have a reading may be.
const NOT_UNDERSTOOD: &[(Reading, &str)] = &[
    (Within, "after A but before B|nach A aber vor B|after A reports before B"),
    (
        Unclear,
        "~A|≈A|± A|≠A|!=A|!= A|around A|circa A|ca. A|approximately A|roughly A|by the end of A|by mid A|\
         post A|pre A|beyond A|past A|above A|below A|under A|at least A|at the earliest A|including A|A inclusive|\
         before or in A|in or after A|during and after A|up to and including A|earlier than mid-A|\
         since the merger A|after audit A|A forward|A and thereafter reports|through A|to A|A and back|A backwards|A up|A and more recent|A and the years before|A–19|year >= A and year <= B|A and before taxes|\
         A or after the merger|A and later than that|A at the earliest|A at the latest|A <|A >|–A|…A|..A|A..|→ A|\
         after A and after B|since A and B|before A and B|A and before B|after A reports before B|\
         after A or so and before B|B, before A|A since B|A before B|A <= B|A < year < B|last 3 years before A|\
         nicht vor A|nicht nach A|nicht später als A|spätestens A|frühestens A|mindestens A|etwa A|höchstens A|\
         au plus tard en A|au plus tôt en A|pas avant A|environ A|A inclus|no antes de A|a más tardar en A|\
         non oltre il A|entro il A|oltre il A|no mais tardar em A|nu înainte de A|cel târziu în A|niet later dan A|\
         uiterlijk A|senast A|tidigast A|nie później niż A|najpóźniej w A|не позднее A|не раньше A|\
         A年前|A年后|A年起|从A年|A年超|截至A年|早于A年|晚于A年|不晚于A年|A年から|A年より|A년 초과|A년 전에|A년 이상|\
         από το τέλος του A|قبل نهاية عام A|sau cuối năm A",
    ),
];

/// What is around a phrase.
const AROUND: [&str; 4] = ["roof PHRASE", "roof (PHRASE)", "roof PHRASE pdf", "pdf PHRASE"];

const YEARS: [(i32, i32); 3] = [(2016, 2019), (2014, 2022), (2018, 2020)];

/// Gives each phrase with its years filled in, and what is naively read in it.
fn phrases(table: &[(Reading, &str)]) -> Vec<(String, Vec<i32>)> {
    let mut phrases = Vec::new();
    for (meaning, row) in table {
        for phrase in row.split('|').map(str::trim) {
            for (a, b) in YEARS {
                for around in AROUND {
                    let numbered = around.replace("PHRASE", &filled(phrase, a, b));
                    phrases.push((numbered, meaning.years(a, b)));
                }
            }
        }
    }
    phrases
}

/// Puts the years in the place of `A` and `B` where these are no letters of words.
fn filled(phrase: &str, a: i32, b: i32) -> String {
    let chars: Vec<char> = phrase.chars().collect();
    let is_letter = |idx: Option<usize>| {
        idx.and_then(|idx| chars.get(idx)).is_some_and(|char| char.is_ascii_alphabetic())
    };
    let mut filled = String::new();
    for (idx, char) in chars.iter().enumerate() {
        let stands_alone = !is_letter(idx.checked_sub(1)) && !is_letter(Some(idx + 1));
        match char {
            'A' if stands_alone => filled.push_str(&a.to_string()),
            'B' if stands_alone => filled.push_str(&b.to_string()),
            char => filled.push(*char),
        }
    }
    filled
}

fn shown(wrong: &[String]) -> String {
    wrong.iter().step_by(wrong.len() / 80 + 1).cloned().collect::<Vec<_>>().join("\n")
}

/// `later than 2016 and earlier than 2019` gave the years outside of the two, `between Q3 2016 and
/// Q1 2019` its ends, and `>2016` that year.
#[test]
fn bounds_are_read_as_a_person_reads_them() {
    let mut wrong = Vec::new();
    for (query, expected) in phrases(UNDERSTOOD) {
        let years = years_of(&query);
        // In brackets some of them are not understood.
        if years != expected && !(years.is_empty() && query.contains('(')) {
            wrong.push(format!("{query} => {:?}..{:?}", years.first(), years.last()));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), shown(&wrong));
}

#[test]
fn what_is_not_understood_is_no_filter() {
    let mut wrong = Vec::new();
    for (query, expected) in phrases(NOT_UNDERSTOOD) {
        let years = years_of(&query);
        if !years.is_empty() && years != expected {
            wrong.push(format!("{query} => {:?}..{:?}", years.first(), years.last()));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), shown(&wrong));
}

/// Every bound of every language before a year with something between the two, and behind one with
/// "and": the year alone is never what is meant.
#[test]
fn a_bound_near_a_year_never_gives_the_year_alone() {
    let rows = words::languages().flat_map(|words| {
        [words.since, words.after, words.before, words.until].map(|row| (row, words.and))
    });
    let mut wrong = Vec::new();
    for (row, and) in rows {
        let bounds = words::split(row).into_iter();
        let is_plain = |bound: &&str| !bound.is_empty() && !bound.contains(['\\', '[', '(']);
        for bound in bounds.filter(is_plain) {
            let mut queries = vec![
                format!("roof {bound} Q3 2016"),
                format!("roof {bound} the end of 2016"),
                format!("{bound} mid 2016 roof"),
                format!("roof {bound} 2016 {and} {bound} 2019"),
                format!("roof 2019 {and} {bound} 2016"),
            ];
            queries.retain(|query| !query.contains("  "));
            for query in queries {
                let years = years_of(&query);
                if matches!(years.as_slice(), [2016] | [2019] | [2016, 2019]) {
                    wrong.push(format!("{query} => {years:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), shown(&wrong));
}

/// "since last year" was that year alone, and `令和3年以降` as well.
#[test]
fn years_without_a_number_are_bounded_as_those_in_digits_are() {
    for (query, years) in [
        ("roof since last year", vec![2022, 2023]),
        ("roof last year or later", vec![2022, 2023]),
        ("roof after last year", vec![2023]),
        ("roof before this year", (1900..=2022).collect()),
        ("roof from 2020 to last year", vec![2020, 2021, 2022]),
        ("roof between 2021 and this year", vec![2021, 2022, 2023]),
        ("roof since the year before last", vec![2021, 2022, 2023]),
        ("Dach seit letztem Jahr", vec![2022, 2023]),
        ("toit depuis l'année dernière", vec![2022, 2023]),
        ("令和3年以降の計画", vec![2021, 2022, 2023]),
        ("令和2年から令和4年までの計画", vec![2020, 2021, 2022]),
        ("昨年以降の計画", vec![2022, 2023]),
        ("去年以来的计划", vec![2022, 2023]),
        ("roof last year", vec![2022]),
        ("roof last year and this year", vec![2022, 2023]),
        ("roof older than the last 3 years", vec![]),
        ("roof ~ last year", vec![]),
    ] {
        assert_eq!(years_of(query), years, "{query}");
    }
}

/// What only looks like a bound takes nothing away.
#[test]
fn years_beside_other_words_are_filters() {
    for query in [
        "budget 2021 draft",
        "latest budget 2021",
        "budget report - 2021",
        "roof tiles (2021)",
        "budget 2021!",
        "what changed in 2021?",
        "minutes of the meeting 2021",
        "year=2021 budget",
        "year: 2021 budget",
        "Haushalt im Jahr 2021",
        "2021年の予算",
        "2021年预算",
        "2021년 전략 보고서",
    ] {
        assert_eq!(years_of(query), [2021], "{query}");
    }
    // "For 2021" in one language and a bound in another one: what is found holds both.
    assert_eq!(years_of("bilans na rok 2021"), [2021, 2022, 2023]);
    assert!(years_of("orçamento do ano 2021").contains(&2021));
}
