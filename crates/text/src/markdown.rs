//! Text of a source inside Markdown: shown, never run.

/// Escapes what would make a link, a picture or a tag of text from a source. A client that draws
/// Markdown then shows the text, and loads nothing from an address in it.
///
/// ```
/// let cell = "![x](http://example.org/?q=secret) <b>";
/// assert_eq!(text::escape_markdown(cell), r"!\[x\](http://example.org/?q=secret) &lt;b>");
/// ```
pub fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '[' | ']' | '\\' | '`' => {
                escaped.push('\\');
                escaped.push(char);
            }
            '<' => escaped.push_str("&lt;"),
            other => escaped.push(other),
        }
    }
    escaped
}
