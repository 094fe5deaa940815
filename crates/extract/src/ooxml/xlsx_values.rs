//! Numbers of a sheet as a reader sees them: dates as dates, the rest as plain decimals.

use std::collections::HashMap;

use crate::error::Result;
use crate::markup::{XmlEvent, local_attribute};
use crate::ooxml::package::Package;
use crate::output::Output;

/// What the number format of a cell makes of its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberShape {
    Number,
    Percent,
    Date,
    Time,
    DateTime,
}

/// The number formats of a workbook's cells.
#[derive(Debug, Default)]
pub(crate) struct Styles {
    shapes: Vec<NumberShape>,
    is_1904: bool,
}

impl Styles {
    pub(crate) fn read(
        package: &Package,
        part: &str,
        is_1904: bool,
        output: &mut Output,
    ) -> Result<Self> {
        let text = package.text_or_warn(part, output)?;
        let mut custom: HashMap<u32, NumberShape> = HashMap::new();
        let mut styles = Styles { shapes: Vec::new(), is_1904 };
        let mut in_cell_formats = false;
        let mut reader = package.walk(&text, output);
        loop {
            match reader.next(output) {
                Ok(Some(XmlEvent::Start(tag))) => match tag.local_name().as_ref() {
                    "numFmt" => {
                        let id = local_attribute(&tag, "numFmtId").and_then(|id| id.parse().ok());
                        let code = local_attribute(&tag, "formatCode").unwrap_or_default();
                        if let Some(id) = id {
                            custom.insert(id, NumberShape::of_code(&code));
                        }
                    }
                    "cellXfs" => in_cell_formats = true,
                    "xf" if in_cell_formats => {
                        let id = local_attribute(&tag, "numFmtId")
                            .and_then(|id| id.parse().ok())
                            .unwrap_or_default();
                        let shape =
                            custom.get(&id).copied().unwrap_or_else(|| NumberShape::built_in(id));
                        styles.shapes.push(shape);
                    }
                    _ => {}
                },
                Ok(Some(XmlEvent::End(name))) if name == "cellXfs" => in_cell_formats = false,
                Ok(Some(_)) => {}
                Ok(None) => return Ok(styles),
                Err(error) if error.stops_everything() => return Err(error),
                Err(_) => return Ok(styles),
            }
        }
    }

    /// Gives a number as the style of its cell shows it.
    pub(crate) fn shown_number(&self, style: Option<usize>, value: &str) -> String {
        let shape =
            style.and_then(|style| self.shapes.get(style)).copied().unwrap_or(NumberShape::Number);
        let Ok(number) = value.parse::<f64>() else { return value.to_owned() };
        shape.shown(number, self.is_1904)
    }
}

impl NumberShape {
    /// Gives the shape of a format that every workbook has.
    pub(crate) fn built_in(id: u32) -> NumberShape {
        match id {
            9 | 10 => NumberShape::Percent,
            14..=17 | 27..=31 | 36 | 50..=54 | 57 | 58 => NumberShape::Date,
            18..=21 | 32..=35 | 45..=47 | 55 | 56 => NumberShape::Time,
            22 => NumberShape::DateTime,
            _ => NumberShape::Number,
        }
    }

    /// Reads a format code: letters of dates and times outside quotes, escapes and brackets.
    pub(crate) fn of_code(code: &str) -> NumberShape {
        let mut has_date = false;
        let mut has_time = false;
        let mut has_percent = false;
        let mut chars = code.split(';').next().unwrap_or(code).chars();
        while let Some(char) = chars.next() {
            match char {
                '"' => {
                    chars.by_ref().take_while(|char| *char != '"').count();
                }
                '\\' | '_' | '*' => {
                    chars.next();
                }
                '[' => {
                    let inside: String = chars.by_ref().take_while(|char| *char != ']').collect();
                    let inside = inside.to_ascii_lowercase();
                    has_time |= inside.chars().all(|char| matches!(char, 'h' | 'm' | 's'));
                }
                'y' | 'Y' | 'd' | 'D' => has_date = true,
                'h' | 'H' | 's' | 'S' => has_time = true,
                '%' => has_percent = true,
                _ => {}
            }
        }
        match (has_date, has_time) {
            (true, true) => NumberShape::DateTime,
            (true, false) => NumberShape::Date,
            (false, true) => NumberShape::Time,
            (false, false) if has_percent => NumberShape::Percent,
            (false, false) if code.contains("mmm") => NumberShape::Date,
            (false, false) => NumberShape::Number,
        }
    }

    /// Gives a number as a cell of this shape shows it.
    pub(crate) fn shown(self, number: f64, is_1904: bool) -> String {
        match self {
            NumberShape::Number | NumberShape::Percent => format_number(number),
            NumberShape::Date | NumberShape::Time | NumberShape::DateTime => {
                format_serial_date(number, is_1904).unwrap_or_else(|| format_number(number))
            }
        }
    }
}

/// Writes a number without the noise of its binary form.
pub(crate) fn format_number(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return format!("{number:.0}");
    }
    // Fifteen digits are what a spreadsheet shows; the rest is the error of the representation.
    let short: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    let magnitude = short.abs();
    if (1e-5..1e15).contains(&magnitude) { short.to_string() } else { format!("{short:e}") }
}

/// Writes a day number of a spreadsheet as a date, a time, or both; `None` outside the calendar.
pub(crate) fn format_serial_date(serial: f64, is_1904: bool) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&serial) {
        return None;
    }
    let seconds = (serial.fract() * 86_400.0).round();
    let mut days = serial.trunc();
    let mut seconds = seconds as u32;
    if seconds >= 86_400 {
        days += 1.0;
        seconds -= 86_400;
    }
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if days < 1.0 && !is_1904 {
        return Some(time);
    }
    // The calendar of 1900 has a day that never was, 29 February 1900.
    let days = days as i64;
    let since_epoch = if is_1904 {
        days - 24_107
    } else if days < 60 {
        days - 25_568
    } else {
        days - 25_569
    };
    let (year, month, day) = model::date_of_day(since_epoch);
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(if seconds == 0 { date } else { format!("{date} {time}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain() {
        for (number, expected) in [
            (1.0, "1"),
            (0.1 + 0.2, "0.3"),
            (1234.5, "1234.5"),
            (-0.25, "-0.25"),
            (1e20, "1e20"),
            (1.5e-7, "1.5e-7"),
        ] {
            assert_eq!(format_number(number), expected);
        }
    }

    #[test]
    fn dates_are_dates() {
        for (serial, expected) in [
            (1.0, "1900-01-01"),
            (59.0, "1900-02-28"),
            (61.0, "1900-03-01"),
            (45_292.0, "2024-01-01"),
            (45_292.5, "2024-01-01 12:00:00"),
            (0.75, "18:00:00"),
        ] {
            assert_eq!(format_serial_date(serial, false).as_deref(), Some(expected));
        }
        assert_eq!(format_serial_date(0.0, true).as_deref(), Some("1904-01-01"));
        assert_eq!(format_serial_date(-1.0, false), None);
        assert_eq!(format_serial_date(f64::NAN, false), None);
    }

    #[test]
    fn codes_tell_dates_from_numbers() {
        for (code, expected) in [
            ("0.00", NumberShape::Number),
            ("#,##0 \"days\"", NumberShape::Number),
            ("yyyy-mm-dd", NumberShape::Date),
            ("h:mm:ss", NumberShape::Time),
            ("[h]:mm", NumberShape::Time),
            ("[Red]0.0", NumberShape::Number),
            ("0%", NumberShape::Percent),
            ("dd/mm/yyyy hh:mm", NumberShape::DateTime),
        ] {
            assert_eq!(NumberShape::of_code(code), expected, "{code}");
        }
    }
}
