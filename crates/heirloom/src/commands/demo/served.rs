//! `heirloom demo --serve`: a week of plausible work, and the page that shows it.

use super::week;
use crate::commands::serve::{At, run_at};
use crate::commands::ui;
use crate::open::{self, Session};
use heirloom_engine::places::{CONFIG_FILE, OWN_FOLDER};
use heirloom_model::{AccessRole, Fault};
use std::path::Path;

/// Fills `folder`, or a temporary one, and serves it until Ctrl-C.
pub(super) fn run(folder: Option<&Path>, port: u16, session: &mut Session) -> Result<u8, Fault> {
    let temporary = match folder {
        Some(_) => None,
        None => Some(open::temporary_folder("heirloom-week-")?),
    };
    let root = match (&temporary, folder) {
        (Some(temporary), _) => temporary.path(),
        (None, Some(folder)) => folder,
        (None, None) => return Err(Fault::failed("there is no folder")),
    };
    let memory = root.join(OWN_FOLDER);
    let is_new = !memory.exists();
    if is_new {
        open::create_folder(&memory)?;
        open::write_file(
            &memory.join(CONFIG_FILE),
            b"[project]\nname = \"fernpost\"\n\n[memory]\nenabled = true\n",
        )?;
    }
    session.begin_apart(root)?;
    if is_new {
        session
            .out
            .talk("Filling a memory with a week of plausible work; nothing of it is real.");
        week::fill(session, root)?;
    }
    run_at(&At::port(port), session, |session, app, address| {
        let once = app.served()?.tokens().new_login(AccessRole::Admin)?;
        ui::tell(session, address, &once, false);
        Ok(())
    })
}
