//! A law: a query in the syntax of a search and what `rewriteQuery` makes of it find the same files.

use super::*;

/// Words of which each file has some, and phrases of those.
const WORDS: [&str; 5] = ["roof", "2019", "7zip", "slate", "灯台"];

/// What terms are put in the place of `A`, `B` and `C`.
const TERMS: [&str; 6] = ["roof", "2019", "7zip", "slate", "灯台", "\"roof 2019\""];

const FORMS: &[&str] = &[
    "A B",
    "A NOT B",
    "A -B",
    "A AND B",
    "A AND NOT B",
    "A AND B NOT C",
    "A AND (B OR C)",
    "(A OR B) AND C",
    "A OR B",
    "A OR B NOT C",
    "A NOT B NOT C",
    "NOT B A",
    "(A NOT B) AND C",
    "A AND B AND NOT C",
    "A NEAR B NOT C",
    "A NEAR/3 B",
    "A  NOT  B",
];

#[test]
fn a_query_and_what_is_made_of_it_find_the_same_files() {
    let fixture = Fixture::new();
    for set in 1..1_u32 << WORDS.len() {
        let words = WORDS.iter().enumerate().filter(|(idx, _)| set & (1 << idx) != 0);
        let text = words.map(|(_, word)| *word).collect::<Vec<_>>().join(" ");
        fixture.write(&format!("file-{set}.txt"), format!("{text} timber\n"));
    }
    let opened = fixture.one_root();
    opened.index_all();
    let caller = Caller::local_admin();
    let found = |query: &str, exts: Vec<String>, years: Vec<String>| {
        let given = |list: Vec<String>| (!list.is_empty()).then_some(list);
        let request = SearchRequest { exts: given(exts), years: given(years), ..asked(query) };
        let results = opened.service.search(&caller, &request, &soon()).unwrap();
        let paths = results.items.iter().map(|item| item.path.clone());
        paths.collect::<std::collections::BTreeSet<_>>()
    };
    let mut wrong = Vec::new();
    for form in FORMS {
        for (a, first) in TERMS.iter().enumerate() {
            for step in 1..3 {
                let [b, c] = [a + step, a + step + 1].map(|idx| TERMS[idx % TERMS.len()]);
                let query = form
                    .split(' ')
                    .map(|word| {
                        word.replace('A', "\u{1}").replace('B', "\u{2}").replace('C', "\u{3}")
                    })
                    .collect::<Vec<_>>()
                    .join(" ")
                    .replace("\u{1}ND", "AND")
                    .replace("NE\u{1}R", "NEAR")
                    .replace('\u{1}', first)
                    .replace('\u{2}', b)
                    .replace('\u{3}', c);
                let rewritten = opened.service.rewrite(&query, &soon()).unwrap();
                let typed = found(&query, vec![], vec![]);
                let filters = rewritten.filters;
                let meant = found(&rewritten.fts, filters.exts, filters.years);
                if typed != meant {
                    let missing: Vec<_> = typed.symmetric_difference(&meant).take(3).collect();
                    wrong.push(format!("{query} => {}: {missing:?}", rewritten.fts));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
