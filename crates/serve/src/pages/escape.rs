//! The one place where text is made safe for HTML.

pub(crate) use draw::escape;
