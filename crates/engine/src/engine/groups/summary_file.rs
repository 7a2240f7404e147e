//! Summary file of a group, rewritten under the lock of the group.

use super::{Groups, LOCK, SUMMARY, file_cache};
use heirloom_fs::durable;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};

impl Groups<'_> {
    /// Rewrites the group's summary with `change` under the lock; `None` changes nothing.
    pub(in crate::engine) fn change_summary(
        &self,
        group: &str,
        change: impl FnOnce(&str) -> Option<String>,
    ) -> Result<(), Fault> {
        self.engine.require_memory()?;
        let folder = self.group_folder(group)?;
        durable::create_dir_private(&folder)?;
        let lock = durable::lock(&folder.join(LOCK), limits::FILE_LOCK_MS)?;
        let path = folder.join(SUMMARY);
        let file = file_cache::read(&path).map_err(Fault::refused)?;
        if file.as_ref().is_some_and(|file| file.cut_bytes > 0) {
            return Err(Fault::refused(format!(
                "{} is too large",
                path.to_escaped()
            )));
        }
        let page = file.map(|file| file.text).unwrap_or_default();
        if let Some(changed) = change(&page) {
            durable::write_atomic(&path, changed.as_bytes())?;
        }
        drop(lock);
        Ok(())
    }
}
