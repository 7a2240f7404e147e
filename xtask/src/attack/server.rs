//! `server`: attacks on a running `heirloom serve` by pages of other origins, foreign readers and slow clients.

mod event_readers;
mod foreign_pages;
mod http;
mod slow_clients;

use crate::cargo;
use crate::sandbox::{self, Sandbox};
use http::{AttackRequest, Reply};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Stdio};

/// Number of slow clients.
const CLIENTS: usize = 240;

/// Result of one attack.
struct AttackReport {
    attack: &'static str,
    tries: usize,
    /// Descriptions of the tries that succeeded.
    successes: Vec<String>,
    figures: String,
}

/// Running server with a token of the role `orchestrator`.
struct RunningServer<'d> {
    desk: &'d Sandbox,
    child: Child,
    address: SocketAddr,
    token: String,
}

/// Runs the campaign.
pub(super) fn run(args: &[String]) -> Result<(), String> {
    let (mut clients, mut binary) = (CLIENTS, None);
    let mut rest = args.iter();
    while let Some(option) = rest.next() {
        let value = rest.next().ok_or(format!("{option} needs a value"))?;
        match option.as_str() {
            "--clients" => {
                clients = value
                    .parse()
                    .map_err(|error| format!("{option}: {error}"))?;
            }
            "--heirloom" => {
                let path = PathBuf::from(value).canonicalize();
                binary = Some(path.map_err(|error| format!("{option}: {error}"))?);
            }
            _ => return Err(format!("no option `{option}`")),
        }
    }
    let binary = match binary {
        Some(binary) => binary,
        None => sandbox::build_heirloom()?,
    };
    let desk = Sandbox::fresh(&binary, &cargo::target_dir()?.join("attack-server"))?;
    let server = RunningServer::start(&desk)?;
    let mut rows = foreign_pages::run(&server)?;
    rows.extend(event_readers::run(&server)?);
    rows.extend(slow_clients::run(&server, clients)?);
    drop(server);
    let succeeded = print_table(&rows);
    match succeeded {
        0 => desk.remove(),
        _ => Err(format!("{succeeded} attacks succeeded")),
    }
}

/// Prints the results and returns the number of attacks that succeeded.
fn print_table(rows: &[AttackReport]) -> usize {
    println!(
        "{:<52} {:>6} {:>9}  figures",
        "attack", "tries", "succeeded"
    );
    for row in rows {
        let (attack, tries, figures) = (row.attack, row.tries, &row.figures);
        println!(
            "{attack:<52} {tries:>6} {:>9}  {figures}",
            row.successes.len()
        );
    }
    for row in rows {
        for success in row.successes.iter().take(5) {
            println!("  {}: {success}", row.attack);
        }
    }
    rows.iter().map(|row| row.successes.len()).sum()
}

impl<'d> RunningServer<'d> {
    fn start(desk: &'d Sandbox) -> Result<Self, String> {
        let token = desk.call_ok(&["token", "create", "--role", "orchestrator"])?;
        let mut command = desk.heirloom(&["serve", "--port", "0"]);
        // A full pipe of messages would block the server.
        let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let stdout = child.stdout.take().ok_or("the server has no output")?;
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        read.map_err(|error| error.to_string())?;
        let address = line.trim().rsplit("://").next().unwrap_or_default();
        let address = address.parse();
        Ok(Self {
            desk,
            child,
            address: address.map_err(|error| format!("{line}: {error}"))?,
            token: token.trim().to_owned(),
        })
    }

    /// Sends one request and reads its whole answer.
    fn send(&self, request: &AttackRequest<'_>) -> Result<Reply, String> {
        http::send(self.address, request)
    }

    /// Returns the header value of this token.
    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// Creates a token and returns its id and secret.
    fn create_token(&self, args: &[&str]) -> Result<(String, String), String> {
        let made = self
            .desk
            .json(&[&["token", "create", "--json"], args].concat())?;
        let field = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
        Ok((field("id"), field("token")))
    }

    /// Returns everything that a request could change: records, tokens and receipts.
    fn stored_state(&self) -> Result<Vec<String>, String> {
        let tokens = self.desk.memory().join("tokens.json");
        let tokens = std::fs::read_to_string(&tokens);
        let bearer = self.bearer();
        let receipts = AttackRequest::get("/api/receipts").with("authorization", &bearer);
        Ok(vec![
            self.desk.call_ok(&["export", "--all"])?,
            tokens.map_err(|error| error.to_string())?,
            self.send(&receipts)?.body,
        ])
    }
}

impl Drop for RunningServer<'_> {
    fn drop(&mut self) {
        // The campaign is over, however the server ends.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
