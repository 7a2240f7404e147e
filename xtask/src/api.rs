//! `api`: tests `heirloom serve` against its OpenAPI description with schemathesis.

use crate::cargo;
use crate::sandbox::{self, Sandbox};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command};

const HELP: &str = "\
usage: cargo xtask api [--heirloom PATH] [ARGS OF SCHEMATHESIS]

  --heirloom PATH   serve with this binary instead of building one
";

/// Endless event stream, which is excluded.
const ENDLESS: &str = "/api/events";

/// Runs the task; the error is the message for the developer.
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
        None => sandbox::build_heirloom()?,
    };
    let client = install_client()?;
    let desk = Sandbox::fresh(&binary, &cargo::target_dir()?.join("api/desk"))?;
    let token = desk.call_ok(&["token", "create", "--role", "admin"])?;
    let mut served = ApiServer::start(&desk)?;
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

/// Installs schemathesis in a virtual environment below `target`.
fn install_client() -> Result<PathBuf, String> {
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
struct ApiServer {
    child: Child,
    address: String,
}

impl ApiServer {
    fn start(desk: &Sandbox) -> Result<Self, String> {
        let mut command = desk.heirloom(&["serve", "--port", "0"]);
        let child = command.stderr(std::process::Stdio::null()).spawn();
        let mut child = child.map_err(|error| format!("cannot start the server: {error}"))?;
        let out = child.stdout.take().ok_or("the server has no output")?;
        let mut first = String::new();
        let read = BufReader::new(out).read_line(&mut first);
        read.map_err(|error| format!("the server printed nothing: {error}"))?;
        let address = first.trim().strip_prefix("listening on ");
        Ok(Self {
            address: address.ok_or("the server does not listen")?.to_owned(),
            child,
        })
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        // The process may have exited already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
