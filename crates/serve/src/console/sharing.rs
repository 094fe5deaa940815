//! Who else may use something: names in a form, and what REST is sent for them.
//!
//! A form without these fields changes nothing about it, so that a page that was open before an
//! update takes nobody's rights away.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::knowledge::array;
use super::params::Params;

/// What a member of a project may do, as REST and as a person calls it.
const ROLES: [(&str, &str); 2] = [("reader", "reads"), ("editor", "reads and changes")];

/// Names of people and groups that something is shared with; `form` tells the ids of the fields
/// from those of other forms of the page.
pub(super) fn sharing_fields(form: &str, shared_with: &Value, about: &str) -> Markup {
    let lists = [
        ("users", "People", "Names of keys or subjects of tokens, one on each line."),
        ("groups", "Groups", "As the tokens of their members name them, one on each line."),
    ];
    let is_shared = lists.iter().any(|(name, _, _)| !array(&shared_with[*name]).is_empty());
    html! {
        details open[is_shared] { summary { "Share by name" }
            p .note { (about) }
            @for (name, label, hint) in lists {
                @let id = format!("{form}-shared-{name}");
                @let names: Vec<&str> = array(&shared_with[name]).iter().filter_map(Value::as_str).collect();
                div .field { label for=(id) { (label) }
                    textarea .few id=(id) name=(format!("shared_{name}")) rows="2" spellcheck="false" aria-describedby=(format!("{id}-hint")) { (names.join("\n")) }
                    p .note id=(format!("{id}-hint")) { (hint) } }
            }
        }
    }
}

/// Reads who something is shared with; nothing where the form does not ask.
pub(super) fn shared_with(params: &Params) -> Option<Value> {
    let is_asked = |name: &str| params.pairs().any(|(given, _)| given == name);
    let names = |name: &str| -> Vec<String> {
        let lines = params.text(name).lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    (is_asked("shared_users") || is_asked("shared_groups"))
        .then(|| json!({ "users": names("shared_users"), "groups": names("shared_groups") }))
}

/// The members of a project, each with what they may do, and a place for one more.
pub(super) fn member_fields(form: &str, members: &[Value]) -> Markup {
    let nobody = json!({});
    html! {
        fieldset .members { legend { "Members" }
            p .note { "Names of keys or subjects of tokens of this tenant. Whoever is emptied here is no member any more." }
            input type="hidden" name="members" value="1";
            ul data-grows { @for (position, member) in members.iter().chain([&nobody]).enumerate() {
                @let role = member["role"].as_str().unwrap_or("reader");
                li .row {
                    input .grow id=(format!("{form}-member-{position}")) name="member" value=(member["subject"].as_str().unwrap_or_default()) aria-label="Name of a member" autocomplete="off";
                    select name="role" aria-label="What this member may do" { @for (value, label) in ROLES {
                        option value=(value) selected[value == role] { (label) } } }
                }
            } }
        }
    }
}

/// Reads the members of a project in their order; nothing where the form does not ask.
pub(super) fn members(params: &Params) -> Option<Value> {
    params.get("members")?;
    let of = |wanted: &'static str| {
        params.pairs().filter(move |(name, _)| *name == wanted).map(|(_, value)| value)
    };
    let members: Vec<Value> = of("member")
        .zip(of("role").chain(std::iter::repeat("reader")))
        .map(|(subject, role)| (subject.trim(), role))
        .filter(|(subject, _)| !subject.is_empty())
        .map(|(subject, role)| json!({ "subject": subject, "role": role }))
        .collect();
    Some(Value::Array(members))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, &str)]) -> Params {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Params::new(pairs.iter().map(owned).collect())
    }

    #[test]
    fn a_form_that_does_not_ask_changes_nobody() {
        assert_eq!(shared_with(&given(&[("name", "x")])), None);
        assert_eq!(members(&given(&[("member", "ann"), ("role", "editor")])), None);
    }

    #[test]
    fn names_are_read_line_by_line_and_an_empty_field_takes_all_away() {
        let asked = given(&[("shared_users", " ann \r\n\r\nkey:bob, jr."), ("shared_groups", "")]);
        let expected = json!({ "users": ["ann", "key:bob, jr."], "groups": [] });
        assert_eq!(shared_with(&asked), Some(expected));
        let none = given(&[("shared_users", ""), ("shared_groups", " ")]);
        assert_eq!(shared_with(&none), Some(json!({ "users": [], "groups": [] })));
    }

    #[test]
    fn an_emptied_member_is_left_out_and_the_others_keep_their_roles() {
        let asked = given(&[
            ("members", "1"),
            ("member", "ann"),
            ("role", "editor"),
            ("member", " "),
            ("role", "editor"),
            ("member", " bob"),
            ("role", "reader"),
            ("member", ""),
            ("role", "reader"),
        ]);
        let expected = json!([
            { "subject": "ann", "role": "editor" },
            { "subject": "bob", "role": "reader" },
        ]);
        assert_eq!(members(&asked), Some(expected));
    }
}
