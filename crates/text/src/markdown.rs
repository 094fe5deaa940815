//! Text of a source inside Markdown: shown, never run.
//!
//! A client that draws Markdown loads pictures and offers links. Neither may come from a source:
//! an address in a document could carry away what an agent has read. Two ways lead out of that,
//! and every Markdown that this server writes takes one of them:
//!
//! - [`escape_markdown`] is for a piece of a source that is put into Markdown of our own, such as
//!   a cell of a table: it is shown letter by letter, addresses as code.
//! - [`defuse_markdown`] is for running text whose own layout is to stay, such as what a language
//!   model wrote over sources: a space takes the life out of links, pictures, tags and addresses.
//!   [`Defuser`] does the same to a text that arrives in pieces.

/// Escapes text of a source for a place in Markdown. A client then shows the text, and neither
/// loads nor links an address in it.
///
/// ```
/// let cell = "![x](http://example.org/?q=secret) <b>";
/// assert_eq!(text::escape_markdown(cell), r"!\[x\](`http://example.org/?q=secret`) &lt;b>");
/// ```
pub fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        // Some clients make links of addresses that stand alone; in code they never do. No code
        // can be open here, since every other grave accent is escaped.
        let address = &rest[..address_len(rest, escaped.chars().next_back())];
        if !address.is_empty() {
            escaped.push('`');
            escaped.push_str(address);
            escaped.push('`');
            rest = &rest[address.len()..];
            continue;
        }
        match char {
            '[' | ']' | '\\' | '`' => {
                escaped.push('\\');
                escaped.push(char);
            }
            '<' => escaped.push_str("&lt;"),
            other => escaped.push(other),
        }
        rest = &rest[char.len_utf8()..];
    }
    escaped
}

/// Gives the bytes of the address that a text begins with: `http://…`, `www.…`. Zero for none.
fn address_len(text: &str, before: Option<char>) -> usize {
    if before.is_some_and(char::is_alphanumeric) {
        return 0;
    }
    let scheme = text.bytes().take_while(|byte| is_scheme(*byte)).count();
    let is_url = scheme > 0 && text[scheme..].starts_with("://");
    let is_www = text.as_bytes().get(..4).is_some_and(|head| head.eq_ignore_ascii_case(b"www."));
    if !is_url && !is_www {
        return 0;
    }
    let ends = |char: char| {
        char.is_whitespace() || char.is_control() || "`<>|\\\"()[]{}、。，「」（）".contains(char)
    };
    let len = text.find(ends).unwrap_or(text.len());
    // A full stop or comma at the end belongs to the sentence.
    text[..len].trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '\'']).len()
}

fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-')
}

/// Takes the life out of the links, pictures, tags and addresses of running text; all the rest of
/// it stays, letter by letter.
///
/// ```
/// let answer = "Three days [1], see ![x](http://example.org/) <img src=x>";
/// assert_eq!(
///     text::defuse_markdown(answer),
///     "Three days [1], see ![x] (http:/ /example.org/) < img src=x>"
/// );
/// ```
pub fn defuse_markdown(text: &str) -> String {
    Defuser::default().push(text)
}

/// [`defuse_markdown`] for a text that arrives in pieces, wherever these are cut.
#[derive(Debug, Clone, Default)]
pub struct Defuser {
    /// The characters before the next piece, the nearest last.
    before: [Option<char>; LOOK_BACK],
}

/// `www.` and what is before it.
const LOOK_BACK: usize = 5;

impl Defuser {
    /// Defuses the next piece.
    pub fn push(&mut self, piece: &str) -> String {
        let mut defused = String::with_capacity(piece.len());
        for char in piece.chars() {
            if self.comes_to_life(char) {
                defused.push(' ');
                self.remember(' ');
            }
            defused.push(char);
            self.remember(char);
        }
        defused
    }

    /// Tells whether a character makes something live of what is before it.
    fn comes_to_life(&self, char: char) -> bool {
        let [start, first, second, third, last] = self.before;
        match (last, char) {
            // `[text](address)`, `[text][name]`, `[name]: address`.
            (Some(']'), '(' | '[' | ':') => true,
            // A tag, a comment, or `<http://…>`.
            (Some('<'), 'a'..='z' | 'A'..='Z' | '/' | '!' | '?') => true,
            (Some('/'), '/') => third == Some(':'),
            (Some('.'), char) if char.is_alphanumeric() => {
                let is_w = |char: Option<char>| matches!(char, Some('w' | 'W'));
                let is_inside = start.is_some_and(char::is_alphanumeric);
                is_w(first) && is_w(second) && is_w(third) && !is_inside
            }
            _ => false,
        }
    }

    fn remember(&mut self, char: char) {
        self.before.rotate_left(1);
        self.before[LOOK_BACK - 1] = Some(char);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use testkit::markdown::live_parts;

    use super::*;

    /// What a hostile source would have a client load or link.
    const HOSTILE: &[&str] = &[
        "![x](http://evil.example/?q=1)",
        "[x](http://evil.example/)",
        "[x](<http://evil.example/> \"t\")",
        "[![x](/a.png)](/b)",
        "<img src=http://evil.example/a.png>",
        "<IMG SRC=x>",
        "</script>",
        "<!-- x -->",
        "<?php x ?>",
        "<http://evil.example/>",
        "<a@evil.example>",
        "[x][1]\n\n[1]: http://evil.example/",
        "[x]\n\n[x]: /relative",
        "![x][]\n\n[x]: <http://evil.example/>",
        "see http://evil.example/a.png now",
        "see https://evil.example/a.png",
        "HTTP://EVIL.EXAMPLE/",
        "ftp://evil.example/",
        "see www.evil.example/a.png.",
        "WWW.evil.example",
        "`http://evil.example/",
        "`a` http://evil.example/`",
        "\\`http://evil.example/\\`",
        "\\![x](http://evil.example/)",
        "\\\\[x](http://evil.example/)",
        "(http://evil.example/)",
        "a|b [x](http://evil.example/)|c",
        "*[x](http://evil.example/)*",
    ];

    #[test]
    fn nothing_of_a_hostile_source_comes_to_life() {
        for source in HOSTILE {
            assert!(!live_parts(source).is_empty(), "`{source}` is harmless: it tests nothing");
            assert_eq!(live_parts(&escape_markdown(source)), Vec::<String>::new(), "{source}");
            assert_eq!(live_parts(&defuse_markdown(source)), Vec::<String>::new(), "{source}");
        }
        let all = HOSTILE.join(" ");
        assert_eq!(live_parts(&escape_markdown(&all)), Vec::<String>::new());
        assert_eq!(live_parts(&defuse_markdown(&all)), Vec::<String>::new());
    }

    #[test]
    fn harmless_text_stays() {
        for text in [
            "Three days [1], [2].",
            "**bold** and `code` and _more_",
            "| a | b |\n|---|---|\n| 1 < 2 | 3 > 2 |",
            "- one\n- two",
            "C:/windows and a/b, 10:30",
            "社員は[1]申請する。",
        ] {
            assert_eq!(defuse_markdown(text), text);
        }
    }

    /// Pieces of what makes a link.
    fn soup() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "[",
            "]",
            "(",
            ")",
            "!",
            "<",
            ">",
            "`",
            "``",
            "\\",
            "/",
            ":",
            "http",
            "www",
            ".",
            "x",
            "evil.example",
            " ",
            "\n",
            "\n\n",
            "|",
            "*",
            "_",
            "\"",
            "~",
            "#",
            "&",
            ";",
            "一",
        ]);
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_text_comes_to_life(text in soup()) {
            // Escaped text is put inside a line of ours.
            let line = text.replace('\n', " ");
            prop_assert_eq!(live_parts(&escape_markdown(&line)), Vec::<String>::new());
            prop_assert_eq!(live_parts(&defuse_markdown(&text)), Vec::<String>::new());
        }

        #[test]
        fn pieces_are_defused_like_the_whole(text in soup(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
            let chars: Vec<char> = text.chars().collect();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(chars.len() + 1)).collect();
            places.sort_unstable();
            places.push(chars.len());
            let mut defuser = Defuser::default();
            let mut said = String::new();
            let mut from = 0;
            for place in places {
                said.push_str(&defuser.push(&chars[from..place].iter().collect::<String>()));
                from = place;
            }
            prop_assert_eq!(said, defuse_markdown(&text));
        }

        #[test]
        fn only_spaces_are_put_in(text in soup()) {
            let letters = |text: &str| text.replace(' ', "");
            prop_assert_eq!(letters(&defuse_markdown(&text)), letters(&text));
            prop_assert_eq!(defuse_markdown(&defuse_markdown(&text)), defuse_markdown(&text));
        }
    }
}
