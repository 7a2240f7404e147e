//! Servers over one database, each as a process with a folder of its own.

use super::http::Client;
use crate::sandbox::Sandbox;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Variable that names the database.
const STORE: &str = "HEIRLOOM_STORE";

/// Running servers, which are killed with the value.
pub(super) struct Fleet {
    servers: Vec<Server>,
    /// URL of the database; `None` for a server with its own SQLite database.
    url: Option<String>,
    token: String,
}

struct Server {
    desk: Sandbox,
    process: Child,
    address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Fleet {
    /// Creates the tables, starts `count` servers, and creates a token for them.
    pub(super) fn start(
        binary: &Path,
        root: &Path,
        url: &str,
        count: usize,
    ) -> Result<Self, String> {
        let desks = (0..count).map(|number| {
            let root = root.with_extension(number.to_string());
            Sandbox::fresh(binary, &root)
        });
        let desks = desks.collect::<Result<Vec<_>, _>>()?;
        let first = desks.first().ok_or("a fleet needs a server")?;
        call(first, url, &["fleet", "init"])?;
        let token = call(
            first,
            url,
            &["fleet", "token", "create", "--role", "orchestrator"],
        )?;
        let servers = desks.into_iter().map(|desk| Server::start(desk, Some(url)));
        Ok(Self {
            servers: servers.collect::<Result<_, _>>()?,
            url: Some(url.to_owned()),
            token: token.trim().to_owned(),
        })
    }

    /// Starts one server with an SQLite database, for comparison.
    pub(super) fn start_sqlite(binary: &Path, root: &Path) -> Result<Self, String> {
        let desk = Sandbox::fresh(binary, &root.with_extension("sqlite"))?;
        let token = desk.call_ok(&["token", "create", "--role", "orchestrator"])?;
        Ok(Self {
            servers: vec![Server::start(desk, None)?],
            url: None,
            token: token.trim().to_owned(),
        })
    }

    /// Returns the number of servers.
    pub(super) fn len(&self) -> usize {
        self.servers.len()
    }

    /// Connects to a server.
    pub(super) fn connect(&self, number: usize) -> Option<Client> {
        let server = self.servers.get(number % self.servers.len())?;
        Client::connect(server.address, &self.token)
    }

    /// Kills the process of a server.
    pub(super) fn kill_process(&self, number: usize) -> Result<(), String> {
        let server = self
            .servers
            .get(number % self.servers.len())
            .ok_or("there is no such server")?;
        let id = server.process.id().to_string();
        let killed = Command::new("kill").args(["-KILL", &id]).status();
        killed.map_err(|error| format!("the server cannot be killed: {error}"))?;
        Ok(())
    }

    /// Kills a server and starts it again.
    pub(super) fn restart_process(&mut self, number: usize) -> Result<(), String> {
        self.kill_process(number)?;
        self.restart(number)
    }

    /// Starts a killed server again.
    pub(super) fn restart(&mut self, number: usize) -> Result<(), String> {
        let count = self.servers.len();
        let url = self.url.clone();
        let server = self
            .servers
            .get_mut(number % count)
            .ok_or("there is no such server")?;
        drop(server.process.wait());
        *server = Server::start(server.desk.clone(), url.as_deref())?;
        Ok(())
    }

    /// Returns the resident memory of each server, MB.
    pub(super) fn resident(&self) -> Result<Vec<f64>, String> {
        let sizes = self.servers.iter().map(|server| {
            let path = format!("/proc/{}/status", server.process.id());
            let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
            let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
            let kilobytes =
                line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
            let kilobytes = kilobytes.ok_or_else(|| format!("{path} has no size"))?;
            Ok(kilobytes as f64 / 1e3)
        });
        sizes.collect()
    }
}

impl Server {
    fn start(desk: Sandbox, url: Option<&str>) -> Result<Self, String> {
        let mut command = desk.heirloom(&["serve", "--port", "0"]);
        command
            .envs(url.map(|url| (STORE, url)))
            .stderr(Stdio::null());
        let mut process = command
            .spawn()
            .map_err(|error| format!("cannot start a server: {error}"))?;
        let out = process.stdout.take().ok_or("the server has no output")?;
        let mut first = String::new();
        let read = BufReader::new(out).read_line(&mut first);
        read.map_err(|error| format!("the server printed nothing: {error}"))?;
        let address = first.trim().rsplit("://").next().unwrap_or("").parse();
        let address = address.map_err(|_| format!("the server printed `{first}`"))?;
        Ok(Self {
            desk,
            process,
            address,
        })
    }
}

fn call(desk: &Sandbox, url: &str, args: &[&str]) -> Result<String, String> {
    let output = desk
        .heirloom(args)
        .env(STORE, url)
        .output()
        .map_err(|error| format!("cannot start heirloom: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("`heirloom {}`: {text}", args.join(" ")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
