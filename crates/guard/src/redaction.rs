//! Takes private things out of the source text of an answer, looking at more than the piece that
//! leaves where a service gives what is around it.

use model::Around;
use serde_json::Value;

use crate::paths::strings_at;

/// The member that says how many pieces were taken out.
const REDACTED: &str = "redacted";

/// Redacts the strings whose surroundings are known. Call it before [`crate::release`], which
/// redacts the rest and counts on from here.
pub fn redact_around(value: &mut Value, around: &[Around]) {
    let mut n_redacted = 0;
    for around in around {
        let Some(Value::String(text)) = value.pointer_mut(&around.at) else { continue };
        let (shown, n_pieces) = redacted_piece(text, around);
        n_redacted += n_pieces;
        *text = shown;
    }
    add_redacted(value, n_redacted);
}

/// Gives what may be shown of a piece of a source, looking at what is around it, and how many
/// private things were taken out.
pub fn redacted_piece(piece: &str, around: &Around) -> (String, usize) {
    if around.name.as_deref().is_some_and(text::is_secret_name) {
        let mut hidden = piece.to_owned();
        let n_pieces = hide_whole(&mut hidden);
        return (hidden, n_pieces);
    }
    let context = text::PieceContext {
        heading: around.heading.as_deref(),
        before: &around.before,
        after: &around.after,
    };
    let redaction = text::redact_piece(piece, context);
    (redaction.text, redaction.n_pieces)
}

/// Redacts the strings at the places that patterns name, and gives how many pieces were taken
/// out in all, those of [`redact_around`] included.
pub(crate) fn redact_at(value: &mut Value, source_text: &[impl AsRef<str>]) -> usize {
    let n_redacted = redact_places(value, source_text);
    add_redacted(value, n_redacted);
    n_redacted_of(value)
}

/// Redacts the strings at the places that patterns name, and changes nothing else: for answers
/// whose members others have named.
pub fn redact_places(value: &mut Value, source_text: &[impl AsRef<str>]) -> usize {
    let mut n_redacted = 0;
    for pattern in source_text {
        strings_at(value, pattern.as_ref(), &mut |text, name| {
            if name.is_some_and(text::is_secret_name) {
                n_redacted += hide_whole(text);
                return;
            }
            let redaction = text::redact(text);
            if redaction.n_pieces > 0 {
                n_redacted += redaction.n_pieces;
                *text = redaction.text;
            }
        });
    }
    n_redacted
}

/// Hides a value that is private by its name.
fn hide_whole(text: &mut String) -> usize {
    let mark = text::PrivateKind::Password.mark();
    if text.trim().is_empty() || text == mark {
        return 0;
    }
    mark.clone_into(text);
    1
}

fn add_redacted(value: &mut Value, n_redacted: usize) {
    let n_redacted = n_redacted + n_redacted_of(value);
    if n_redacted > 0
        && let Value::Object(object) = value
    {
        object.insert(REDACTED.to_owned(), Value::from(n_redacted));
    }
}

fn n_redacted_of(value: &Value) -> usize {
    value.get(REDACTED).and_then(Value::as_u64).unwrap_or(0) as usize
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::release;

    const CAPS: text::Budget = text::Budget { chars: 2_000, tokens: 2_000 };

    fn around(before: &str, after: &str) -> Around {
        Around { at: "/text".to_owned(), ..Around::new(before, after) }
    }

    #[test]
    fn a_piece_of_an_address_is_a_mark() {
        let mut value = json!({ "text": "popesc" });
        redact_around(&mut value, &[around("Write to ana.", "u@example.org today")]);
        let outgoing = release(value, &["/text"], &CAPS);
        assert_eq!(outgoing.value["text"], "[email]");
        assert_eq!((outgoing.n_redacted, &outgoing.value["redacted"]), (1, &json!(1)));
    }

    #[test]
    fn a_cell_is_hidden_by_headings_far_above_it() {
        let heading = Some("user | password".to_owned());
        let shown = |before: &str, text: &str, after: &str| {
            let mut value = json!({ "text": text });
            redact_around(&mut value, &[around(before, after).with_heading(heading.clone())]);
            value["text"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            shown("lf a row\nann | ti", "ger\nbob | lio", "n\n"),
            "[password]\nbob | [password]"
        );
        assert_eq!(shown("", "ann | tiger", ""), "ann | [password]");
        assert_eq!(shown("", "plain words", ""), "plain words");
    }

    #[test]
    fn values_of_secret_names_are_hidden_whatever_they_look_like() {
        let answer = json!({ "rows": [
            { "user": "ann", "password": "tiger", "db_password": "", "token_count": "five" },
        ] });
        let outgoing = release(answer, &["/rows/*/*"], &CAPS);
        let row = &outgoing.value["rows"][0];
        assert_eq!(row["password"], "[password]");
        assert_eq!((&row["user"], &row["token_count"]), (&json!("ann"), &json!("five")));
        assert_eq!((outgoing.n_redacted, &row["db_password"]), (1, &json!("")));
        let mut value = json!({ "text": "tiger" });
        let named = Around { name: Some("clientSecret".to_owned()), ..around("", "") };
        redact_around(&mut value, &[named]);
        assert_eq!(value["text"], "[password]");
    }
}
