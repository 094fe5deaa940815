//! Text of addresses: `%20` is a space there.

/// Reads bytes that are written as `%` and two hexadecimal digits. What is no such writing stays as
/// it is, and bytes that are no UTF-8 become marks.
///
/// ```
/// assert_eq!(model::percent_decoded("a%20b/%E5%9B%B3 100%"), "a b/図 100%");
/// ```
pub fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = (*first == b'%').then(|| behind.get(..2)).flatten();
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
