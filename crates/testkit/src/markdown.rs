//! What a client that draws Markdown would load or link: the oracle for everything that promises
//! to keep the addresses of sources dead.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex::Regex;

/// Gives the links, pictures, tags and addresses of a Markdown text that are live. Addresses in
/// running text count, since many clients make links of them; those in code do not.
///
/// ```
/// use testkit::markdown::live_parts;
///
/// assert_eq!(live_parts("![x](http://a.example/)"), ["picture http://a.example/"]);
/// assert!(live_parts(r"!\[x\](`http://a.example/`)").is_empty());
/// ```
#[expect(clippy::wildcard_enum_match_arm, reason = "all others are harmless")]
pub fn live_parts(markdown: &str) -> Vec<String> {
    let address = Regex::new(r"(?i)(https?|ftp)://[a-z0-9]|(^|[^a-z0-9])www\.[a-z0-9]")
        .expect("the pattern is right");
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    let mut parts = vec![];
    let mut text = String::new();
    let mut in_code = false;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(piece) if !in_code => {
                text.push_str(&piece);
                continue;
            }
            Event::Start(Tag::Link { dest_url, .. }) => parts.push(format!("link {dest_url}")),
            Event::Start(Tag::Image { dest_url, .. }) => parts.push(format!("picture {dest_url}")),
            // A line break in a cell is a tag of our own.
            Event::Html(tag) | Event::InlineHtml(tag) if &*tag != "<br>" => {
                parts.push(format!("tag {tag}"));
            }
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            _ => {}
        }
        parts.extend(address.find_iter(&text).map(|found| format!("address {}", found.as_str())));
        text.clear();
    }
    parts.extend(address.find_iter(&text).map(|found| format!("address {}", found.as_str())));
    parts
}
