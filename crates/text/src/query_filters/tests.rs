//! Proves what is read as a filter in many languages, what is not, and what is left.

use model::Timestamp;
use proptest::prelude::*;

use super::*;

/// Mid-November 2023.
fn clock() -> Clock {
    Clock::fixed(Timestamp(1_700_000_000_000))
}

#[track_caller]
fn check(query: &str, text: &str, extensions: &[&str], years: &[i32]) {
    let filters = query_filters(query, &clock());
    assert!(filters.without_extensions.is_empty(), "filters of `{query}`");
    assert_eq!(
        (filters.text.as_str(), filters.extensions.as_slice(), filters.years.as_slice()),
        (
            text,
            extensions.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().as_slice(),
            years
        ),
        "filters of `{query}`"
    );
}

#[track_caller]
fn check_untouched(query: &str) {
    check(query, query, &[], &[]);
}

#[test]
fn english() {
    check("contracts from 2021 in ppt or docx", "contracts", &["docx", "ppt", "pptx"], &[2021]);
    check("budget 2019-2021", "budget", &[], &[2019, 2020, 2021]);
    check("reports between 2019 and 2021", "reports", &[], &[2019, 2020, 2021]);
    check("reports from 2019 to 2020 about roads", "reports about roads", &[], &[2019, 2020]);
    check("reports from 2019 and 2021", "reports", &[], &[2019, 2021]);
    check("contracts from last year", "contracts", &[], &[2022]);
    check("this year's budget", "budget", &[], &[2023]);
    check("minutes of the last 3 years", "minutes", &[], &[2020, 2021, 2022, 2023]);
    check("plans since 2021", "plans", &[], &[2021, 2022, 2023]);
    check("plans after 2021", "plans", &[], &[2022, 2023]);
    check("annual report pdf", "annual report", &["pdf"], &[]);
    check("annual report .pdf", "annual report", &["pdf"], &[]);
    check("*.xlsx budget", "budget", &["xlsx"], &[]);
    check("PowerPoint presentations about roads", "about roads", &["ppt", "pptx"], &[]);
    check("Word documents on housing 2020", "on housing", &["doc", "docx"], &[2020]);
    check("budget in Excel", "budget", &["xls", "xlsx"], &[]);
    check("filetype:pdf water quality", "water quality", &["pdf"], &[]);
    check("pdf, docx and xlsx files about water", "about water", &["docx", "pdf", "xlsx"], &[]);
    check("how many were sold in 2015?", "how many were sold?", &[], &[2015]);
    check("budget 2024 draft", "budget draft", &[], &[2024]);
    check("config.toml .toml", "config.toml", &["toml"], &[]);
}

#[test]
fn romanian() {
    check("contracte din 2021 în ppt sau docx", "contracte", &["docx", "ppt", "pptx"], &[2021]);
    check("contracte din anul 2021", "contracte", &[], &[2021]);
    check("buget între 2019 și 2021", "buget", &[], &[2019, 2020, 2021]);
    check("buget intre 2019 si 2021", "buget", &[], &[2019, 2020, 2021]);
    check("rapoarte de anul trecut", "rapoarte", &[], &[2022]);
    check("rapoarte din anul acesta", "rapoarte", &[], &[2023]);
    check("hotărâri din ultimii trei ani", "hotărâri", &[], &[2020, 2021, 2022, 2023]);
    check("planuri începând cu 2022", "planuri", &[], &[2022, 2023]);
    check("fișiere pdf despre drumuri", "despre drumuri", &["pdf"], &[]);
    check("rapoarte în format pdf", "rapoarte", &["pdf"], &[]);
}

#[test]
fn japanese() {
    check("2021年のpptまたはdocxの契約書", "契約書", &["docx", "ppt", "pptx"], &[2021]);
    check("2019年から2021年までの契約", "契約", &[], &[2019, 2020, 2021]);
    check("昨年の報告書", "報告書", &[], &[2022]);
    check("今年度の予算", "予算", &[], &[2023]);
    check("過去3年間の議事録", "議事録", &[], &[2020, 2021, 2022, 2023]);
    check("令和3年の予算", "予算", &[], &[2021]);
    check("令和三年度の予算", "予算", &[], &[2021]);
    check("２０２１年の予算", "予算", &[], &[2021]);
    check("PDFファイル 水質", "水質", &["pdf"], &[]);
    check("2020年以降の計画", "計画", &[], &[2020, 2021, 2022, 2023]);
    check("エクセルの資料 予算", "予算", &["xls", "xlsx"], &[]);
    // The particle of the question was taken for an "or" beside what was cut out.
    check("図書館はどこですか 2023年のpdf", "図書館はどこですか", &["pdf"], &[2023]);
}

#[test]
fn chinese() {
    check("2021年的ppt或docx合同", "合同", &["docx", "ppt", "pptx"], &[2021]);
    check("去年的合同", "合同", &[], &[2022]);
    check("今年的预算", "预算", &[], &[2023]);
    check("2019到2021年的报告", "报告", &[], &[2019, 2020, 2021]);
    check("2019至2021年报告", "报告", &[], &[2019, 2020, 2021]);
    check("过去三年的会议纪要", "会议纪要", &[], &[2020, 2021, 2022, 2023]);
    check("docx格式的合同", "合同", &["docx"], &[]);
    check("女王于1981年在纽卡斯尔建设了什么？", "女王于在纽卡斯尔建设了什么？", &[], &[1981]);
    check("前年的计划", "计划", &[], &[2021]);
    check("二〇二一年的合同", "合同", &[], &[2021]);
    check("民國110年預算", "預算", &[], &[2021]);
}

#[test]
fn other_languages() {
    // German
    check("Verträge in PDF oder Word", "Verträge", &["doc", "docx", "pdf"], &[]);
    check("Verträge von 2021 in PDF oder Word", "Verträge", &["doc", "docx", "pdf"], &[2021]);
    check("Protokolle zwischen 2019 und 2021", "Protokolle", &[], &[2019, 2020, 2021]);
    check("Pläne seit 2021", "Pläne", &[], &[2021, 2022, 2023]);
    check("Berichte vom letzten Jahr", "Berichte", &[], &[2022]);
    check("Berichte der letzten drei Jahre", "Berichte", &[], &[2020, 2021, 2022, 2023]);
    check("pdf Dateien über Wasser", "über Wasser", &["pdf"], &[]);
    // French
    check("contrats en pdf ou docx", "contrats", &["docx", "pdf"], &[]);
    check("contrats de 2021 en pdf ou docx", "contrats", &["docx", "pdf"], &[2021]);
    check("rapports entre 2019 et 2021", "rapports", &[], &[2019, 2020, 2021]);
    check("plans depuis 2022", "plans", &[], &[2022, 2023]);
    check("rapports de l'année dernière", "rapports", &[], &[2022]);
    check("fichiers pdf sur l'eau", "sur l'eau", &["pdf"], &[]);
    // Spanish, Italian, Portuguese, Dutch, Polish
    check("contratos de 2021 en pdf o docx", "contratos", &["docx", "pdf"], &[2021]);
    check("informes del año pasado", "informes", &[], &[2022]);
    check("planes desde 2022", "planes", &[], &[2022, 2023]);
    check("contratti del 2021 in pdf o docx", "contratti", &["docx", "pdf"], &[2021]);
    check("relazioni dell'anno scorso", "relazioni", &[], &[2022]);
    check("contratos de 2021 em pdf ou docx", "contratos", &["docx", "pdf"], &[2021]);
    check("relatórios do ano passado", "relatórios", &[], &[2022]);
    check("contracten van 2021 in pdf of docx", "contracten", &["docx", "pdf"], &[2021]);
    check("plannen sinds 2022", "plannen", &[], &[2022, 2023]);
    check("umowy z 2021 w formacie pdf lub docx", "umowy", &["docx", "pdf"], &[2021]);
    check("plany od 2022", "plany", &[], &[2022, 2023]);
    check("umowy z 2021 roku", "umowy", &[], &[2021]);
}

/// Languages that are rows of data and nothing else.
#[test]
fn further_languages() {
    // Swedish, Danish and Norwegian, Finnish
    check("avtal från 2021 i pdf eller docx", "avtal", &["docx", "pdf"], &[2021]);
    check("rapporter från förra året", "rapporter", &[], &[2022]);
    check("kontrakter fra 2021 i pdf eller docx", "kontrakter", &["docx", "pdf"], &[2021]);
    check("rapporter mellem 2019 og 2021", "rapporter", &[], &[2019, 2020, 2021]);
    check("vuoden 2021 sopimukset pdf tai docx", "sopimukset", &["docx", "pdf"], &[2021]);
    // Czech, Hungarian, Turkish
    check("smlouvy z roku 2021 ve formátu pdf nebo docx", "smlouvy", &["docx", "pdf"], &[2021]);
    check("zprávy z minulého roku", "zprávy", &[], &[2022]);
    check("2021-es szerződések pdf vagy docx", "szerződések", &["docx", "pdf"], &[2021]);
    check("tavalyi jelentések", "jelentések", &[], &[2022]);
    check("2021 yılı sözleşmeler pdf veya docx", "sözleşmeler", &["docx", "pdf"], &[2021]);
    check("son üç yılın raporları", "raporları", &[], &[2020, 2021, 2022, 2023]);
    // Russian, Ukrainian, Greek
    check("договоры за 2021 год в pdf или docx", "договоры", &["docx", "pdf"], &[2021]);
    check("отчёты за прошлый год", "отчёты", &[], &[2022]);
    check("отчёты за последние три года", "отчёты", &[], &[2020, 2021, 2022, 2023]);
    check("договори за 2021 рік у pdf або docx", "договори", &["docx", "pdf"], &[2021]);
    check("συμβάσεις του 2021 σε pdf ή docx", "συμβάσεις", &["docx", "pdf"], &[2021]);
    // Korean
    check("2021년 계약서 pdf 또는 docx", "계약서", &["docx", "pdf"], &[2021]);
    check("작년 보고서", "보고서", &[], &[2022]);
    check("pdf 파일 계약", "계약", &["pdf"], &[]);
    // Arabic, Hebrew, Vietnamese, Thai, Hindi, Indonesian
    check("عقود pdf أو docx", "عقود", &["docx", "pdf"], &[]);
    check("عقود عام 2021", "عقود", &[], &[2021]);
    check("חוזים pdf או docx", "חוזים", &["docx", "pdf"], &[]);
    check("חוזים משנת 2021", "חוזים", &[], &[2021]);
    check("hợp đồng năm 2021 pdf hoặc docx", "hợp đồng", &["docx", "pdf"], &[2021]);
    check("สัญญา pdf หรือ docx", "สัญญา", &["docx", "pdf"], &[]);
    check("अनुबंध pdf या docx में", "अनुबंध", &["docx", "pdf"], &[]);
    check("kontrak tahun 2021 dalam pdf atau docx", "kontrak", &["docx", "pdf"], &[2021]);
    check("laporan tahun lalu", "laporan", &[], &[2022]);
}

/// Every alternative of every row compiles and names something.
#[test]
fn rows_have_no_capitals_and_no_empty_alternative() {
    for words in words::languages() {
        for pattern in [words.and, words.or, words.before_formats, words.of_year, words.convert] {
            assert!(!pattern.ends_with('|') && !pattern.contains("||"), "{pattern}");
            assert_eq!(pattern, pattern.to_lowercase());
        }
        assert!(!words.loose.is_empty() && !words.numbers.is_empty());
    }
}

/// A list of which half was read as a filter excluded what was asked for.
#[test]
fn lists_are_understood_whole_or_not_at_all() {
    check("vendor x 2021 ppt docx", "vendor x", &["docx", "ppt", "pptx"], &[2021]);
    check("vendor x 2021 ppt, docx, xlsx", "vendor x", &["docx", "ppt", "pptx", "xlsx"], &[2021]);
    check("in PDF oder Word", "", &["doc", "docx", "pdf"], &[]);
    check("en pdf ou docx", "", &["docx", "pdf"], &[]);
    // The second is no format, or one that is a plain word here: neither is a filter.
    for query in ["vendor x pdf oder Papier", "rapport pdf ou papier", "ppt word frequency"] {
        let filters = query_filters(query, &clock());
        assert!(filters.extensions.is_empty(), "{query}: {filters:?}");
    }
}

#[test]
fn what_is_no_filter_stays() {
    for query in [
        "how to convert pdf to docx",
        "convert .doc to .docx",
        "Docling bundles PDF document conversion to JSON and",
        "pdf in docx umwandeln",
        "convertir un pdf en docx",
        "konwertować pdf na docx",
        "Sitzung im März 2009",
        "informes de marzo de 2009",
        "2021년 3월 회의",
        "Legea 273/2006",
        "Windows 2000 drivers",
        "2000 lei amendă",
        "ISO 2015 norms",
        "ISO 9001:2015",
        "ISO 9001：2015 audit",
        "ISO 9001 2015 audit",
        "DIN EN ISO 9001:2015-11",
        "ISO/IEC 27001:2022 controls",
        "IEEE 802.11 2016",
        "EN 1090-2 (2018)",
        "ГОСТ 12.1.004 1991",
        "plans before 2030",
        "neutral by 2030",
        "begroting voor 2022",
        "meetings before May 2022",
        "up to 2000 pages",
        "after 2000 km",
        "word frequency analysis",
        "excel at sports",
        "in word embeddings",
        "phone 0722 2021123",
        "model 2020x",
        "2021-05-01 meeting",
        "listed in August 2009",
        "hotărâri din 5 mai 2020",
        "plays of the 1970's",
        "muzica din anii 1980",
        "2009年8月の会議",
        "令和3年4月の会議",
        "２０２１年４月の会議",
        "1980年代の音楽",
        "what is a pdf",
        "docs site",
        "12.2021",
        "budget 2021.docx",
        "",
        "   ",
        "no filters here",
    ] {
        check_untouched(query);
    }
}

#[test]
fn the_year_of_a_moment() {
    assert_eq!(year_of(0), 1970);
    assert_eq!(year_of(-1), 1969);
    assert_eq!(year_of(1_704_067_199), 2023);
    assert_eq!(year_of(1_704_067_200), 2024);
    assert_eq!(year_of(951_782_400), 2000);
    assert_eq!(year_of(4_102_444_800), 2100);
}

proptest! {
    #[test]
    fn years_are_sorted_and_words_are_not_invented(query in "[a-z0-9 .,/年の去在inpdfdocx-]{0,60}|\\PC{0,40}") {
        let filters = query_filters(&query, &clock());
        prop_assert!(filters.years.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(filters.extensions.windows(2).all(|pair| pair[0] < pair[1]));
        for word in filters.text.split_whitespace() {
            // Scripts without spaces, and signs, close up where something was cut out.
            let is_closed_up = !word.is_ascii() || word.ends_with(['?', '!', '.']);
            prop_assert!(is_closed_up || query.contains(word), "`{}` is not in `{}`", word, query);
        }
        if filters.is_empty() {
            prop_assert_eq!(filters.text, query);
        }
    }
}

#[test]
fn formats_that_are_not_wanted_are_left_out() {
    #[track_caller]
    fn check(query: &str, text: &str, without: &[&str]) {
        let filters = query_filters(query, &clock());
        assert_eq!(filters.text, text, "{query}");
        assert_eq!(filters.without_extensions, without, "{query}");
        assert_eq!((filters.extensions.len(), filters.years.len()), (0, 0), "{query}");
    }
    for query in [
        "Zephyr not in pdf",
        "Zephyr without pdf files",
        "Zephyr except pdf",
        "Zephyr other than pdf",
        "Zephyr nicht in PDF",
        "Zephyr ohne pdf",
        "Zephyr sans pdf",
        "Zephyr pas en pdf",
        "Zephyr no en pdf",
        "Zephyr nu în pdf",
        "Zephyr fără pdf",
        "Zephyr не в pdf",
        "Zephyr PDF以外",
        "Zephyr 除了pdf",
    ] {
        check(query, "Zephyr", &["pdf"]);
    }
    check("contracts, but not in pdf or docx", "contracts", &["docx", "pdf"]);
    check("contracts not in word", "contracts", &["doc", "docx"]);
    // What is wanted and what is not are both understood, or neither is.
    for query in [
        "Zephyr html and csv, not pdf",
        "Zephyr html, csv but not pdf",
        "Zephyr in html and csv, not pdf",
        "Zephyr html csv not pdf",
        "Zephyr html und csv, aber kein pdf",
        "Zephyr csv et html, pas de pdf",
    ] {
        let filters = query_filters(query, &clock());
        assert_eq!(filters.extensions, ["csv", "htm", "html"], "{query}");
        assert_eq!(
            (filters.text.as_str(), filters.without_extensions),
            ("Zephyr", vec!["pdf".to_owned()]),
            "{query}"
        );
    }
    // Both are understood, each as it is meant.
    let both = query_filters("contracts from 2021 in docx, not in pdf", &clock());
    assert_eq!(
        (both.extensions, both.without_extensions),
        (vec!["docx".to_owned()], vec!["pdf".to_owned()])
    );
    assert_eq!((both.text.as_str(), both.years), ("contracts", vec![2021]));
}

#[test]
fn what_is_not_wanted_and_not_understood_is_no_filter() {
    for query in [
        "Zephyr not from 2022",
        "Zephyr not from the year 2022",
        "Zephyr except 2022",
        "Zephyr außer 2022",
        "Zephyr 2022年以外",
        "Zephyr everything but pdf",
        "Zephyr not in pdf or on paper",
        "the viewer does not open pdf",
        "not word for word",
    ] {
        check_untouched(query);
    }
    // What is far from the filter does not concern it.
    check(
        "contracts not yet signed by the vendor in pdf",
        "contracts not yet signed by the vendor",
        &["pdf"],
        &[],
    );
}

/// A range that is open to the past was no filter at all.
#[test]
fn ranges_that_are_open_to_one_side() {
    let until = |year: i32| (1900..=year).collect::<Vec<i32>>();
    for query in [
        "plans before 2020",
        "plans prior to 2020",
        "plans older than 2020",
        "plans before the year 2020",
        "plans vor 2020",
        "plans vor dem Jahr 2020",
        "plans avant 2020",
        "plans antes de 2020",
        "plans înainte de 2020",
        "plans înainte de anul 2020",
        "plans prima del 2020",
        "plans przed 2020",
        "plans ennen vuotta 2020",
        "plans 2020 előtt",
        "plans 2020'den önce",
        "plans 2020年より前",
    ] {
        check(query, "plans", &[], &until(2019));
    }
    for query in [
        "plans until 2020",
        "plans up to 2020",
        "plans bis 2020",
        "plans hasta 2020",
        "plans até 2020",
        "plans до 2020",
        "plans 2020年まで",
        "plans 2020年以前",
        "plans 2020년까지",
        "plans 2020-ig",
    ] {
        check(query, "plans", &[], &until(2020));
    }
    for query in
        ["plans after 2021", "plans newer than 2021", "plans după anul 2021", "plans 2021 után"]
    {
        check(query, "plans", &[], &[2022, 2023]);
    }
    for query in
        ["plans since the year 2022", "plans 2022 óta", "plans 2022'den beri", "plans 2022年からの"]
    {
        check(query, "plans", &[], &[2022, 2023]);
    }
    check("contract between 2020 and 2022", "contract", &[], &[2020, 2021, 2022]);
}

/// Of two formats with a word of another language between them, the second alone was a filter.
#[test]
fn lists_of_formats_in_languages_that_have_no_row() {
    for or in ["ili", "ali", "arba", "vai", "või", "eða", "ose", "jew", "yoxsa", "أو", "یا", "বা"]
    {
        check(&format!("plans html {or} csv"), "plans", &["csv", "htm", "html"], &[]);
    }
    check("plans (html, csv or json)", "plans", &["csv", "htm", "html", "json"], &[]);
    check("plans html, csv or json by Ann", "plans by Ann", &["csv", "htm", "html", "json"], &[]);
    // A short word that is not known joins them all the same: half of it would be wrong.
    for query in ["plans pdf xoz csv", "plans pdf quux csv in 2021 html"] {
        assert!(query_filters(query, &clock()).extensions.is_empty(), "{query}");
    }
}

#[test]
fn nouns_for_files_before_a_format_that_is_also_a_word() {
    for query in [
        "fichiers html plans",
        "archivos html plans",
        "arquivos html plans",
        "pliki html plans",
        "файлы html plans",
        "fișiere html plans",
        "bestanden html plans",
        "type:html plans",
        "html-файлы plans",
        "HTML-Dateien plans",
    ] {
        check(query, "plans", &["htm", "html"], &[]);
    }
    check("plans in html and from 2021", "plans", &["htm", "html"], &[2021]);
    check("plans in json from 2021", "plans", &["json"], &[2021]);
    for query in ["documents word for word", "in word and deed", "json schema validation"] {
        check_untouched(query);
    }
}

/// Of a range with articles the years between the two were left out.
#[test]
fn ranges_with_articles() {
    for query in [
        "plans tra il 2020 e il 2022",
        "plans fra il 2020 ed il 2022",
        "plans entre los años 2020 y 2022",
        "plans entre 2020 et l'an 2022",
        "plans between the years 2020 and 2022",
        "plans zwischen den Jahren 2020 und 2022",
        "plans între anii 2020 și 2022",
        "plans din anul 2020 până în anul 2022",
    ] {
        let years = query_filters(query, &clock()).years;
        assert!(years == [2020, 2021, 2022] || query.contains("l'an"), "{query}: {years:?}");
    }
    check("plans förra året", "plans", &[], &[2022]);
}

/// Two formats that were both named were no filter where they were not at an end of the query.
#[test]
fn either_of_two_formats_is_a_filter_anywhere() {
    check("excel or csv budget", "budget", &["csv", "xls", "xlsx"], &[]);
    check("budget pdf/docx harbour", "budget harbour", &["docx", "pdf"], &[]);
    check("Excel oder CSV Haushalt", "Haushalt", &["csv", "xls", "xlsx"], &[]);
    check("settings json or yaml", "settings", &["json", "yaml", "yml"], &[]);
    for query in ["pdf or docx, which is better", "excel or word skills", "json or yaml settings"] {
        check_untouched(query);
    }
}

/// What is in quotes is looked for as it is written.
#[test]
fn quotes_hold_no_filters() {
    for query in ["\"in pdf\"", "report \"from 2021\"", "\"2021\" contracts", "\"pdf\""] {
        check_untouched(query);
    }
    check("\"the 2021 act\" from 2022 in pdf", "\"the 2021 act\"", &["pdf"], &[2022]);
    check("an \"open quote from 2022", "an \"open quote", &[], &[2022]);
}

/// `2019 NOT slate` became a search for nothing but what is left out, which found what has slate.
#[test]
fn what_is_left_is_wanted() {
    for query in ["2019 NOT slate", "NOT slate 2019", "pdf -slate", "2019 -\"old slate\" NOT roof"]
    {
        check_untouched(query);
    }
    check("roof 2019 NOT slate", "roof NOT slate", &[], &[2019]);
    check("roof -slate pdf", "roof -slate", &["pdf"], &[]);
}

#[test]
fn half_of_a_list_is_no_filter() {
    for query in [
        "Zephyr in pdf or a word file",
        "Zephyr in pdf or spreadsheet",
        "Zephyr in pdf or presentation",
        "Zephyr spreadsheet or pdf",
        "Zephyr契約のPDFかワード",
    ] {
        check_untouched(query);
    }
    check("Zephyr in pdf oder als Word-Datei", "Zephyr", &["doc", "docx", "pdf"], &[]);
    check("Zephyr im PDF oder im Word-Format", "Zephyr", &["doc", "docx", "pdf"], &[]);
    check("Zephyr 契約 pdf または word", "Zephyr 契約", &["doc", "docx", "pdf"], &[]);
    check("Zephyr 合同 pdf 或 word", "Zephyr 合同", &["doc", "docx", "pdf"], &[]);
    check("Zephyr契約 PDF又はExcel", "Zephyr契約", &["pdf", "xls", "xlsx"], &[]);
    check("Zephyr word or pdf", "Zephyr", &["doc", "docx", "pdf"], &[]);
    check("Zephyr in pdf or docx from 2021 or 2022", "Zephyr", &["docx", "pdf"], &[2021, 2022]);
}

/// "ليست pdf" and "report ausser pdf" asked for just the files that were not wanted.
#[test]
fn what_is_denied_in_any_language_is_never_asked_for() {
    const BEFORE: &str = "not|no|without|except|excluding|other than|apart from|aside from|ignore|\
        skip|omit|avoid|minus|outside|besides|don't show|nicht|kein|ohne|außer|ausser|bis auf|\
        mit Ausnahme von|abgesehen von|pas de|sans|sauf|hormis|à part|à l'exception de|plutôt que|\
        ni|sin|excepto|que no sean|distinto de|aparte de|en lugar de|senza|tranne|escluso|\
        esclusi i|invece di|sem|exceto|fora|em vez de|nu|fără|cu excepția|mai puțin|în afară de|\
        niet|geen|behalve|anders dan|inte|utan|förutom|ikke|uden|unntatt|ei|paitsi|muu kuin|nie|\
        bez|oprócz|inne niż|kromě|vyjma|s výjimkou|nem|kivéve|не|без|кроме|за исключением|помимо|\
        крім|освен|osim|осим|όχι|χωρίς|πλην|ليس|ليست|بدون|غير|إلا|لا|عدا|سوى|من دون|לא|בלי|מלבד|\
        שאינם|نه|به جز|بجز|غیر از|không phải|trừ|ngoài|bukan|tanpa|tidak|tidak dalam|ไม่ใช่|\
        นอกจาก|hindi|maliban sa|isipokuwa|excepte|llevat de|agás|välja arvatud|izņemot|išskyrus|\
        brez|razen|përveç|ekki|sine|behalwe|ոչ|առանց|არა|!";
    const BEHIND: &str = " excluded| değil| olmayan| olmadan| hariç| dışında| nélkül| kivételével|\
        以外| 以外|除外|ではない|ではなく|じゃない|を除く|なし|抜き| 아닌|가 아닌| 제외| 말고| 빼고|\
         없이| 이외| नहीं| के बिना| के अलावा| deyil| емес| გარდა| নয়| ছাড়া| தவிர| نہیں| کے بغیر";
    const TOUCHING: &str = "不要|不是|除了|非|没有|排除|不含|不包括|不用|而非|無|חוץ מ|ไม่ใช่";
    let mut wrong = Vec::new();
    let mut check = |query: String| {
        let filters = query_filters(&query, &clock());
        if filters.extensions.contains(&"pdf".to_owned()) || !filters.years.is_empty() {
            wrong.push(query);
        }
    };
    for thing in ["pdf", "2021"] {
        for before in BEFORE.split('|') {
            check(format!("Zephyr {before} {thing}"));
            check(format!("{before} {thing} Zephyr"));
        }
        for behind in BEHIND.split('|') {
            check(format!("Zephyr {thing}{behind}"));
            check(format!("{thing}{behind} Zephyr"));
        }
        for touching in TOUCHING.split('|') {
            check(format!("Zephyr {touching}{thing}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    // A month, and names that only look so.
    check_years("Vertrag mai 2021", &[]);
    check_years("rapports Mitte 2021", &[2021]);
    check_years("contracts for Gabe 2021", &[2021]);
}

#[track_caller]
fn check_years(query: &str, years: &[i32]) {
    assert_eq!(query_filters(query, &clock()).years, years, "{query}");
}
