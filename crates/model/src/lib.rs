//! The words of the domain: who calls, what a passage is, where it is in its source, how a
//! hit explains itself.
//!
//! This crate does no I/O, knows no clock of its own and has no async. Every other crate speaks
//! in these types, so that a caller, a pointer or a score means the same thing everywhere.
//!
//! ```
//! use model::{Access, Caller, Clearance, Pointer};
//!
//! let caller = Caller::local_admin();
//! assert!(caller.may_use(&Access::everyone()));
//! assert!(caller.clearance >= Clearance::Internal);
//!
//! let pointer: Pointer = "slide 7".parse().unwrap();
//! assert_eq!(pointer, Pointer::Slide(7));
//! assert_eq!(pointer.to_string(), "slide 7");
//! ```
#![doc(test(attr(deny(warnings))))]

mod access;
mod caller;

mod ids;
mod pointer;
mod span;

mod around;
mod attributes;
mod block;
mod delimiter;
mod outcome;
mod passage;

mod hit;
mod score;
mod warning;

mod calendar;
mod causes;
mod clock;
mod column_names;
mod deadline;
mod hex;
mod json_pointer;
mod percent;
mod report;
mod split_mix;
mod waiting;

pub use access::{Access, Clearance, UnknownClearance};
pub use around::Around;
pub use attributes::{AttributeValue, Attributes};
pub use block::{BLOCK_SEPARATOR, Block, BlockKind};
pub use calendar::{date_of_day, day_of_date, in_utc, iso_millis, parse_iso, parse_with_offset};
pub use caller::{Caller, Identity};
pub use causes::{causes, with_causes};
pub use clock::{Clock, Timestamp, iso, iso_seconds};
pub use column_names::{
    CELL_MEMBERS, HEADING_MEMBERS, KEYED_MEMBERS, NAMING_MEMBERS, SCHEMA_MEMBERS, VALUE_MEMBERS,
    is_member_of, names_columns,
};
pub use deadline::Deadline;
pub use delimiter::{MAX_LINES_ABOVE, declared_delimiter, guess_delimiter};
pub use hex::hex;
pub use hit::{Chance, Explanation, Hit, Stage, StageScore};
pub use ids::{DocumentId, IdText, NamespaceId, PassageId, TenantId};
pub use json_pointer::{pointer_name, pointer_of_path, pointer_token};
pub use outcome::{ReadOutcome, UnknownOutcome};
pub use passage::Passage;
pub use percent::percent_decoded;
pub use pointer::{BadPointer, Pointer};
pub use report::{Figure, Report};
pub use score::Score;
pub use span::Span;
pub use split_mix::SplitMix64;
pub use waiting::{Lender, while_waiting, with_lender};
pub use warning::Warning;
