//! What a person sees while a store of an older version is brought up to date.

use crate::output::Output;
use heirloom_engine::{Teller, Upgrade};
use heirloom_model::{limits, text};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::sync::Mutex;

/// Tells on standard error: lines at the beginning and at the end, and between them a bar on a terminal that
/// can rewrite a line.
pub(crate) fn teller(out: &Output) -> Teller {
    let has_bar = out.shows_progress();
    let bar = Mutex::new(None::<ProgressBar>);
    Teller::new(move |upgrade| {
        // Held by nobody who could panic; without it there is only no bar.
        let Ok(mut bar) = bar.lock() else { return };
        match upgrade {
            Upgrade::Indexed { done, total } if has_bar => {
                let bar = bar.get_or_insert_with(|| new_bar(*total));
                bar.set_position(*done);
            }
            Upgrade::Indexed { .. } => {}
            Upgrade::Begun { .. }
            | Upgrade::Copied(_)
            | Upgrade::Ended { .. }
            | Upgrade::Failed => {
                if let Some(bar) = bar.take() {
                    bar.finish_and_clear();
                }
                say(&line(upgrade));
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

fn line(upgrade: &Upgrade) -> String {
    match upgrade {
        Upgrade::Begun { from, to } => format!(
            "heirloom: this store is of an older version: bringing it from schema {from} to {to}"
        ),
        Upgrade::Copied(copy) => format!(
            "  a copy of it as it was, kept for {} days: {}",
            limits::COPIES_KEPT_DAYS,
            copy.display()
        ),
        Upgrade::Ended { texts: 1 } => {
            "heirloom: the store is up to date, 1 text indexed".to_owned()
        }
        Upgrade::Ended { texts } => {
            format!("heirloom: the store is up to date, {texts} texts indexed")
        }
        Upgrade::Failed => {
            "heirloom: that failed: the store is as it was, and the copy is removed".to_owned()
        }
        Upgrade::Indexed { done, total } => format!("  {done} of {total}"),
    }
}

fn say(line: &str) {
    // Nobody is left to tell when standard error is gone.
    let _ = writeln!(std::io::stderr(), "{}", text::printable(line));
}
