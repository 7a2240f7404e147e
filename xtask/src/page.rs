//! `page`: a real browser on the page, over the week of `heirloom demo --serve`.
//!
//! Every page with and without a script, light and dark, at three widths: axe, the console, the width; each edit and its
//! undo; two tabs. Debian's chromium is used, and installed where it is missing; the packages go below `target/page`.
#![expect(
    clippy::disallowed_methods,
    reason = "what is written can be written again"
)]

use crate::cargo;
use crate::desk;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The packages that drive the browser, at pinned versions.
const PINNED: [&str; 2] = ["playwright-core@1.65.1", "@axe-core/playwright@4.14.0"];
/// Where Debian puts it.
const CHROMIUM: &str = "/usr/bin/chromium";

const HELP: &str = "\
usage: cargo xtask page [--heirloom PATH]

  --heirloom PATH  this binary instead of building one
";

/// Runs the chore; the error is what to tell the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let binary = match args {
        [] => desk::build_heirloom()?,
        [option, path] if option == "--heirloom" => PathBuf::from(path)
            .canonicalize()
            .map_err(|error| format!("--heirloom: {error}"))?,
        [option] if option == "--help" || option == "-h" => {
            print!("{HELP}");
            return Ok(());
        }
        _ => return Err(format!("what is `{}`?\n{HELP}", args.join(" "))),
    };
    let folder = cargo::target_dir()?.join("page");
    packages(&folder)?;
    chromium()?;
    // Outside of this repository: inside of it the memory would be the repository's.
    let project = std::env::temp_dir().join(format!("heirloom-page-{}", std::process::id()));
    std::fs::create_dir_all(&project)
        .map_err(|error| format!("cannot create {}: {error}", project.display()))?;
    let (server, link) = served(&binary, &project)?;
    let shots = folder.join("shots");
    let script = cargo::root().join("crates/server/tests/browser/page.mjs");
    let mut node = Command::new("node");
    node.arg(script)
        .arg(link)
        .arg(&shots)
        .arg(CHROMIUM)
        .env("PAGE_PACKAGES", folder.join("node_modules"));
    let outcome = cargo::run(&mut node);
    drop(server);
    std::fs::remove_dir_all(&project)
        .map_err(|error| format!("cannot remove {}: {error}", project.display()))?;
    println!("pictures: {}", shots.display());
    outcome
}

/// Ends with the value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The week, served; and the link that logs in.
fn served(binary: &Path, project: &Path) -> Result<(Server, String), String> {
    let mut child = Command::new(binary)
        .args(["demo", "--serve", "--folder"])
        .arg(project)
        .env("HOME", project)
        .env_remove("XDG_CONFIG_HOME")
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", binary.display()))?;
    let out = child.stdout.take();
    let server = Server(child);
    for line in out.into_iter().flat_map(|out| BufReader::new(out).lines()) {
        let line = line.map_err(|error| format!("the server says nothing: {error}"))?;
        if line.contains("/login?once=") {
            return Ok((server, line));
        }
    }
    Err("the server ended before it told its link".to_owned())
}

fn packages(folder: &Path) -> Result<(), String> {
    let stamp = folder.join("installed");
    let wanted = PINNED.join(" ");
    if std::fs::read_to_string(&stamp).unwrap_or_default() == wanted {
        return Ok(());
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
    std::fs::write(&stamp, wanted)
        .map_err(|error| format!("cannot write {}: {error}", stamp.display()))
}

/// Debian's browser, installed where it is missing and somebody may.
fn chromium() -> Result<(), String> {
    if Path::new(CHROMIUM).exists() {
        return Ok(());
    }
    cargo::run(Command::new("apt-get").args(["update", "-qq"]))?;
    cargo::run(Command::new("apt-get").args([
        "install",
        "-y",
        "-qq",
        "--no-install-recommends",
        "chromium",
        "fonts-liberation",
    ]))
}
