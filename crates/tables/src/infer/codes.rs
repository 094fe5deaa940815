//! Digits that name something and are not counted: postal codes, telephone numbers, ids.

/// Words of names whose digits name something and are not counted.
const CODE_WORDS: [&str; 20] = [
    "zip", "postal", "postcode", "plz", "phone", "tel", "mobile", "cell", "fax", "iban", "ssn",
    "isbn", "ean", "gtin", "sku", "uuid", "guid", "cui", "cif", "id",
];

/// Parts of such words, in front or behind: `zipcode`, `cellphone`, `telefonnummer`.
const CODE_PARTS: [&str; 6] = ["zip", "phone", "postcode", "postleit", "telefon", "telephon"];

/// The fewest digits of a telephone number with its plus.
const LEAST_PHONE_DIGITS: usize = 7;

/// Tells whether a column's name says that its digits are a code.
pub(super) fn names_code(name: &str) -> bool {
    let mut spaced = String::with_capacity(name.len() + 4);
    let mut after_small = false;
    for char in name.chars() {
        if char.is_uppercase() && after_small {
            spaced.push(' ');
        }
        after_small = char.is_lowercase();
        spaced.push(char);
    }
    spaced
        .split(|char: char| !char.is_alphanumeric())
        .map(text::fold)
        .filter(|word| !word.is_empty())
        .any(|word| {
            CODE_WORDS.contains(&word.as_str())
                || CODE_PARTS.iter().any(|part| word.starts_with(part) || word.ends_with(part))
        })
}

/// A leading zero, a plus before many digits, or more digits than a number keeps mark a code or a
/// telephone number, which arithmetic would damage.
pub(super) fn is_code(text: &str) -> bool {
    let text = text.trim();
    let digits = text.trim_start_matches('-');
    let n_digits = digits.bytes().filter(u8::is_ascii_digit).count();
    let is_digits = n_digits == digits.len();
    let has_leading_zero = digits.starts_with('0')
        && digits.as_bytes().get(1).is_some_and(|second| second.is_ascii_digit());
    (text.starts_with('+') && n_digits >= LEAST_PHONE_DIGITS && !text.contains(['.', ',']))
        || has_leading_zero
        || (is_digits && digits.len() > 18)
}

/// Tells whether digits in groups are telephone numbers and no thousands: all equally many, in
/// groups that spaces separate.
pub(super) fn are_phones(texts: &[String]) -> bool {
    let n_digits = |text: &String| text.bytes().filter(u8::is_ascii_digit).count();
    let Some(first) = texts.first().map(n_digits) else { return false };
    first > LEAST_PHONE_DIGITS
        && texts.len() > 1
        && texts.iter().all(|text| n_digits(text) == first && text.trim().contains(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_digits_are() {
        for name in [
            "zip",
            "ZIP_CODE",
            "zipcode",
            "ZipCode",
            "Postal Code",
            "PLZ",
            "phone",
            "PhoneNumber",
            "PHONE_NO",
            "cellphone",
            "Telefon",
            "Téléphone",
            "customer_id",
            "customerId",
            "ID",
        ] {
            assert!(names_code(name), "`{name}`");
        }
        for name in ["width", "paid", "hotel", "amount", "video_views", "ideas", "telex"] {
            assert!(!names_code(name), "`{name}`");
        }
    }

    #[test]
    fn digits_say_that_they_are_no_number() {
        for text in
            ["00501", "+40721123456", "+40 721 123 456", "0723 123 456", "18446744073709551615"]
        {
            assert!(is_code(text), "`{text}`");
        }
        for text in ["0", "0.5", "0,5", "-5", "+5", "+1.25", "1234567890123456", "10"] {
            assert!(!is_code(text), "`{text}`");
        }
    }
}
