//! Ids, and texts and numbers within their limits.

use super::ObjectError;

/// Takes a UUID: ids of objects are not counted, so that none tells of another.
pub fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Takes a text that has a limit, in characters, without the space around it.
///
/// # Errors
///
/// [`ObjectError::TooLarge`].
pub fn bounded(what: &'static str, text: &str, allowed: usize) -> Result<String, ObjectError> {
    let text = text.trim();
    let received = text.chars().count();
    if received > allowed {
        return Err(ObjectError::TooLarge { what, received, allowed });
    }
    Ok(text.to_owned())
}

/// Takes a name that people read.
///
/// # Errors
///
/// [`ObjectError::TooLarge`], and [`ObjectError::BadRequest`] when it is blank.
pub fn named(text: &str, allowed: usize) -> Result<String, ObjectError> {
    let name = bounded("the length of `name`", text, allowed)?;
    if name.is_empty() {
        return Err(ObjectError::BadRequest { problem: "`name` must not be empty".to_owned() });
    }
    Ok(name)
}

/// Refuses one more than allowed.
///
/// # Errors
///
/// [`ObjectError::TooLarge`].
pub fn room_for(what: &'static str, n_now: usize, allowed: usize) -> Result<(), ObjectError> {
    if n_now < allowed {
        return Ok(());
    }
    Err(ObjectError::TooLarge { what, received: n_now + 1, allowed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_trimmed_and_counted_in_characters() {
        assert_eq!(bounded("it", "  äöü ", 3).unwrap(), "äöü");
        assert!(matches!(
            bounded("it", "äöü!", 3),
            Err(ObjectError::TooLarge { received: 4, allowed: 3, .. })
        ));
        assert!(matches!(named(" ", 3), Err(ObjectError::BadRequest { .. })));
        assert!(room_for("it", 2, 3).is_ok());
        assert!(matches!(room_for("it", 3, 3), Err(ObjectError::TooLarge { received: 4, .. })));
    }
}
