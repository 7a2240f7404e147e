//! Files of a database: paths, identity, shared memory, and the write-ahead log.

pub(super) mod database_path;
pub(super) mod file_guard;
pub(super) mod file_identity;
pub(super) mod shm_reader;
pub(super) mod wal_check;
pub(super) mod wal_frames;
