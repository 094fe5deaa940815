//! A place in a text, known in bytes and in characters at once, that moves in steps.
//!
//! Counting characters from the start for every cut would be quadratic; a cursor only ever
//! counts what it walks over.

/// A place between two characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Cursor {
    pub(crate) byte: usize,
    pub(crate) char: usize,
}

impl Cursor {
    /// Moves forward by some characters, or to the end.
    pub(crate) fn forward(self, text: &str, n_chars: usize) -> Cursor {
        let mut cursor = self;
        for char in text.get(self.byte..).unwrap_or_default().chars().take(n_chars) {
            cursor.byte += char.len_utf8();
            cursor.char += 1;
        }
        cursor
    }

    /// Moves back by some characters, or to the start.
    pub(crate) fn back(self, text: &str, n_chars: usize) -> Cursor {
        let mut cursor = self;
        for char in text.get(..self.byte).unwrap_or_default().chars().rev().take(n_chars) {
            cursor.byte -= char.len_utf8();
            cursor.char -= 1;
        }
        cursor
    }

    /// Moves to a byte that is not before this place.
    ///
    /// Invariant: `byte` is at or after the cursor, and between two characters.
    pub(crate) fn advance_to(self, text: &str, byte: usize) -> Cursor {
        debug_assert!(byte >= self.byte && text.is_char_boundary(byte));
        let n_chars = text.get(self.byte..byte).map_or(0, |walked| walked.chars().count());
        Cursor { byte, char: self.char + n_chars }
    }

    /// Moves to a byte that is not after this place.
    ///
    /// Invariant: `byte` is at or before the cursor, and between two characters.
    pub(crate) fn retreat_to(self, text: &str, byte: usize) -> Cursor {
        debug_assert!(byte <= self.byte && text.is_char_boundary(byte));
        let n_chars = text.get(byte..self.byte).map_or(0, |walked| walked.chars().count());
        Cursor { byte, char: self.char - n_chars }
    }

    /// Moves back a little where a cut would part a letter from its accent or an emoji from its
    /// other half; stays after `floor`.
    pub(crate) fn off_cluster(self, text: &str, floor: Cursor) -> Cursor {
        /// No cluster worth keeping together is longer.
        const MAX_STEPS: usize = 16;
        let mut cursor = self;
        for _ in 0..MAX_STEPS {
            let next = text.get(cursor.byte..).and_then(|tail| tail.chars().next());
            let previous = text.get(..cursor.byte).and_then(|head| head.chars().next_back());
            let joins = next.is_some_and(is_joined) || previous == Some('\u{200d}');
            if !joins {
                return cursor;
            }
            cursor = cursor.back(text, 1);
            if cursor.byte <= floor.byte {
                return self;
            }
        }
        self
    }
}

/// Characters that belong to the one before them: accents, voicing marks, emoji modifiers.
fn is_joined(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}' | '\u{3099}'..='\u{309a}' | '\u{ff9e}'..='\u{ff9f}'
        | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{93a}'..='\u{94f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}'
        | '\u{64b}'..='\u{65f}' | '\u{5b0}'..='\u{5bd}')
}
