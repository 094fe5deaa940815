//! HTML as it is found: tokens of the HTML standard, and just enough structure on top of them to
//! know headings, paragraphs, lists, tables, code, and what nobody sees.
//!
//! No tree is built, so time is linear and depth does not matter, whatever the tags do.

use std::cell::RefCell;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use model::Pointer;

use crate::error::Result;
use crate::markup::html_blocks::{HtmlBlocks, Note};
use crate::markup::html_tokens::{HtmlTokens, MAX_ATTRIBUTES};
use crate::output::Output;
use crate::warning;

/// How far into a page its encoding may be declared.
const DECLARATION_BYTES: usize = 4096;

pub(crate) fn read_html(bytes: &[u8], output: &mut Output) -> Result<()> {
    let declared = declared_encoding(bytes);
    let text = crate::encoding::decode_reported(bytes, declared.as_deref(), output);
    read_html_text(&text, &Pointer::Whole, output)
}

/// Reads a page that is already characters; its blocks get `pointer`.
pub(crate) fn read_html_text(text: &str, pointer: &Pointer, output: &mut Output) -> Result<()> {
    let sink = Sink { blocks: RefCell::new(HtmlBlocks::new()) };
    let mut tokens = HtmlTokens::new(text, sink);
    while tokens.advance() {
        hand_over(tokens.sink(), pointer, output)?;
    }
    if tokens.n_left_out() > 0 {
        output.warn(
            warning::ATTRIBUTES_LEFT_OUT,
            format!(
                "{} attributes of tags with more than {MAX_ATTRIBUTES} were left out",
                tokens.n_left_out()
            ),
        );
    }
    tokens.sink().blocks.borrow_mut().end_of_page();
    hand_over(tokens.sink(), pointer, output)
}

fn hand_over(sink: &Sink, pointer: &Pointer, output: &mut Output) -> Result<()> {
    let mut blocks = sink.blocks.borrow_mut();
    for note in blocks.take_notes() {
        match note {
            Note::Title(title) => output.set_title(&title),
            Note::Language(language) => output.set_language(&language),
            Note::Block(kind, text) => output.push(kind, pointer, text)?,
        }
    }
    output.check_time()
}

struct Sink {
    blocks: RefCell<HtmlBlocks>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut blocks = self.blocks.borrow_mut();
        match token {
            Token::CharacterTokens(text) => blocks.text(&text),
            Token::TagToken(tag) => match tag.kind {
                TagKind::StartTag => {
                    blocks.start(tag.name.as_ref(), &|name| attribute(&tag, name));
                    return raw_content(&tag);
                }
                TagKind::EndTag => blocks.end(tag.name.as_ref()),
            },
            Token::DoctypeToken(_)
            | Token::CommentToken(_)
            | Token::NullCharacterToken
            | Token::EOFToken
            | Token::ParseError(_) => {}
        }
        TokenSinkResult::Continue
    }
}

/// Tells the tokenizer which elements hold characters and no tags.
fn raw_content(tag: &Tag) -> TokenSinkResult<()> {
    if tag.self_closing {
        return TokenSinkResult::Continue;
    }
    match tag.name.as_ref() {
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => {
            TokenSinkResult::RawData(RawKind::Rawtext)
        }
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "plaintext" => TokenSinkResult::Plaintext,
        _ => TokenSinkResult::Continue,
    }
}

fn attribute(tag: &Tag, name: &str) -> Option<String> {
    tag.attrs
        .iter()
        .find(|attribute| &*attribute.name.local == name)
        .map(|attribute| attribute.value.to_string())
}

fn declared_encoding(bytes: &[u8]) -> Option<String> {
    let head = bytes.get(..DECLARATION_BYTES).unwrap_or(bytes).to_ascii_lowercase();
    let at = memchr::memmem::find(&head, b"charset").or_else(|| {
        let is_xml = head.starts_with(b"<?xml");
        is_xml.then(|| memchr::memmem::find(&head, b"encoding")).flatten()
    })?;
    let after = head.get(at..)?;
    let after = after.get(after.iter().position(|byte| *byte == b'=')? + 1..)?;
    let label: Vec<u8> = after
        .iter()
        .copied()
        .skip_while(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''))
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':'))
        .collect();
    String::from_utf8(label).ok()
}
