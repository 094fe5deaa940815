//! Every limit of the write path, by name.

/// Documents that wait between two stages of the pipeline.
pub const MAX_WAITING_DOCUMENTS: usize = 16;
/// Passages that are written to the store in one commit; fewer when nothing else waits.
pub const PASSAGES_PER_COMMIT: usize = 16_000;
/// Text that is written to the store in one commit, in bytes.
pub const TEXT_BYTES_PER_COMMIT: usize = 16 << 20;
/// Documents that are written to the store in one commit.
pub const DOCUMENTS_PER_COMMIT: usize = 4_000;
/// Passages that are embedded and written in one step.
pub const PASSAGES_PER_EMBEDDING: usize = 64;
/// Warnings that a job keeps; more are counted.
pub const MAX_KEPT_WARNINGS: usize = 100;
/// Jobs that wait for their turn.
pub const MAX_QUEUED_JOBS: usize = 1_000;
/// Finished jobs that are remembered.
pub const MAX_FINISHED_JOBS: usize = 1_000;
/// How often a job is begun before it counts as failed.
pub const MAX_ATTEMPTS: u32 = 3;
