//! The years that a document speaks of, in its name or its text, and those that are asked for.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use model::Block;

/// Years outside this range are numbers of something else.
pub(crate) const YEARS: RangeInclusive<u32> = 1900..=2099;

/// More years in a row are shown as a range.
const MAX_IN_A_ROW: usize = 5;

/// Reads a year, or a range of years such as `2019-2021`; nothing for what no document has.
pub(crate) fn range_of(text: &str) -> Option<RangeInclusive<u32>> {
    let year = |text: &str| {
        let year = text.parse().ok().filter(|_| text.len() == 4);
        year.filter(|year: &u32| YEARS.contains(year))
    };
    let (first, last) = match text.split_once(['-', '–']) {
        Some((first, last)) => (year(first.trim())?, year(last.trim())?),
        None => (year(text.trim())?, year(text.trim())?),
    };
    (first <= last).then_some(first..=last)
}

/// Spells out ranges: every year once, in order. What is no year is left out.
pub(crate) fn spelled_out(years: &[String]) -> Vec<String> {
    let years: BTreeSet<u32> = years.iter().filter_map(|text| range_of(text)).flatten().collect();
    years.iter().map(u32::to_string).collect()
}

/// Writes years as an argument takes them, many in a row as a range.
pub(crate) fn shown(years: &[String]) -> Vec<String> {
    let numbers: BTreeSet<u32> = years.iter().filter_map(|text| range_of(text)).flatten().collect();
    let mut rows: Vec<Vec<u32>> = Vec::new();
    for number in numbers {
        match rows.last_mut() {
            Some(row) if row.last() == Some(&(number - 1)) => row.push(number),
            _ => rows.push(vec![number]),
        }
    }
    let show = |row: Vec<u32>| match row.as_slice() {
        [first, .., last] if row.len() > MAX_IN_A_ROW => vec![format!("{first}-{last}")],
        _ => row.iter().map(u32::to_string).collect(),
    };
    rows.into_iter().flat_map(show).collect()
}

/// Lists the years in a name and in blocks, as text: all of them, since a document that speaks of
/// many years speaks of each.
pub(crate) fn years(name: &str, blocks: &[Block]) -> Vec<String> {
    let mut years = BTreeSet::new();
    for text in std::iter::once(name).chain(blocks.iter().map(|block| block.text.as_str())) {
        collect(text, &mut years);
    }
    years.iter().map(u32::to_string).collect()
}

/// Four digits between others that are no digits, and years of other calendars.
fn collect(text: &str, years: &mut BTreeSet<u32>) {
    let written = text::written_years(text).into_iter();
    let written = written.filter_map(|(_, year)| u32::try_from(year).ok());
    years.extend(written.filter(|year| YEARS.contains(year)));
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let n_digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if n_digits == 4
            && let Ok(number) = text[at..at + 4].parse::<u32>()
            && YEARS.contains(&number)
        {
            years.insert(number);
        }
        at += n_digits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_written() {
        let texts = |years: &[&str]| years.iter().map(|&year| year.to_owned()).collect::<Vec<_>>();
        assert_eq!(range_of("2021"), Some(2021..=2021));
        assert_eq!(range_of("2019-2021"), Some(2019..=2021));
        for wrong in ["", "21", "20211", "2021-2019", "1899", "2019-", "abcd", "2019-20"] {
            assert_eq!(range_of(wrong), None, "{wrong}");
        }
        assert_eq!(spelled_out(&texts(&["2021", "2019-2020", "2020"])), ["2019", "2020", "2021"]);
        assert_eq!(shown(&texts(&["2021", "2020", "2024"])), ["2020", "2021", "2024"]);
        assert_eq!(shown(&spelled_out(&texts(&["1900-2021", "2024"]))), ["1900-2021", "2024"]);
    }

    #[test]
    fn years_stand_alone() {
        assert_eq!(years("report_2021-final.docx", &[]), ["2021"]);
        assert_eq!(years("12021 3000 1899 2099年 1900", &[]), ["1900", "2099"]);
        assert_eq!(years("令和3年度予算.docx", &[]), ["2021"]);
        assert_eq!(years("二〇二二年", &[]), ["2022"]);
        // A chronicle of more years than were kept before.
        let chronicle: String = (1900..2000).map(|year| format!("{year} ")).collect();
        assert_eq!(years(&chronicle, &[]).len(), 100);
    }
}
