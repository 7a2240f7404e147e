//! Files that agents and people wrote between two calls of the program: the inbox and workspace files.

use crate::terminal_output::Output;
use heirloom_engine::Engine;
use heirloom_model::limits;
use std::time::Duration;

/// Ingests the inbox of a project. Failures are only reported: the command itself does not depend on them.
pub(super) fn sweep_inbox(engine: &Engine, out: &mut Output) {
    let time_limit = Duration::from_millis(limits::INBOX_COMMAND_MS);
    match engine.files().sweep_inbox(time_limit) {
        Ok(swept) => {
            if swept.remaining > 0 {
                out.talk(&format!(
                    "heirloom: {} files and more wait in the inbox: `heirloom watch` takes them in",
                    swept.remaining
                ));
            }
            for (name, why) in swept.failed {
                out.talk(&format!("heirloom: inbox/failed/{name}: {why}"));
            }
        }
        Err(fault) => {
            let message = format!("heirloom: the inbox was not read: {}", fault.message);
            out.talk(&message);
        }
    }
}

/// Syncs edited workspace files. Failures are only reported: the command itself does not depend on them.
pub(super) fn sync_workspace(engine: &Engine, out: &mut Output) {
    match engine.workspace().sync() {
        Ok(report) => (report.notes.iter()).for_each(|note| out.talk(&format!("heirloom: {note}"))),
        Err(fault) => {
            let message = format!("heirloom: workspace files were not read: {}", fault.message);
            out.talk(&message);
        }
    }
}
