//! Years as Japanese and Chinese texts write them: `令和３年`, `平成元年`, `民國110年`, `二〇二一年`.
//!
//! Queries and documents are read by the same rules, so that a year that is asked for in one
//! way of writing finds documents that have it in another.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The year before the first of an era.
const ERAS: &[(&str, i32)] = &[
    ("令和", 2018),
    ("平成", 1988),
    ("昭和", 1925),
    ("大正", 1911),
    ("民國", 1911),
    ("民国", 1911),
];

static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    let eras = ERAS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("|");
    Regex::new(&format!(
        r"({eras})\s?(元|[0-9０-９]{{1,3}}|[〇零一二三四五六七八九十百]{{1,5}})年|([〇零一二三四五六七八九]{{4}})年|([０-９]+)"
    ))
    .expect("the pattern is constant and tested")
});

/// Finds the years in a text that are not written as four ASCII digits, with where they are
/// (in bytes).
///
/// ```
/// let years: Vec<i32> = text::written_years("令和３年と二〇二二年").into_iter().map(|(_, y)| y).collect();
/// assert_eq!(years, [2021, 2022]);
/// ```
pub fn written_years(text: &str) -> Vec<(Range<usize>, i32)> {
    if text.is_ascii() {
        return Vec::new();
    }
    let year = |captures: &regex::Captures<'_>| {
        let whole = captures.get(0)?.range();
        if let (Some(era), Some(number)) = (captures.get(1), captures.get(2)) {
            let (_, before) = ERAS.iter().find(|(name, _)| *name == era.as_str())?;
            return Some((whole, before + number_of(number.as_str())?));
        }
        let digits = captures.get(3).or(captures.get(4))?.as_str();
        // A longer run of digits is another number.
        let digits: Vec<i32> = digits.chars().map(digit).collect::<Option<_>>()?;
        let year = digits.iter().fold(0, |year, digit| year * 10 + digit);
        (digits.len() == 4 && (1900..2100).contains(&year)).then_some((whole, year))
    };
    WRITTEN.captures_iter(text).filter_map(|captures| year(&captures)).collect()
}

/// Reads a number of an era: `元`, `３`, `十二`, `二十`, `百一`, `一一〇`.
fn number_of(text: &str) -> Option<i32> {
    if text == "元" {
        return Some(1);
    }
    if !text.contains(['十', '百']) {
        return text.chars().try_fold(0, |number, char| Some(number * 10 + digit(char)?));
    }
    let (mut number, mut last) = (0, None);
    for char in text.chars() {
        let unit = match char {
            '百' => 100,
            '十' => 10,
            _ => {
                last = Some(digit(char)?);
                continue;
            }
        };
        number += last.take().unwrap_or(1) * unit;
    }
    Some(number + last.unwrap_or(0))
}

fn digit(char: char) -> Option<i32> {
    const HAN: &str = "〇一二三四五六七八九";
    let han = || HAN.chars().position(|known| known == char);
    let wide = u32::from(char).checked_sub(u32::from('０')).filter(|digit| *digit < 10);
    match (char, wide) {
        ('零', _) => Some(0),
        (_, Some(wide)) => i32::try_from(wide).ok(),
        _ => char
            .to_digit(10)
            .and_then(|digit| i32::try_from(digit).ok())
            .or_else(|| han().and_then(|digit| i32::try_from(digit).ok())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[i32]) {
        let years: Vec<i32> = written_years(text).into_iter().map(|(_, year)| year).collect();
        assert_eq!(years, expected, "{text}");
    }

    #[test]
    fn eras_and_numerals() {
        check("令和3年度", &[2021]);
        check("令和元年、平成三十一年、昭和64年、大正十年", &[2019, 2019, 1989, 1921]);
        check("民國110年，民国一百一十年", &[2021, 2021]);
        check("民國一〇九年", &[2020]);
        check("二〇二一年和二零二二年", &[2021, 2022]);
        check("２０２１年、２０２２", &[2021, 2022]);
        check("１２０２１ ２０２ ３０００年 三千年 2021年", &[]);
        check("in 2021", &[]);
        assert_eq!(written_years("の令和3年度")[0].0, 3.."の令和3年".len());
    }
}
