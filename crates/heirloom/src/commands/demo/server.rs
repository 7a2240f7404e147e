//! `heirloom demo --serve`: fills a memory with a week of example work and serves its page.

use super::example_recorder;
use crate::commands::serve::{ListenArgs, serve_until_interrupted};
use crate::commands::ui;
use crate::store_access::{self, CliSession};
use heirloom_fs::project_fs::{CONFIG_FILE, HEIRLOOM_FOLDER};
use heirloom_model::{AccessRole, Fault};
use std::path::Path;

/// Fills `folder`, or a temporary one, and serves it until Ctrl-C.
pub(super) fn run(folder: Option<&Path>, port: u16, session: &mut CliSession) -> Result<u8, Fault> {
    let temporary = match folder {
        Some(_) => None,
        None => Some(store_access::temporary_folder("heirloom-week-")?),
    };
    let root = match (&temporary, folder) {
        (Some(temporary), _) => temporary.path(),
        (None, Some(folder)) => folder,
        (None, None) => return Err(Fault::failed("there is no folder")),
    };
    let memory = root.join(HEIRLOOM_FOLDER);
    let is_new = !memory.exists();
    if is_new {
        store_access::create_folder(&memory)?;
        store_access::write_file(
            &memory.join(CONFIG_FILE),
            b"[project]\nname = \"fernpost\"\n\n[memory]\nenabled = true\n",
        )?;
    }
    session.use_own_memory_of(root)?;
    if is_new {
        session
            .out
            .talk("Filling a memory with a week of invented example work.");
        example_recorder::fill(session, root)?;
    }
    serve_until_interrupted(
        &ListenArgs::on_port(port),
        session,
        |session, app, address| {
            let login_secret = app
                .served_engine()?
                .maintenance()
                .tokens()
                .new_login(AccessRole::Admin)?;
            ui::print_link(session, address, &login_secret, false);
            Ok(())
        },
    )
}
