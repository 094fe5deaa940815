//! Digits that name something and are not counted: postal codes, telephone numbers, ids.

/// Words of names whose digits name something and are not counted.
const CODE_WORDS: [&str; 37] = [
    "zip", "postal", "postcode", "plz", "phone", "tel", "mobile", "cell", "fax", "iban", "ssn",
    "isbn", "ean", "gtin", "sku", "uuid", "guid", "cui", "cif", "id", "msisdn", "imei", "imsi",
    "cnp", "cpf", "cnpj", "nif", "nie", "pesel", "siren", "siret", "bic", "issn", "upc", "barcode",
    "movil", "gsm",
];

/// Words that are such names alone: a `cap` is a postal code of Italy, a `market_cap` is money.
const WHOLE_NAMES: [&str; 8] = ["cap", "cep", "cp", "pin", "vat", "ust", "tin", "contact"];

/// Parts of such words, in front or behind: `zipcode`, `cellphone`, `telefonnummer`.
const CODE_PARTS: [&str; 13] = [
    "zip",
    "phone",
    "postcode",
    "postleit",
    "telefon",
    "telephon",
    "pincode",
    "barcode",
    "handynr",
    "kundennr",
    "kundennummer",
    "postnr",
    "kontonr",
];

/// The same in scripts without spaces between words.
const CODE_SIGNS: [&str; 18] = [
    "手机",
    "手機",
    "电话",
    "電話",
    "邮编",
    "郵編",
    "郵便",
    "编号",
    "編號",
    "番号",
    "號碼",
    "号码",
    "身份证",
    "전화",
    "우편",
    "번호",
    "телефон",
    "индекс",
];

/// Words that count or name, by what stands before them: an account's number names the account.
const NUMBER_WORDS: [&str; 8] = ["number", "no", "nr", "num", "code", "cod", "nummer", "numero"];
/// What such a number names when it stands behind these.
const NAMED_WORDS: [&str; 17] = [
    "vat",
    "account",
    "customer",
    "client",
    "order",
    "invoice",
    "contract",
    "contact",
    "member",
    "serial",
    "policy",
    "konto",
    "kunden",
    "cont",
    "tax",
    "registration",
    "licence",
];

/// The fewest digits of a telephone number with its plus.
const LEAST_PHONE_DIGITS: usize = 7;

/// Tells whether a column's name says that its digits are a code.
pub(super) fn names_code(name: &str) -> bool {
    let words = words_of(name);
    let is_numbered = words.windows(2).any(|pair| {
        NAMED_WORDS.contains(&pair[0].as_str()) && NUMBER_WORDS.contains(&pair[1].as_str())
    });
    let has_sign = CODE_SIGNS.iter().any(|sign| name.to_lowercase().contains(sign));
    let is_code = |word: &String| {
        CODE_WORDS.contains(&word.as_str())
            || CODE_PARTS.iter().any(|part| word.starts_with(part) || word.ends_with(part))
    };
    let is_whole = matches!(words.as_slice(), [word] if WHOLE_NAMES.contains(&word.as_str()));
    is_numbered || is_whole || has_sign || words.iter().any(is_code)
}

/// Gives the folded words of a column's name: `createdAt` and `created_at` have two.
pub(super) fn words_of(name: &str) -> Vec<String> {
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
        .collect()
}

/// The fewest digits that by their number alone look like a code.
const LEAST_CODE_DIGITS: usize = 8;
/// Names that may go with a code: alone they say too little.
const DOUBTFUL_WORDS: [&str; 14] = [
    "number",
    "no",
    "nr",
    "num",
    "code",
    "cod",
    "key",
    "ref",
    "reference",
    "contact",
    "account",
    "serial",
    "kontakt",
    "contacto",
];

/// Tells whether digits are a code by their shape: all different, all equally many, too many to be
/// counted things, under a name that may be one of a code.
pub(super) fn has_shape_of_code(name: &str, texts: &[String], n_rows: usize) -> bool {
    let n_digits = texts.first().map_or(0, |text| text.trim().len());
    let is_fixed = texts.iter().all(|text| {
        let text = text.trim();
        text.len() == n_digits && text.bytes().all(|byte| byte.is_ascii_digit())
    });
    let words: Vec<String> =
        name.split(|char: char| !char.is_alphanumeric()).map(text::fold).collect();
    let may_be_named = words.iter().any(|word| DOUBTFUL_WORDS.contains(&word.as_str()));
    n_digits >= LEAST_CODE_DIGITS && is_fixed && texts.len() == n_rows && may_be_named
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
            "msisdn",
            "手机",
            "郵便番号",
            "CAP",
            "pincode",
            "cp",
            "cnp",
            "barcode",
            "account_number",
            "customer_no",
            "Kundennummer",
            "vat",
            "CustomerNo",
        ] {
            assert!(names_code(name), "`{name}`");
        }
        for name in [
            "width",
            "paid",
            "hotel",
            "amount",
            "video_views",
            "ideas",
            "telex",
            "number",
            "capacity",
            "market_cap",
            "vat_rate",
        ] {
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
