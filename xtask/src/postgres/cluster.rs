//! Temporary cluster: creation, start, crash, and a replica.
#![expect(
    clippy::disallowed_methods,
    reason = "a child needs our PATH; the cluster is thrown away"
)]

use super::programs::{self, DEBIAN_USER, unprivileged};
use crate::cargo;
use crate::unix_files::{create_private_folder, set_mode};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Role and database of the cluster.
pub(super) const ROLE: &str = "heirloom";
/// Longest time until the cluster accepts connections.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A running cluster, which is stopped and removed on drop.
#[derive(Debug)]
pub(crate) struct PostgresCluster {
    server: Child,
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    password: String,
    settings: Vec<String>,
}

impl PostgresCluster {
    /// Creates a cluster in a temporary folder and starts it with additional settings, as `name=value`.
    pub(crate) fn start(settings: &[&str]) -> Result<Self, String> {
        let programs = programs::find_or_install()?;
        let folder = create_folder("")?;
        let password = random_password()?;
        let secret = folder.join("password");
        fs::write(&secret, &password).map_err(|error| io_error(&secret, &error))?;
        set_mode(&secret, 0o600).map_err(|error| io_error(&secret, &error))?;
        hand_over(&folder)?;
        let mut initdb = unprivileged(&programs.join("initdb"));
        initdb
            .arg("--pgdata")
            .arg(folder.join("data"))
            .args(["--username", ROLE, "--auth", "scram-sha-256"])
            .args(["--encoding", "UTF8", "--locale", "C.UTF-8", "--pwfile"])
            .arg(&secret)
            .stdout(Stdio::null());
        cargo::run(&mut initdb).inspect_err(|_| drop(fs::remove_dir_all(&folder)))?;
        let settings = settings.iter().map(|&setting| setting.to_owned());
        let cluster = Self::launch(programs, folder, password, settings.collect())?;
        let mut create = cluster.client("createdb");
        create.arg(ROLE);
        cargo::run(&mut create)?;
        Ok(cluster)
    }

    /// Starts the server of a cluster on a free port and waits until it accepts connections.
    fn launch(
        programs: PathBuf,
        folder: PathBuf,
        password: String,
        settings: Vec<String>,
    ) -> Result<Self, String> {
        let port = free_port()?;
        let mut cluster = Self {
            server: spawn(&programs, &folder, port, &settings)?,
            programs,
            folder,
            port,
            password,
            settings,
        };
        cluster.wait_until_ready()?;
        Ok(cluster)
    }

    /// Returns the URL of its database.
    pub(crate) fn url(&self) -> String {
        self.url_with(&[self])
    }

    /// Returns a URL that names several clusters with the same roles.
    pub(crate) fn url_with(&self, all: &[&Self]) -> String {
        let hosts: Vec<String> = all
            .iter()
            .map(|one| format!("127.0.0.1:{}", one.port))
            .collect();
        url_of(&self.password, &hosts.join(","))
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn password(&self) -> &str {
        &self.password
    }

    /// Returns the folder in which the cluster's user may write.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stops the server at once, as a crash does.
    pub(crate) fn crash(&mut self) -> Result<(), String> {
        self.signal("-QUIT")?;
        let ended = self.server.wait();
        ended.map_err(|error| format!("the server did not end: {error}"))?;
        Ok(())
    }

    /// Starts a crashed server again on the same port, and waits until it accepts connections.
    pub(crate) fn start_again(&mut self) -> Result<(), String> {
        self.server = spawn(&self.programs, &self.folder, self.port, &self.settings)?;
        self.wait_until_ready()
    }

    /// Creates a replica that follows this server, which from then on acknowledges a commit when the replica has it.
    pub(crate) fn create_replica(&self) -> Result<Self, String> {
        let folder = create_folder("-replica")?;
        hand_over(&folder)?;
        let mut backup = unprivileged(&self.programs.join("pg_basebackup"));
        backup
            .arg("--pgdata")
            .arg(folder.join("data"))
            .args(["--write-recovery-conf", "--checkpoint", "fast", "--dbname"])
            .arg(self.url());
        cargo::run(&mut backup).inspect_err(|_| drop(fs::remove_dir_all(&folder)))?;
        let (programs, password) = (self.programs.clone(), self.password.clone());
        let replica = Self::launch(programs, folder, password, self.settings.clone())?;
        self.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")?;
        self.execute("SELECT pg_reload_conf()")?;
        Ok(replica)
    }

    /// Executes a statement.
    pub(crate) fn execute(&self, sql: &str) -> Result<(), String> {
        let mut client = self.client("psql");
        client
            .args(["--quiet", "--no-psqlrc", "--tuples-only", "--command", sql])
            .arg(ROLE)
            .stdout(Stdio::null());
        cargo::run(&mut client)
    }

    fn signal(&self, signal: &str) -> Result<(), String> {
        let id = self.server.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        sent.map_err(|error| format!("cannot stop PostgreSQL: {error}"))?;
        Ok(())
    }

    /// Returns a client program with the address and the password of the server.
    fn client(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command
            .args(["--host", "127.0.0.1", "--port", &self.port.to_string()])
            .args(["--username", ROLE])
            .env("PGPASSWORD", &self.password);
        command
    }

    fn wait_until_ready(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            let mut asked = Command::new(self.programs.join("pg_isready"));
            asked
                .args(["--quiet", "--host", "127.0.0.1"])
                .args(["--port", &self.port.to_string()]);
            if asked.status().is_ok_and(|status| status.success()) {
                return Ok(());
            }
            let has_ended = self.server.try_wait().is_ok_and(|status| status.is_some());
            if has_ended || Instant::now() >= deadline {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                return Err(format!("PostgreSQL did not start:\n{log}"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for PostgresCluster {
    fn drop(&mut self) {
        // SIGINT is PostgreSQL's fast shutdown.
        let has_ended = self.server.try_wait().is_ok_and(|status| status.is_some());
        if !has_ended && self.signal("-INT").is_err() {
            drop(self.server.kill());
        }
        drop(self.server.wait());
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Returns the URL of the database on these hosts with their ports.
pub(super) fn url_of(password: &str, hosts: &str) -> String {
    format!("postgres://{ROLE}:{password}@{hosts}/{ROLE}")
}

/// Starts the server of the cluster in a folder.
fn spawn(programs: &Path, folder: &Path, port: u16, settings: &[String]) -> Result<Child, String> {
    let mut server = unprivileged(&programs.join("postgres"));
    server.arg("-D").arg(folder.join("data"));
    let own = [
        "listen_addresses=127.0.0.1".to_owned(),
        "logging_collector=off".to_owned(),
        format!("port={port}"),
        format!("unix_socket_directories={}", folder.display()),
    ];
    for setting in own.iter().chain(settings) {
        server.args(["-c", setting]);
    }
    let log = fs::File::options()
        .create(true)
        .append(true)
        .open(folder.join("log"))
        .map_err(|error| io_error(folder, &error))?;
    server
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map_err(|error| format!("cannot start postgres: {error}"))
}

fn create_folder(suffix: &str) -> Result<PathBuf, String> {
    let name = format!("heirloom-pg-{}{suffix}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let created = create_private_folder(&folder);
    created.map_err(|error| io_error(&folder, &error))?;
    Ok(folder)
}

/// Hands a folder over to the user as which the server runs.
pub(crate) fn hand_over(folder: &Path) -> Result<(), String> {
    match programs::is_superuser() {
        true => cargo::run(Command::new("chown").args(["-R", DEBIAN_USER]).arg(folder)),
        false => Ok(()),
    }
}

pub(super) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = listener.map_err(|error| format!("no free port on loopback: {error}"))?;
    Ok(address.port())
}

fn random_password() -> Result<String, String> {
    let mut bytes = [0_u8; 16];
    let mut source =
        fs::File::open("/dev/urandom").map_err(|error| format!("/dev/urandom: {error}"))?;
    std::io::Read::read_exact(&mut source, &mut bytes)
        .map_err(|error| format!("/dev/urandom: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(super) fn io_error(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
