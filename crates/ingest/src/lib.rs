//! The write path: source, extract, chunk, embed, store, as jobs with progress.
