//! The years that a document speaks of, in its name or its text.

use std::collections::BTreeSet;

use model::Block;

/// Years outside this range are numbers of something else.
pub(crate) const YEARS: std::ops::RangeInclusive<u32> = 1900..=2099;

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
