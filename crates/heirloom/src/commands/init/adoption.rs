//! Adoption of memories by `init`, from another project or folder, and identity decisions for copies.

use super::{Args, IdentityKind};
use crate::commands::import::print_diagnostics;
use crate::store_access::project_identity::shell_word;
use crate::store_access::{Adopted, CliSession, FoundProject, LostStore};
use heirloom_engine::CopyDecision;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use heirloom_model::text::counted;
use serde_json::{Value, json};

/// Result of the search for memories to adopt.
#[derive(Default)]
pub(super) struct Adoption {
    adopted: Option<Adopted>,
    /// Memories in the data folder whose projects no longer exist, if a new memory is created.
    lost: Vec<LostStore>,
}

impl Adoption {
    /// Finds the place of a memory in the data folder: the existing one, the requested one of a folder that no longer
    /// exists, else a new one.
    pub(super) fn find_user_place(
        args: &Args,
        place: ProjectPaths,
        session: &mut CliSession,
    ) -> Result<(ProjectPaths, Self), Fault> {
        let root = place.root;
        let place = session.user_stores().user_place(&root).ok_or_else(|| {
            Fault::failed("no data folder: neither XDG_DATA_HOME nor HOME is set").hint("set HOME")
        })?;
        let mut adoption = Self::default();
        let mut wanted = args.adopt.clone();
        if wanted.is_none() && !place.config.exists() {
            adoption.lost = session.user_stores().lost_stores();
            wanted = ask_for_adoption(args, &adoption.lost, session)?;
        }
        let Some(wanted) = wanted else {
            return Ok((place, adoption));
        };
        let (place, adopted) = session.adopt_user_store(&wanted, &root)?;
        adoption.adopted = Some(adopted);
        adoption.lost.clear();
        Ok((place, adoption))
    }

    /// Adopts another project of the same store on request, and decides the identity of a copy.
    pub(super) fn apply(
        &mut self,
        args: &Args,
        found: &FoundProject,
        session: &mut CliSession,
    ) -> Result<(), Fault> {
        if let Some(wanted) = args.adopt.as_ref().filter(|_| !args.user) {
            self.adopted = Some(session.adopt_project(found, wanted)?);
        }
        let decision = args.identity.map(|kind| match kind {
            IdentityKind::Same => CopyDecision::Same,
            IdentityKind::New => CopyDecision::New,
        });
        session.decide_identity(found, decision, args.yes)?;
        Ok(())
    }

    /// Adds `lost`, and `adopted` if a memory was adopted.
    pub(super) fn add_to(&self, value: &mut Value) {
        let lost = |store: &LostStore| {
            let folder = store.home.to_string_lossy();
            json!({"folder": folder, "records": store.records})
        };
        value["lost"] = self.lost.iter().map(lost).collect();
        if let Some(Adopted { from, report }) = &self.adopted {
            let left: Vec<_> = report.diagnostics.iter().map(|d| &d.message).collect();
            value["adopted"] = json!({
                "from": from,
                "records": report.created,
                "import": report.batch.map(|id| id.to_string()),
                "diagnostics": left,
            });
        }
    }

    /// Prints the result for a person.
    pub(super) fn print(&self, session: &mut CliSession) {
        if let Some(Adopted { from, report }) = &self.adopted {
            print_diagnostics(report, session);
            let records = report.created;
            session.out.line(&format!(
                "adopted the memory of {from}: {}",
                counted(records, "record", "records")
            ));
            if let Some(import) = report.batch {
                let hint = format!("  heirloom undo {import}   reverts it");
                session.out.talk(&hint);
            }
        }
        for store in &self.lost {
            let home = store.home.to_escaped().to_string();
            let records = counted(store.records, "record", "records");
            let typed = shell_word(&home);
            session.out.talk(&format!(
                "this is a new, empty memory; the data folder has a memory with {records} of {home}, which no longer exists. If this is the same project: heirloom init --user --adopt {typed}"
            ));
        }
    }
}

/// Asks at the terminal if the project is the one whose folder no longer exists, if there is exactly one such memory.
fn ask_for_adoption(
    args: &Args,
    lost: &[LostStore],
    session: &mut CliSession,
) -> Result<Option<String>, Fault> {
    let [store] = lost else { return Ok(None) };
    if args.yes || !session.out.can_ask() {
        return Ok(None);
    }
    let home = store.home.to_escaped().to_string();
    let records = counted(store.records, "record", "records");
    let question = format!(
        "Your data folder has a memory with {records} of {home}, which no longer exists. Is this the same project?"
    );
    let is_same = session.out.ask(&question)?;
    Ok(is_same.then(|| store.home.to_string_lossy().into_owned()))
}
