//! `heirloom ui`.

use super::serve::{ListenArgs, serve_until_interrupted};
use crate::platform;
use crate::store_access::CliSession;
use heirloom_model::{AccessRole, Fault};
use serde_json::json;
use std::process::{Command, Stdio};

/// Open the page of this project's memory, with a link that logs in once
///
/// If no server for this memory is running, one is started and runs until Ctrl-C. The link is printed, and opened in
/// the browser if one is known; it can be used once, within two minutes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    listen: ListenArgs,
    /// The role of the page: agent (reads), orchestrator, user or admin (deletes for good)
    #[arg(long, value_name = "ROLE", default_value = "user", value_parser = |given: &str| given.parse::<AccessRole>())]
    role: AccessRole,
    /// Print the link only
    #[arg(long)]
    no_open: bool,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let (role, opens_browser) = (args.role, !args.no_open);
    if let Some(address) = engine.maintenance().server_address()? {
        let login_secret = engine.maintenance().tokens().new_login(role)?;
        print_link(session, &address, &login_secret, opens_browser);
        return Ok(0);
    }
    drop(engine);
    serve_until_interrupted(&args.listen, session, |session, app, address| {
        let login_secret = app
            .served_engine()?
            .maintenance()
            .tokens()
            .new_login(role)?;
        print_link(session, address, &login_secret, opens_browser);
        Ok(())
    })
}

pub(super) fn print_link(
    session: &mut CliSession,
    address: &str,
    login_secret: &str,
    opens_browser: bool,
) {
    let link = format!("{address}/login?once={login_secret}");
    if session.out.json {
        session.out.value(&json!({ "link": link }));
        return;
    }
    session.out.line(&link);
    if opens_browser && session.out.shows_progress() {
        open_in_browser(&link);
    }
}

/// Opens the link in the desktop's browser. A failure is ignored, because the link is printed too.
fn open_in_browser(link: &str) {
    let mut browser = Command::new(platform::BROWSER_OPENER);
    browser.args(platform::BROWSER_OPENER_ARGS).arg(link);
    browser.stdin(Stdio::null());
    browser.stdout(Stdio::null()).stderr(Stdio::null());
    drop(browser.spawn());
}
