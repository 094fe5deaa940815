//! What counts as the same word, sentence, secret or number, in any language.
