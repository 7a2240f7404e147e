//! Files that agents and people wrote between two calls of the program: the inbox and workspace files.

use crate::terminal_output::Output;
use heirloom_engine::Engine;

/// Ingests the inbox of a project. Failures are only reported: the command itself does not depend on them.
pub(super) fn sweep_inbox(engine: &Engine, out: &mut Output) {
    match engine.files().sweep_inbox() {
        Ok(swept) => {
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
