//! `page`: tests the web page of `heirloom demo --serve` in a real browser.
//!
//! Each page with and without JavaScript, light and dark, at four widths: axe, also with the palette open, console errors,
//! overflow, layout shift; each edit and its undo; two tabs; a slow network; 100,000 records; the pages in Firefox. Uses Debian's chromium and
//! firefox-esr and installs them if necessary; npm packages are installed below `target/page`.
#![expect(
    clippy::disallowed_methods,
    reason = "what is written can be written again"
)]

mod large_memory;

use crate::cargo;
use crate::debian_packages;
use crate::sandbox;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// npm packages that control the browser, at pinned versions.
const PINNED: [&str; 4] = [
    "playwright-core@1.65.1",
    "@axe-core/playwright@4.14.0",
    "puppeteer-core@24.43.1",
    "axe-core@4.14.1",
];
/// Script that opens every page and takes the screenshots.
const PAGES: &str = "page.mjs";
/// Script that opens every page in Firefox.
const FIREFOX_PAGES: &str = "firefox.mjs";
/// Script that opens the pages of a memory with 100,000 records.
const LARGE_MEMORY: &str = "large.mjs";
/// Scripts of the browser test: all pages, the knowledge page, tasks of users with their numbers of steps, a large memory,
/// and all pages in the second browser.
const SCRIPTS: [&str; 5] = [
    PAGES,
    "knowledge.mjs",
    "walks.mjs",
    LARGE_MEMORY,
    FIREFOX_PAGES,
];
/// Path of Debian's Chromium.
const CHROMIUM: &str = "/usr/bin/chromium";
/// Path of Debian's Firefox.
const FIREFOX: &str = "/usr/bin/firefox-esr";

const HELP: &str = "\
usage: cargo xtask page [--heirloom PATH]

  --heirloom PATH  this binary instead of building one
";

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let binary = match args {
        [] => sandbox::build_heirloom()?,
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
    install_browser(CHROMIUM, "chromium")?;
    install_browser(FIREFOX, "firefox-esr")?;
    // Outside this repository, whose memory the project would share otherwise.
    let project = std::env::temp_dir().join(format!("heirloom-page-{}", std::process::id()));
    std::fs::create_dir_all(&project)
        .map_err(|error| format!("cannot create {}: {error}", project.display()))?;
    let shots = folder.join("shots");
    let mut outcomes = Vec::new();
    for (at, script) in SCRIPTS.into_iter().enumerate() {
        // Each script gets a project of its own, because it changes what the next one looks for.
        let project = project.join(at.to_string());
        std::fs::create_dir_all(&project)
            .map_err(|error| format!("cannot create {}: {error}", project.display()))?;
        let (server, link) = start_server(&binary, &project)?;
        if script == LARGE_MEMORY {
            large_memory::import(&binary, &project)?;
        }
        let mut node = Command::new("node");
        node.arg(
            cargo::root()
                .join("crates/server/tests/browser")
                .join(script),
        )
        .arg(link);
        if script == PAGES {
            node.arg(&shots).arg(CHROMIUM);
        }
        if script == FIREFOX_PAGES {
            node.arg(FIREFOX);
        }
        node.env("PAGE_PACKAGES", folder.join("node_modules"));
        outcomes.push(cargo::run(&mut node));
        drop(server);
    }
    std::fs::remove_dir_all(&project)
        .map_err(|error| format!("cannot remove {}: {error}", project.display()))?;
    println!("pictures: {}", shots.display());
    outcomes.into_iter().collect()
}

/// Server process that is killed on drop.
struct PageServer(Child);

impl Drop for PageServer {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Starts the server; returns its login link.
fn start_server(binary: &Path, project: &Path) -> Result<(PageServer, String), String> {
    let mut child = Command::new(binary)
        .args(["demo", "--serve", "--folder"])
        .arg(project)
        .env("HOME", project)
        .env_remove("XDG_CONFIG_HOME")
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", binary.display()))?;
    let out = child.stdout.take();
    let server = PageServer(child);
    for line in out.into_iter().flat_map(|out| BufReader::new(out).lines()) {
        let line = line.map_err(|error| format!("the server printed nothing: {error}"))?;
        if line.contains("/login?once=") {
            return Ok((server, line));
        }
    }
    Err("the server exited before it printed its link".to_owned())
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

/// Installs a browser of Debian if it is missing and the user has the right to.
fn install_browser(path: &str, package: &str) -> Result<(), String> {
    if Path::new(path).exists() {
        return Ok(());
    }
    debian_packages::install(&[package, "fonts-liberation"])
}
