//! Takes private things out of text that leaves the server: addresses, numbers, secrets.
//!
//! Each kind has its own finder. A finder walks the text once and looks a bounded distance
//! around each trigger (an `@`, a run of digits, a known prefix), so the whole is linear on any
//! input. It prefers to leave a number that only might be private: dates, amounts, company
//! codes and book numbers are what people search for.

mod window;

mod plain;

mod table_cuts;
mod table_rows;

mod aligned;
mod announced;
mod check_digits;
mod columns;
mod commands;
mod cookies;
mod credentials;
mod email;
mod environment;
mod escapes;
mod hashes;
mod iban;
mod json_headings;
mod json_names;
mod json_rows;
mod key_block;
mod members;
mod names;
mod numbers;
mod own_keys;
mod payment_card;
mod phone;
mod phrases;
mod placeholder;
mod provider_keys;
mod random_strings;
mod said_email;
mod secret_words;
mod signs;
mod sql;
mod strings;
mod values;

#[cfg(test)]
mod forms_tests;
#[cfg(test)]
mod json_tests;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use columns::{SecretTable, context_before, is_secret_heading, secret_tables};
pub use credentials::is_secret_name;
pub use json_headings::{Ended, JsonHeadings, LateNames, Verdict};
pub(crate) use own_keys::generation as own_keys_generation;
pub use own_keys::hide_keys;
pub use window::{
    PASSAGE_EDGE, PieceContext, REDACTION_CONTEXT_CHARS, cut_outside_private, redact_piece,
    redact_window, window_outside_private,
};

use plain::Plain;
use signs::Signs;

/// What kind of private thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PrivateKind {
    /// A block of a private key in PEM or PGP armour.
    PrivateKey,
    /// A key in a provider's documented format, or a signed token.
    Token,
    /// The value after a word such as `password`, or a random string near one.
    Password,
    /// A bank account number with right check digits.
    Iban,
    /// A payment card number with a right check digit.
    PaymentCard,
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
}

impl PrivateKind {
    /// Gives the mark that stands in place of such a thing.
    pub const fn mark(self) -> &'static str {
        match self {
            PrivateKind::PrivateKey => "[private key]",
            PrivateKind::Token => "[token]",
            PrivateKind::Password => "[password]",
            PrivateKind::Iban => "[iban]",
            PrivateKind::PaymentCard => "[card]",
            PrivateKind::Email => "[email]",
            PrivateKind::Phone => "[phone]",
        }
    }
}

/// A private thing and its place in the unredacted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivatePiece {
    /// Decides the mark that is put in its place.
    pub kind: PrivateKind,
    /// Where it is, in bytes of the unredacted text.
    pub bytes: Range<usize>,
}

/// A text that may leave the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// The text with a mark in place of each private piece.
    pub text: String,
    /// How many pieces were replaced.
    pub n_pieces: usize,
    /// What was replaced, in order of the text.
    pub pieces: Vec<PrivatePiece>,
}

/// Replaces private things with marks such as `[email]`.
///
/// The marks themselves are never taken for something private, nor do they make their
/// neighbours so.
///
/// ```
/// let redaction = text::redact("Write to ana@example.org or call +40 722 123 456.");
/// assert_eq!(redaction.text, "Write to [email] or call [phone].");
/// assert_eq!(redaction.n_pieces, 2);
/// ```
pub fn redact(text: &str) -> Redaction {
    written(text, 0..text.len(), find_private(text))
}

/// Writes a part of a text with marks in place of its private pieces, which lie inside it.
fn written(text: &str, part: Range<usize>, pieces: Vec<PrivatePiece>) -> Redaction {
    let mut redacted = String::with_capacity(part.len());
    let mut at = part.start;
    for piece in &pieces {
        redacted.push_str(text.get(at..piece.bytes.start).unwrap_or_default());
        redacted.push_str(piece.kind.mark());
        at = piece.bytes.end;
    }
    redacted.push_str(text.get(at..part.end).unwrap_or_default());
    Redaction { text: redacted, n_pieces: pieces.len(), pieces }
}

/// Lists the private things of a text in order, without overlaps.
pub fn find_private(text: &str) -> Vec<PrivatePiece> {
    let signs = Signs::of(text);
    let mut found = found_by(text, signs);
    if let Some(plain) = Plain::of(text, signs.has_escapes()) {
        let in_plain = found_by(&plain.text, Signs::of(&plain.text));
        found.extend(in_plain.into_iter().filter_map(|piece| plain.in_source(piece, text)));
    }
    let mut in_strings = Vec::new();
    if signs.is_announced() && text.contains('\\') {
        strings::find(text, &mut in_strings);
    }
    if !found.is_empty() && text.contains('\\') {
        found = found.into_iter().filter_map(|piece| escapes::outside(piece, text)).collect();
    }
    found.append(&mut in_strings);
    without_overlaps(found)
}

/// Finds what is private. Most texts have no sign of some kinds, and looking for all signs at once is
/// far cheaper than looking for each.
fn found_by(text: &str, signs: Signs) -> Vec<PrivatePiece> {
    let mut found = Vec::new();
    if signs.has_blocks() {
        key_block::find(text, &mut found);
        key_block::find_putty(text, &mut found);
        provider_keys::find_in_addresses(text, &mut found);
    }
    key_block::find_middle(text, &mut found);
    provider_keys::find(text, &mut found);
    own_keys::find(text, &mut found);
    random_strings::find_headless(text, &mut found);
    if signs.is_announced() || credentials::announces_in_other_letters(text) {
        credentials::find(text, &mut found);
        columns::find_tables(text, &mut found);
        sql::find(text, &mut found);
    }
    if signs.has_equals() {
        environment::find(text, &mut found);
    }
    if signs.has_hashes() {
        hashes::find(text, &mut found);
    }
    commands::find(text, signs.has_programs(), &mut found);
    if signs.has_cookies() {
        cookies::find(text, &mut found);
    }
    iban::find(text, &mut found);
    numbers::find(text, &mut found);
    if signs.has_at() {
        email::find(text, &mut found);
    }
    said_email::find(text, &mut found);
    found
}

/// Keeps, of pieces that overlap, the one of the graver kind, then the earlier one.
fn without_overlaps(mut found: Vec<PrivatePiece>) -> Vec<PrivatePiece> {
    found.sort_by_key(|piece| (piece.bytes.start, piece.bytes.end));
    let mut kept: Vec<PrivatePiece> = Vec::with_capacity(found.len());
    for piece in found {
        let Some(last) = kept.last_mut().filter(|last| piece.bytes.start < last.bytes.end) else {
            kept.push(piece);
            continue;
        };
        // The whole stretch goes: what is private in either reading stays private.
        last.kind = last.kind.min(piece.kind);
        last.bytes.end = last.bytes.end.max(piece.bytes.end);
    }
    kept
}

/// Gives the last part of the text before `at`, at most `n_bytes` long.
fn before(text: &str, at: usize, n_bytes: usize) -> &str {
    let mut start = at.saturating_sub(n_bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..at).unwrap_or_default()
}

/// Gives the text from `at` on, at most `n_bytes` of it.
fn after(text: &str, at: usize, n_bytes: usize) -> &str {
    let mut end = at.saturating_add(n_bytes).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(at..end).unwrap_or_default()
}
