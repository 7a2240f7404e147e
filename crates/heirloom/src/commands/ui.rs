//! `heirloom ui`.

use super::serve::{At, run_at};
use crate::open::Session;
use heirloom_model::{AccessRole, Fault};
use serde_json::json;
use std::process::{Command, Stdio};

/// Open the page of this project's memory, by a link that logs in once
///
/// A server that runs for this memory is used; else one is started, and runs until Ctrl-C. The link is printed, and
/// opened in the browser where one is known; it can be used once, within two minutes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    at: At,
    /// What the page may: agent (reads), orchestrator, user or admin (deletes for good)
    #[arg(long, value_name = "ROLE", default_value = "user", value_parser = |given: &str| given.parse::<AccessRole>())]
    role: AccessRole,
    /// Print the link only
    #[arg(long)]
    no_open: bool,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let (role, is_shown) = (args.role, !args.no_open);
    if let Some(address) = engine.served_at()? {
        let once = engine.tokens().new_login(role)?;
        tell(session, &address, &once, is_shown);
        return Ok(0);
    }
    drop(engine);
    run_at(&args.at, session, |session, app, address| {
        let once = app.served()?.tokens().new_login(role)?;
        tell(session, address, &once, is_shown);
        Ok(())
    })
}

pub(super) fn tell(session: &mut Session, address: &str, once: &str, is_shown: bool) {
    let link = format!("{address}/login?once={once}");
    if session.out.json {
        session.out.value(&json!({ "link": link }));
        return;
    }
    session.out.line(&link);
    if is_shown && session.out.shows_progress() {
        show(&link);
    }
}

/// Opens the link in the browser of this desktop. Where there is none, the person has the link.
fn show(link: &str) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut opening = Command::new(opener);
    opening.arg(link).stdin(Stdio::null());
    opening.stdout(Stdio::null()).stderr(Stdio::null());
    drop(opening.spawn());
}
