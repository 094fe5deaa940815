//! 1. Pages whose tags have few attributes give the tokens that the tokenizer gives alone.
//! 2. No tag reaches the tokenizer with more attributes than are read, whatever is before it.
//! 3. What is after such a tag is read as if the tag had been short.

use std::cell::RefCell;

use html5ever::tokenizer::TagKind;
use html5ever::tokenizer::states::RawKind;
use proptest::prelude::*;

use super::*;

/// Writes down what it is given.
#[derive(Default)]
struct Recording {
    tokens: RefCell<Vec<String>>,
    text: RefCell<String>,
    most_attributes: Cell<usize>,
}

impl Recording {
    fn tokens(&self) -> Vec<String> {
        let mut tokens = self.tokens.borrow().clone();
        tokens.push(self.text.borrow().clone());
        tokens
    }
}

impl TokenSink for Recording {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let shown = match token {
            Token::CharacterTokens(text) => {
                self.text.borrow_mut().push_str(&text);
                return TokenSinkResult::Continue;
            }
            Token::ParseError(_) => return TokenSinkResult::Continue,
            Token::TagToken(tag) => {
                let most = self.most_attributes.get().max(tag.attrs.len());
                self.most_attributes.set(most);
                let shown = format!("{tag:?}");
                let kind = match tag.name.as_ref() {
                    _ if tag.kind == TagKind::EndTag || tag.self_closing => None,
                    "script" => Some(RawKind::ScriptData),
                    "style" => Some(RawKind::Rawtext),
                    "title" => Some(RawKind::Rcdata),
                    _ => None,
                };
                self.tokens.borrow_mut().push(self.text.take());
                self.tokens.borrow_mut().push(shown);
                return kind.map_or(TokenSinkResult::Continue, TokenSinkResult::RawData);
            }
            other @ (Token::DoctypeToken(_)
            | Token::CommentToken(_)
            | Token::NullCharacterToken
            | Token::EOFToken) => format!("{other:?}"),
        };
        self.tokens.borrow_mut().push(self.text.take());
        self.tokens.borrow_mut().push(shown);
        TokenSinkResult::Continue
    }
}

fn limited(page: &str) -> (Recording, usize) {
    let mut tokens = HtmlTokens::new(page, Recording::default());
    while tokens.advance() {}
    let n_left_out = tokens.n_left_out();
    (tokens.tokenizer.sink.sink, n_left_out)
}

fn alone(page: &str) -> Vec<String> {
    let tokenizer = Tokenizer::new(Recording::default(), TokenizerOpts::default());
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(page));
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.tokens()
}

/// Pieces whose sequences lead through every state that matters here.
const PIECES: [&str; 44] = [
    "<",
    ">",
    "/",
    "!",
    "?",
    "-",
    "--",
    "=",
    "\"",
    "'",
    " ",
    "\n",
    "\r",
    "&",
    "&amp",
    "&amp;",
    "&#x41",
    "a",
    "script",
    "style",
    "title",
    "<a ",
    "</a ",
    "<p>",
    "</p>",
    "<script>",
    "</script>",
    "</script ",
    "<style>",
    "</style>",
    "<title>",
    "</title",
    "<!--",
    "-->",
    "--!>",
    "<!doctype ",
    "<![CDATA[",
    "]]>",
    "x=1 ",
    "y='2'",
    "z=\"3\"",
    "é",
    "\0",
    "<script",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn short_tags_are_read_as_they_are(pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
        let page: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        let (recording, n_left_out) = limited(&page);
        prop_assert_eq!(n_left_out, 0);
        prop_assert_eq!(recording.tokens(), alone(&page), "{:?}", page);
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_tag_has_too_many_attributes(before in prop::collection::vec(0..PIECES.len(), 0..20)) {
        let mut page: String = before.into_iter().map(|piece| PIECES[piece]).collect();
        page.push_str("<a");
        (0..600).for_each(|n| page.push_str(&format!(" a{n}")));
        page.push_str("> after");
        let (recording, _) = limited(&page);
        prop_assert!(recording.most_attributes.get() <= MAX_ATTRIBUTES, "{:?}", page);
    }
}

/// Reading is linear when the attributes handed over are bounded for each tag; half a million of
/// them in one tag took the whole time cap.
#[test]
fn what_follows_a_tag_with_many_attributes_is_read() {
    let n_attributes = 500_000;
    for (name, closing, self_closing) in
        [("div", ">", false), ("img", "/>", true), ("img", " / >", false), ("/div", ">", false)]
    {
        let mut page = format!("before<{name} id='1'");
        (1..n_attributes).for_each(|n| page.push_str(&format!(" a{n}=\"x > y\"")));
        page.push_str(closing);
        page.push_str("after<b>bold</b>");
        let (recording, n_left_out) = limited(&page);
        assert_eq!(recording.most_attributes.get(), MAX_ATTRIBUTES);
        assert_eq!(n_left_out, n_attributes - MAX_ATTRIBUTES);
        let tokens = recording.tokens();
        assert_eq!(tokens[0], "before");
        assert!(tokens[1].contains(&format!("self_closing: {self_closing}")), "{closing}");
        assert_eq!(
            tokens[2..].iter().filter(|token| !token.starts_with("Tag")).collect::<Vec<_>>(),
            ["after", "bold", "", "EOFToken", ""]
        );
    }
}

#[test]
fn an_attribute_at_the_limit_is_kept() {
    let attributes: String = (0..MAX_ATTRIBUTES).map(|n| format!(" a{n}=1")).collect();
    let page = format!("<p{attributes}>text</p>");
    let (recording, n_left_out) = limited(&page);
    assert_eq!((recording.tokens(), n_left_out), (alone(&page), 0));
}
