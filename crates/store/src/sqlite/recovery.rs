//! Recovery: offline check, restore from a backup, and repair or salvage of a damaged database.

mod database_replacement;
pub(super) mod offline_check;
pub(super) mod restore;
pub(super) mod salvage;
