//! Limits of the store: writes, readers, caches.

/// Maximum number of changes in one atomic write.
pub const CHANGES_MAX: usize = 10_000;
/// Maximum number of records that one `find` returns.
pub const FIND_MAX: usize = 1_000_000;
/// Records that `remember --stdin` and imports write in one durable batch.
pub const BATCH_RECORDS: usize = 256;
/// Maximum number of attempts to decide a write when other processes commit first.
pub const MERGE_RETRIES_MAX: usize = 100;
/// Busy timeout: maximum wait for the write lock, milliseconds.
pub const BUSY_TIMEOUT_MS: u64 = 30_000;
/// Maximum number of events that one query returns.
pub const EVENTS_MAX: usize = 10_000;
/// Page size of queries that filter by attributes, records.
pub const PAGE_RECORDS: usize = 1_000;
/// Additional connections of a store for concurrent readers.
pub const READERS_MAX: usize = 3;
/// Maximum number of writes in one group commit.
pub const WRITES_TOGETHER_MAX: usize = 128;
/// Maximum memory for the cached data of all projects of a store, bytes: those of 1.3 million texts.
pub const PROJECT_CACHE_BYTES_MAX: usize = 512 << 20;
/// Maximum number of vectors of one write, and of the texts that `reembed` stores together: each write lets other processes
/// read changed pages again, and an interrupt loses at most the work of two seconds.
pub const VECTORS_PER_WRITE_MAX: usize = 256;
