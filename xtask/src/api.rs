//! `api`: a real client, schemathesis, reads the API's description and tries to find where it does not hold.

use crate::cargo;
use crate::desk::{self, Desk};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command};

const HELP: &str = "\
usage: cargo xtask api [--heirloom PATH] [ARGS OF SCHEMATHESIS]

  --heirloom PATH   serve with this binary instead of building one
";

/// What is not asked for: it never ends.
const ENDLESS: &str = "/api/events";

/// Runs the chore; the error is what to tell the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let mut binary = None;
    let mut rest = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" | "-h" => {
                print!("{HELP}");
                return Ok(());
            }
            "--heirloom" => {
                let path = PathBuf::from(args.next().ok_or(HELP)?);
                let path = path.canonicalize();
                binary = Some(path.map_err(|error| format!("--heirloom: {error}"))?);
            }
            other => rest.push(other.to_owned()),
        }
    }
    let binary = match binary {
        Some(binary) => binary,
        None => desk::build_heirloom()?,
    };
    let client = client()?;
    let desk = Desk::fresh(&binary, &cargo::target_dir()?.join("api/desk"))?;
    let token = desk.done(&["token", "create", "--role", "admin"])?;
    let mut served = Served::start(&desk)?;
    let mut asking = Command::new(client);
    asking
        .args(["run", &format!("{}/openapi.json", served.address)])
        .args(["-H", &format!("Authorization: Bearer {}", token.trim())])
        .args(["--exclude-path", ENDLESS])
        .args(rest)
        .current_dir(desk.temp());
    let found = cargo::run(&mut asking);
    let ended = served.child.try_wait();
    drop(served);
    match (found, ended) {
        (Ok(()), Ok(None)) => desk.remove(),
        (Err(found), _) => Err(found),
        (Ok(()), _) => Err("the server ended meanwhile".to_owned()),
    }
}

/// The client, in an environment of its own below `target`.
fn client() -> Result<PathBuf, String> {
    let folder = cargo::target_dir()?.join("api/venv");
    let client = folder.join("bin/schemathesis");
    if !client.is_file() {
        cargo::run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut installing = Command::new(folder.join("bin/pip"));
        cargo::run(installing.args(["install", "--quiet", "schemathesis"]))?;
    }
    Ok(client)
}

/// A server that runs until it is dropped.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(desk: &Desk) -> Result<Self, String> {
        let mut command = desk.heirloom(&["serve", "--port", "0"]);
        let child = command.stderr(std::process::Stdio::null()).spawn();
        let mut child = child.map_err(|error| format!("cannot start the server: {error}"))?;
        let out = child.stdout.take().ok_or("the server has no output")?;
        let mut first = String::new();
        let read = BufReader::new(out).read_line(&mut first);
        read.map_err(|error| format!("the server says nothing: {error}"))?;
        let address = first.trim().strip_prefix("listening on ");
        Ok(Self {
            address: address.ok_or("the server does not listen")?.to_owned(),
            child,
        })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
