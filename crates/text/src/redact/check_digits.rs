//! Check digits: what tells a card or account number from any other long number.

/// Tells whether a card number's check digit is right (Luhn); `digits` are values 0 to 9.
pub(crate) fn luhn(digits: &[u8]) -> bool {
    let mut sum = 0_u32;
    for (idx, digit) in digits.iter().rev().enumerate() {
        let mut value = u32::from(*digit);
        if idx % 2 == 1 {
            value *= 2;
            if value > 9 {
                value -= 9;
            }
        }
        sum += value;
    }
    !digits.is_empty() && sum.is_multiple_of(10)
}

/// Tells whether an account number's check digits are right (ISO 7064 mod 97-10).
///
/// `account` holds ASCII letters and digits without spaces, the country first.
pub(crate) fn mod_97(account: &[u8]) -> bool {
    let Some((head, body)) = account.split_at_checked(4) else { return false };
    let mut remainder = 0_u32;
    for byte in body.iter().chain(head) {
        remainder = match byte {
            b'0'..=b'9' => remainder * 10 + u32::from(byte - b'0'),
            b'A'..=b'Z' => remainder * 100 + u32::from(byte - b'A') + 10,
            b'a'..=b'z' => remainder * 100 + u32::from(byte - b'a') + 10,
            _ => return false,
        } % 97;
    }
    remainder == 1
}

/// Tells whether ten digits are a book number of the old kind; `X` cannot come here.
pub(crate) fn isbn_10(digits: &[u8]) -> bool {
    let sum: u32 =
        digits.iter().zip((1..=10).rev()).map(|(digit, weight)| u32::from(*digit) * weight).sum();
    digits.len() == 10 && sum.is_multiple_of(11)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(text: &str) -> Vec<u8> {
        text.bytes().map(|byte| byte - b'0').collect()
    }

    #[test]
    fn right_and_wrong_cards() {
        assert!(luhn(&digits("4111111111111111")));
        assert!(luhn(&digits("378282246310005")));
        assert!(!luhn(&digits("4111111111111112")));
        assert!(!luhn(&[]));
    }

    #[test]
    fn right_and_wrong_accounts() {
        assert!(mod_97(b"RO49AAAA1B31007593840000"));
        assert!(mod_97(b"de89370400440532013000"));
        assert!(!mod_97(b"RO48AAAA1B31007593840000"));
        assert!(!mod_97(b"RO"));
    }

    #[test]
    fn book_numbers() {
        assert!(isbn_10(&digits("0306406152")));
        assert!(!isbn_10(&digits("0722123456")));
    }
}
