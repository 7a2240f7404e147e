//! npm packages of the suite, at pinned versions.
#![expect(
    clippy::disallowed_methods,
    reason = "what is written can be written again"
)]

use crate::cargo;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Packages: the suite, the inspector, the reference server, and a Node.js that runs them.
const PINNED: [&str; 4] = [
    "@modelcontextprotocol/conformance@0.1.16",
    "@modelcontextprotocol/inspector@0.15.0",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "node@22.23.3",
];

/// Installed packages.
pub(super) struct Packages {
    folder: PathBuf,
}

impl Packages {
    /// Installs the packages unless they are present.
    pub(super) fn ensure(folder: &Path) -> Result<Self, String> {
        let packages = Self {
            folder: folder.to_owned(),
        };
        let stamp = folder.join("installed");
        let wanted = PINNED.join(" ");
        if std::fs::read_to_string(&stamp).unwrap_or_default() == wanted {
            return Ok(packages);
        }
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--loglevel", "error"])
            .arg("--prefix")
            .arg(folder)
            .args(PINNED)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        cargo::run(&mut npm)?;
        if !packages.node().is_file() {
            return Err(format!("npm installed no {}", packages.node().display()));
        }
        std::fs::write(&stamp, wanted)
            .map_err(|error| format!("cannot write {}: {error}", stamp.display()))?;
        Ok(packages)
    }

    /// Returns the installed Node.js; the suite needs a newer one than many machines have.
    pub(super) fn node(&self) -> PathBuf {
        self.folder.join("node_modules/node/bin/node")
    }

    /// Returns the path of a script of a package.
    pub(super) fn script(&self, name: &str) -> PathBuf {
        let scripts = self.folder.join("node_modules/@modelcontextprotocol");
        scripts.join(name)
    }

    /// Returns a command that runs a script.
    pub(super) fn call(&self, script: &str) -> Command {
        let mut command = Command::new(self.node());
        command
            .arg(self.script(script))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}
