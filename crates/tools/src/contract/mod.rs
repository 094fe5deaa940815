//! What every tool is held to: its description and its errors as one page, kept as a snapshot,
//! and the services that its own errors come from.

mod blank;
mod fixture;
mod page;
mod walks;
mod walks_to_the_end;

pub(crate) use fixture::{Away, Fixture};
pub(crate) use page::{assert_holds_none_of, page};
