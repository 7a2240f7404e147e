//! Checks of `heirloom doctor` and of the health page.

use crate::hook_installation::HookStatus;
use crate::store_access::{CliSession, project_identity};
use heirloom_engine::{Doctor, HealthCheck};
use heirloom_model::Fault;

/// Runs all checks without changes: of the memory, the project's identity and the hooks.
pub(crate) fn examine(doctor: &Doctor, session: &CliSession) -> Result<Vec<HealthCheck>, Fault> {
    let mut checks = doctor.examine();
    let state = session.identity_state(&doctor.place);
    checks.push(project_identity::check(&state));
    let start = session.start_folder()?;
    checks.push(HookStatus::load(&session.env, &start, &doctor.place.folder).check());
    Ok(checks)
}
