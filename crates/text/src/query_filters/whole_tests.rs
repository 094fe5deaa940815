//! A law: of the kinds and years that a query names beside each other, all are filters or none is,
//! whatever they are joined by, and in every language.

use model::Timestamp;

use super::*;

/// Mid-November 2023.
fn clock() -> Clock {
    Clock::fixed(Timestamp(1_700_000_000_000))
}

/// Kinds as they are said, with one extension that each means.
const KINDS: [(&str, &str); 14] = [
    ("pdf", "pdf"),
    ("html", "html"),
    ("csv", "csv"),
    ("json", "json"),
    ("xml", "xml"),
    ("txt", "txt"),
    ("word", "docx"),
    ("excel", "xlsx"),
    ("docx", "docx"),
    ("ppt", "pptx"),
    ("markdown", "md"),
    ("yaml", "yaml"),
    ("zip", "zip"),
    ("PowerPoint", "pptx"),
];

/// What people join things by: signs, and words of languages with and without a row.
const SIGNS: [&str; 17] = [
    " ",
    ", ",
    ",",
    "/",
    " / ",
    " | ",
    "; ",
    " + ",
    "&",
    " & ",
    "、",
    "・",
    " and/or ",
    " und/oder ",
    " as well as ",
    " plus ",
    " and also ",
];
const FOREIGN: [&str; 14] = [
    "nebo", "ja", "ir", "kai", "dan", "ose", "edo", "eða", "neu", "ili", "sowie", "bzw.", "resp.",
    "e/ou",
];

fn joints() -> Vec<String> {
    let of_rows = words::languages().flat_map(|words| [words.and, words.or]);
    let mut joints: Vec<String> = SIGNS.iter().map(|sign| (*sign).to_owned()).collect();
    let of_rows =
        of_rows.flat_map(|row| row.split('|')).filter(|word| !word.contains(['\\', '[', '(']));
    joints.extend(of_rows.chain(FOREIGN).map(|word| format!(" {word} ")));
    joints.push("または".to_owned());
    joints.push("或".to_owned());
    joints
}

/// What is around a list: `LIST` is where it is.
const AROUND: [&str; 26] = [
    "contract LIST",
    "LIST contract",
    "LIST",
    "contract in LIST",
    "contract in LIST from 2021",
    "contract LIST 2021",
    "contract 2021 LIST",
    "2021 LIST contract",
    "contract LIST files",
    "LIST files about roads",
    "contract (LIST)",
    "contract as LIST, 2021",
    "Verträge als LIST",
    "LIST Dateien über Wasser",
    "contrats en LIST",
    "fichiers LIST sur l'eau",
    "contratti in formato LIST",
    "contratos em LIST",
    "umowy w formacie LIST",
    "договоры в LIST",
    "契約書 LIST",
    "LISTの契約書",
    "2021年のLISTの契約書",
    "LIST格式的合同",
    "계약서 LIST 파일",
    "عقود بصيغة LIST",
];

fn check_kinds(query: &str, kinds: &[&str], wrong: &mut Vec<String>, n_understood: &mut usize) {
    let filters = query_filters(query, &clock());
    let n_in =
        kinds.iter().filter(|kind| filters.extensions.iter().any(|one| one == *kind)).count();
    let is_whole = n_in == kinds.len() || filters.extensions.is_empty();
    *n_understood += usize::from(n_in == kinds.len());
    if !is_whole
        || !filters.without_extensions.is_empty()
        || filters.text.contains(leftovers::BOUND)
    {
        wrong.push(format!("{query} => {:?} of {kinds:?}", filters.extensions));
    }
}

#[test]
fn kinds_beside_each_other_are_all_filters_or_none() {
    let (mut wrong, mut n_understood, mut n_all) = (Vec::new(), 0, 0);
    let joints = joints();
    for (joint_idx, joint) in joints.iter().enumerate() {
        for (around_idx, around) in AROUND.iter().enumerate() {
            // A part of all pairs for each joint and place, another one each time.
            for n in 0..2 {
                let first_idx = (joint_idx * 5 + around_idx * 3 + n) % KINDS.len();
                let (first, first_means) = KINDS[first_idx];
                let (second, second_means) = KINDS[(first_idx + 1 + n * 2) % KINDS.len()];
                let (third, third_means) = KINDS[(first_idx + 5 + n) % KINDS.len()];
                n_all += 1;
                let query = around.replace("LIST", &format!("{first}{joint}{second}"));
                check_kinds(&query, &[first_means, second_means], &mut wrong, &mut n_understood);
                let list = format!("{first}{joint}{second}{joint}{third}");
                let query = around.replace("LIST", &list);
                check_kinds(&query, &[first_means, second_means, third_means], &mut wrong, &mut 0);
                let list = format!("{first}, {second}{joint}{third}");
                let query = around.replace("LIST", &list);
                check_kinds(&query, &[first_means, second_means, third_means], &mut wrong, &mut 0);
            }
        }
    }
    let shown = wrong.iter().step_by(wrong.len() / 60 + 1).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {}:\n{shown}", wrong.len(), n_all * 3);
    // None is worth nothing where a person understands the list at once.
    assert!(n_understood * 2 > n_all, "{n_understood} of {n_all}");
}

#[test]
fn kinds_with_a_year_between_them_are_all_filters_or_none() {
    let mut wrong = Vec::new();
    for (first_idx, (first, first_means)) in KINDS.iter().enumerate() {
        for (second, second_means) in KINDS.iter().skip(first_idx + 1) {
            for between in
                [" 2021 ", ", 2021, ", " 2021 or ", " from 2021 and ", " last year ", " 2019-2021 "]
            {
                for around in ["contract LIST", "contract in LIST", "LIST files", "LIST contract"] {
                    let query = around.replace("LIST", &format!("{first}{between}{second}"));
                    check_kinds(&query, &[first_means, second_means], &mut wrong, &mut 0);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}

#[test]
fn kinds_that_are_not_wanted_are_all_left_out_or_none_is() {
    let mut wrong = Vec::new();
    for (first_idx, (first, first_means)) in KINDS.iter().enumerate() {
        for (second, second_means) in KINDS.iter().skip(first_idx + 1) {
            for joint in joints() {
                for around in [
                    "contract not in LIST",
                    "contract without LIST",
                    "Vertrag ohne LIST",
                    "contract LIST以外",
                ] {
                    let query = around.replace("LIST", &format!("{first}{joint}{second}"));
                    let filters = query_filters(&query, &clock());
                    let n_in = [first_means, second_means]
                        .iter()
                        .filter(|kind| filters.without_extensions.iter().any(|one| one == **kind))
                        .count();
                    let is_same = first_means == second_means;
                    if !filters.extensions.is_empty() || n_in == 1 && !is_same {
                        wrong.push(format!("{query} => {filters:?}"));
                    }
                }
            }
        }
    }
    let shown = wrong.iter().step_by(wrong.len() / 60 + 1).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{}:\n{shown}", wrong.len());
}

#[test]
fn years_of_one_query_are_all_filters_or_none() {
    let mut wrong = Vec::new();
    let joints = joints();
    let years = [
        ("2021", 2021),
        ("2019", 2019),
        ("1987", 1987),
        ("2023", 2023),
        ("1949", 1949),
        ("2050", 2050),
    ];
    for joint in &joints {
        for (first, first_year) in years {
            for (second, second_year) in years {
                for around in [
                    "contract YEARS",
                    "contracts from YEARS",
                    "YEARS budget",
                    "Berichte von YEARS",
                    "YEARS年の契約書",
                    "rapports de YEARS",
                    "contract YEARS pdf",
                    "csv YEARS contract",
                ] {
                    let query = around.replace("YEARS", &format!("{first}{joint}{second}"));
                    let found = query_filters(&query, &clock()).years;
                    let is_whole = found.contains(&first_year) && found.contains(&second_year);
                    if !is_whole && !found.is_empty() {
                        wrong.push(format!("{query} => {found:?}"));
                    }
                }
            }
        }
    }
    let shown = wrong.iter().step_by(wrong.len() / 60 + 1).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{}:\n{shown}", wrong.len());
    for query in [
        "budget 2020/21 2022",
        "budget 2021/22 and 2023",
        "contracts of 2021 and the 1990s",
        "report August 2022 2021",
        "budget 2021 '22",
        "report 12.2021 and 2022",
        "report FY21 and 2022",
        "report 2022-05-01 and 2021",
    ] {
        assert!(query_filters(query, &clock()).years.is_empty(), "{query}");
    }
    for query in ["Legea 273/2006 din 2021", "ISO 9001:2015 audit 2021", "Windows 2000 report 2021"]
    {
        assert_eq!(query_filters(query, &clock()).years, [2021], "{query}");
    }
}

#[test]
fn lists_are_understood() {
    #[track_caller]
    fn check(query: &str, text: &str, extensions: &[&str], years: &[i32]) {
        let filters = query_filters(query, &clock());
        assert_eq!(filters.text, text, "{query}");
        assert_eq!(filters.extensions, extensions, "{query}");
        assert_eq!(filters.years, years, "{query}");
    }
    check("contract html csv", "contract", &["csv", "htm", "html"], &[]);
    check("contract csv html", "contract", &["csv", "htm", "html"], &[]);
    check("contract html csv 2021", "contract html csv", &[], &[2021]);
    check("contract 2021 html csv", "contract", &["csv", "htm", "html"], &[2021]);
    check("Verträge in PDF oder in Word", "Verträge", &["doc", "docx", "pdf"], &[]);
    check("docs in pdf", "docs", &["pdf"], &[]);
    check("pdf files about html", "about html", &["pdf"], &[]);
    check("word list xlsx", "word list xlsx", &[], &[]);
}

/// Whatever is between its ends, and however they are written, a range holds the years between them.
#[test]
fn a_range_is_read_to_its_other_end() {
    let years = |query: &str| query_filters(query, &clock()).years;
    for range in [
        "Q1 2016 to Q2 2018",
        "jan 2016 to mar 2018",
        "Jan 2016 - Mar 2018",
        "from 2016 all the way to 2018",
        "end of 2016 to early 2018",
        "2016..2018",
        "2016 … 2018",
        "2016 -> 2018",
        "Q1 2016 – Q2 2018",
        "de 2016 hasta finales de 2018",
        "von Q1 2016 bis Q2 2018",
        "after 2015 before 2019",
        "after 2015 and before 2019",
        "nach 2015 und vor 2019",
        "later than 2015, earlier than 2019",
        "2016년부터 2018년까지",
    ] {
        assert_eq!(years(&format!("roof {range}")), [2016, 2017, 2018], "{range}");
    }
    for range in [
        "2021+",
        "2021 and later",
        "2021 to date",
        "2021 to present",
        "2021 until now",
        "2021 bis heute",
        "de 2021 à aujourd'hui",
        "desde 2021 hasta hoy",
        "2021 till idag",
    ] {
        assert_eq!(years(&format!("roof {range}")), [2021, 2022, 2023], "{range}");
    }
    assert_eq!(years("roof 2016 and earlier"), (1900..=2016).collect::<Vec<_>>());
    assert_eq!(years("roof 2016 und früher"), (1900..=2016).collect::<Vec<_>>());
    // What is no range stays two years, or what is outside of two bounds.
    assert_eq!(years("compare roof 2016 with 2018"), [2016, 2018]);
    assert_eq!(years("roof 2016 vs 2018"), [2016, 2018]);
    let outside = years("roof before 2016 or after 2021");
    assert_eq!(outside, (1900..2016).chain(2022..=2023).collect::<Vec<_>>());
    // Neither is what follows on.
    assert_eq!(years("report 2016 to the board"), [2016]);
}
