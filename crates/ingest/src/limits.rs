//! Every limit of the write path, by name.

use std::time::Duration;

/// Documents that wait between two stages of the pipeline.
pub const MAX_WAITING_DOCUMENTS: usize = 16;
/// Bytes of documents that wait between two stages; a single document may be larger.
pub const MAX_WAITING_BYTES: usize = 128 << 20;
/// Bytes of text that wait to be written; a single document may have more.
pub const MAX_WAITING_TEXT_BYTES: usize = 16 << 20;
/// How long a stage that waits goes without asking whether the run was cancelled.
pub const CANCEL_STEP: Duration = Duration::from_millis(100);
/// Documents that are listed at once.
pub const DOCUMENTS_PER_PAGE: usize = 1_000;
/// How often a change is tried again when someone else changed the same object.
pub const MAX_TRIES: usize = 50;
/// Passages that are written to the store in one commit; fewer when nothing else waits.
pub const PASSAGES_PER_COMMIT: usize = 16_000;
/// Text that is written to the store in one commit, in bytes. While it is written it is in memory
/// several times over: as passages, as entries of the index, as postings.
pub const TEXT_BYTES_PER_COMMIT: usize = 16 << 20;
/// Documents that are written to the store in one commit.
pub const DOCUMENTS_PER_COMMIT: usize = 4_000;
/// How long one commit of many documents should take: whoever writes beside it waits so long.
pub const LONGEST_COMMIT: Duration = Duration::from_millis(400);
/// Passages that are embedded and written in one step.
pub const PASSAGES_PER_EMBEDDING: usize = 64;
/// Texts whose vectors are remembered while passages wait for theirs, so that a text which comes
/// again is embedded once.
pub const MAX_REMEMBERED_TEXTS: usize = 2_048;
/// Vectors that queries made and that are not stored yet: thirty kilobytes each at most.
pub const MAX_FRESH_VECTORS: usize = 512;
/// Passages that people asked for and that wait for their vectors.
pub const MAX_WANTED_PASSAGES: usize = 256;
/// Namespaces that people asked last and whose passages get their vectors before others.
pub const MAX_ASKED_NAMESPACES: usize = 64;
/// Events of watched folders that wait to be gathered.
pub const MAX_WAITING_EVENTS: usize = 10_000;
/// Changed paths that are told one by one; of more, their folders are told, and what changed in
/// them is looked for.
pub const MAX_CHANGED_PATHS: usize = 500;
/// Warnings that a job keeps; more are counted.
pub const MAX_KEPT_WARNINGS: usize = 100;
/// Jobs that wait for their turn.
pub const MAX_QUEUED_JOBS: usize = 1_000;
/// Finished jobs that are remembered.
pub const MAX_FINISHED_JOBS: usize = 1_000;
/// How long others may join a job that runs: whoever waits for the end of theirs gets it though
/// more arrives all the time.
pub const JOIN_LIMIT: Duration = Duration::from_secs(5);
/// How often the process may end while a job runs before its documents are taken in small groups
/// that are written down, so that the one that ends the process can be found.
pub const CRASHES_BEFORE_GROUPS: u32 = 3;
/// Documents of the first such group.
pub const DOCUMENTS_PER_GROUP: usize = 64;
/// A group during which the process ended is divided into so many.
pub const GROUP_PARTS: usize = 8;
/// How long a process has to live before it tries a document alone again over which one has ended:
/// whoever ends processes from outside, soon after they start, says nothing about the document.
pub const CALM_BEFORE_SUSPECT: Duration = Duration::from_secs(2);
/// How often the process may end over a document alone before the document is left out.
pub const CRASHES_PER_DOCUMENT: u32 = 3;
/// How often a job may end by a failure that can pass before it counts as failed.
pub const MAX_ATTEMPTS: u32 = 3;
/// How long a job rests after its first attempt that failed by something that may pass.
pub const FIRST_REST: Duration = Duration::from_millis(500);
/// How much longer it rests after each further one.
pub const REST_GROWTH: u32 = 4;
