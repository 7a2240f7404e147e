//! Programs of PostgreSQL: where they are, and the user as which they run.

use crate::debian_packages;
use crate::unix_files::is_owned_by_superuser;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder in which Debian keeps the programs of each version.
const DEBIAN_VERSIONS: &str = "/usr/lib/postgresql";
/// User of Debian's package, as which the superuser starts the cluster.
pub(super) const DEBIAN_USER: &str = "postgres";

/// Returns the folder of PostgreSQL's programs, of the newest version. Installs Debian's package if no version is installed.
pub(super) fn find_or_install() -> Result<PathBuf, String> {
    if let Some(found) = installed_programs() {
        return Ok(found);
    }
    debian_packages::install(&["postgresql"])?;
    installed_programs().ok_or_else(|| {
        format!("no initdb in {DEBIAN_VERSIONS}/*/bin: install PostgreSQL 15 or newer")
    })
}

fn installed_programs() -> Option<PathBuf> {
    let versions = fs::read_dir(DEBIAN_VERSIONS).ok()?;
    versions
        .flatten()
        .map(|version| version.path())
        .filter(|version| version.join("bin/initdb").exists())
        .max_by_key(|version| {
            let name = version.file_name().and_then(|name| name.to_str());
            name.and_then(|name| name.parse::<u32>().ok())
        })
        .map(|version| version.join("bin"))
}

pub(super) fn is_superuser() -> bool {
    is_owned_by_superuser(Path::new("/proc/self"))
}

/// Returns a command that runs as an unprivileged user.
pub(super) fn unprivileged(program: &Path) -> Command {
    if !is_superuser() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args([
            "--reuid",
            DEBIAN_USER,
            "--regid",
            DEBIAN_USER,
            "--clear-groups",
            "--",
        ])
        .arg(program)
        .current_dir("/");
    command
}
