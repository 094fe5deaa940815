//! What counts as the same spelling of a name.
//!
//! [`spell`] keeps the letters a person wrote, case and the cedilla of old Romanian fonts aside;
//! `text::fold` also drops the diacritics. How words are cut from a name is in `token.rs`.

/// Gives the lower-case spelling with ș and ț in their comma form.
pub(crate) fn spell(name: &str) -> String {
    text::exact(name).chars().map(comma_below).collect()
}

fn comma_below(char: char) -> char {
    match char {
        'ş' => 'ș',
        'ţ' => 'ț',
        other => other,
    }
}
