//! The one place where text is made safe for HTML and SVG.

/// Escapes text for element content and quoted attributes. What neither HTML nor XML may hold is
/// left out.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(char),
            '\u{fffe}' | '\u{ffff}' => {}
            other if other.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}
