//! Progress output while a store of an older version is migrated.

use crate::terminal_output::Output;
use heirloom_engine::{MigrationEvent, ProgressSink};
use heirloom_model::text::EscapedPath;
use heirloom_model::{limits, text};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::sync::Mutex;

/// Creates a sink that prints to standard error: lines at the beginning and at the end, and a progress bar on a
/// terminal that can rewrite a line.
pub(crate) fn progress_sink(out: &Output) -> ProgressSink {
    let has_bar = out.shows_progress();
    let (bar, progress) = (Mutex::new(None::<ProgressBar>), out.progress());
    ProgressSink::new(move |upgrade| {
        // Without the lock there is only no progress bar.
        let Ok(mut bar) = bar.lock() else { return };
        progress.end();
        match upgrade {
            MigrationEvent::Indexed { done, total } if has_bar => {
                let bar = bar.get_or_insert_with(|| new_bar(*total));
                bar.set_position(*done);
            }
            MigrationEvent::Indexed { .. } => {}
            MigrationEvent::Started { .. }
            | MigrationEvent::BackedUp(_)
            | MigrationEvent::Finished { .. }
            | MigrationEvent::Failed => {
                if let Some(bar) = bar.take() {
                    bar.finish_and_clear();
                }
                write_line(&describe_event(upgrade));
            }
        }
    })
}

fn new_bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::new(total);
    let template = "  indexing {wide_bar} {human_pos} of {human_len} {eta}";
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn describe_event(upgrade: &MigrationEvent) -> String {
    match upgrade {
        MigrationEvent::Started { from, to } => format!(
            "heirloom: this store is of an older version: bringing it from schema {from} to {to}"
        ),
        MigrationEvent::BackedUp(copy) => format!(
            "  a copy of it as it was, kept for {} days: {}",
            limits::RETAINED_BACKUP_DAYS,
            copy.to_escaped()
        ),
        MigrationEvent::Finished { texts: 1 } => {
            "heirloom: the store is up to date, 1 text indexed".to_owned()
        }
        MigrationEvent::Finished { texts } => {
            format!("heirloom: the store is up to date, {texts} texts indexed")
        }
        MigrationEvent::Failed => {
            "heirloom: that failed: the store is as it was, and the copy is removed".to_owned()
        }
        MigrationEvent::Indexed { done, total } => format!("  {done} of {total}"),
    }
}

fn write_line(line: &str) {
    // A closed standard error is ignored: there is no other place to report to.
    let _ = writeln!(std::io::stderr(), "{}", text::replace_control_chars(line));
}
