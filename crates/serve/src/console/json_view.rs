//! JSON as a person reads it: indented, its kinds told apart by colour, all of it escaped.

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

/// Characters of one JSON value that a page shows; the rest is counted, and copied from the API.
const MAX_SHOWN_CHARS: usize = 120_000;

/// Strings longer than this are folded at their end in the view.
const MAX_STRING_CHARS: usize = 4_000;

/// Shows a value with a button that copies it.
pub(crate) fn json_box(id: &str, value: &Value) -> Markup {
    let mut writer = Writer { html: String::new(), is_cut: false };
    writer.value(value, 0);
    html! {
        div .code {
            button .copy type="button" data-copy=(format!("#{id}")) hidden { "Copy" }
            pre id=(id) tabindex="0" { code { (PreEscaped(writer.html)) } }
            @if writer.is_cut {
                p .note { "Only the beginning is shown: the answer has "
                    (value.to_string().chars().count()) " characters." }
            }
        }
    }
}

/// Shows text to copy, such as a command.
pub(crate) fn text_box(id: &str, text: &str) -> Markup {
    html! {
        div .code {
            button .copy type="button" data-copy=(format!("#{id}")) hidden { "Copy" }
            pre id=(id) tabindex="0" { code { (text) } }
        }
    }
}

struct Writer {
    html: String,
    is_cut: bool,
}

impl Writer {
    fn value(&mut self, value: &Value, depth: usize) {
        if self.html.len() > MAX_SHOWN_CHARS {
            if !self.is_cut {
                self.html.push('…');
            }
            self.is_cut = true;
            return;
        }
        match value {
            Value::Null => self.word("l", "null"),
            Value::Bool(value) => self.word("l", &value.to_string()),
            Value::Number(number) => self.word("n", &number.to_string()),
            Value::String(text) => {
                let is_long = text.len() > MAX_STRING_CHARS;
                let shown: String = text.chars().take(MAX_STRING_CHARS).collect();
                let shown = Value::String(shown).to_string();
                self.word("s", &shown);
                if is_long && shown.chars().count() < text.chars().count() {
                    self.is_cut = true;
                }
            }
            Value::Array(elements) if elements.is_empty() => self.html.push_str("[]"),
            Value::Array(elements) => {
                self.html.push('[');
                for (position, element) in elements.iter().enumerate() {
                    self.line(position, depth + 1);
                    self.value(element, depth + 1);
                }
                self.line_end(depth);
                self.html.push(']');
            }
            Value::Object(members) if members.is_empty() => self.html.push_str("{}"),
            Value::Object(members) => {
                self.html.push('{');
                for (position, (name, value)) in members.iter().enumerate() {
                    self.line(position, depth + 1);
                    self.word("k", &Value::String(name.clone()).to_string());
                    self.html.push_str(": ");
                    self.value(value, depth + 1);
                }
                self.line_end(depth);
                self.html.push('}');
            }
        }
    }

    fn word(&mut self, class: &str, text: &str) {
        self.html.push_str(&html! { span class=(class) { (text) } }.0);
    }

    fn line(&mut self, position: usize, depth: usize) {
        if position > 0 {
            self.html.push(',');
        }
        self.line_end(depth);
    }

    fn line_end(&mut self, depth: usize) {
        self.html.push('\n');
        self.html.push_str(&"  ".repeat(depth));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_in_a_value_is_markup_and_copying_gives_json() {
        let value = json!({ "a<b": ["</pre><script>", 1.5, null, true, {}], "e": [] });
        let mut writer = Writer { html: String::new(), is_cut: false };
        writer.value(&value, 0);
        assert!(!writer.html.contains("<script>"), "{}", writer.html);
        let mut text = String::new();
        let mut is_tag = false;
        for char in writer.html.chars() {
            match char {
                '<' => is_tag = true,
                '>' if is_tag => is_tag = false,
                _ if is_tag => {}
                other => text.push(other),
            }
        }
        let text = text.replace("&lt;", "<").replace("&gt;", ">");
        let text = text.replace("&quot;", "\"").replace("&amp;", "&");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn a_huge_value_is_cut_and_says_so() {
        let value = json!(vec!["x".repeat(1_000); 500]);
        let shown = json_box("j", &value).0;
        assert!(shown.contains("Only the beginning is shown"));
        assert!(shown.len() < 3 * MAX_SHOWN_CHARS);
    }
}
