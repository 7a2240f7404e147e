//! `pg`: runs a command with a temporary PostgreSQL cluster on loopback.
//!
//! The cluster belongs to an unprivileged user, because PostgreSQL refuses to run as the superuser, and is removed when the
//! command ends. Debian's package is installed where PostgreSQL is missing.
#![expect(
    clippy::disallowed_methods,
    reason = "a child needs our PATH; the cluster is thrown away"
)]

use crate::cargo;
use crate::debian_packages;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Variable that names the cluster for tests.
pub(crate) const URL_VARIABLE: &str = "HEIRLOOM_TEST_POSTGRES";
/// Folder in which Debian keeps the programs of each version.
const DEBIAN_VERSIONS: &str = "/usr/lib/postgresql";
/// User of Debian's package, as which the superuser starts the cluster.
const DEBIAN_USER: &str = "postgres";
/// Role and database of the cluster.
const ROLE: &str = "heirloom";
/// Longest time until the cluster accepts connections.
const START_TIMEOUT: Duration = Duration::from_secs(30);

const HELP: &str = "\
usage: cargo xtask pg [COMMAND [ARGS]]

Starts a temporary PostgreSQL cluster on loopback and runs COMMAND with its URL in HEIRLOOM_TEST_POSTGRES.
Without COMMAND it prints the URL and runs until its standard input ends or Ctrl-C.
";

/// Runs the task; the error is the message for the developer.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    match args {
        [] => {
            let cluster = PostgresCluster::start(&[])?;
            println!("{URL_VARIABLE}={}", cluster.url());
            std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink())
                .map_err(|error| format!("standard input: {error}"))?;
            Ok(())
        }
        [option] if option == "--help" || option == "-h" => {
            print!("{HELP}");
            Ok(())
        }
        [program, rest @ ..] => {
            let cluster = PostgresCluster::start(&[])?;
            cargo::run(
                Command::new(program)
                    .args(rest)
                    .env(URL_VARIABLE, cluster.url()),
            )
        }
    }
}

/// A running cluster, which is stopped and removed on drop.
#[derive(Debug)]
pub(crate) struct PostgresCluster {
    server: Child,
    folder: PathBuf,
    port: u16,
    password: String,
}

impl PostgresCluster {
    /// Creates a cluster in a temporary folder and starts it with additional settings, as `name=value`.
    pub(crate) fn start(settings: &[&str]) -> Result<Self, String> {
        let programs = programs()?;
        let name = format!("heirloom-pg-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let place = folder.join("data");
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .map_err(|error| io_error(&folder, &error))?;
        let password = random_password()?;
        let secret = folder.join("password");
        fs::write(&secret, &password).map_err(|error| io_error(&secret, &error))?;
        fs::set_permissions(&secret, PermissionsExt::from_mode(0o600))
            .map_err(|error| io_error(&secret, &error))?;
        if is_superuser() {
            cargo::run(Command::new("chown").args(["-R", DEBIAN_USER]).arg(&folder))?;
        }
        let mut initdb = unprivileged(&programs.join("initdb"));
        initdb
            .arg("--pgdata")
            .arg(&place)
            .args([
                "--username",
                ROLE,
                "--auth",
                "scram-sha-256",
                "--encoding",
                "UTF8",
            ])
            .args(["--locale", "C.UTF-8", "--pwfile"])
            .arg(&secret)
            .stdout(Stdio::null());
        cargo::run(&mut initdb).inspect_err(|_| drop(fs::remove_dir_all(&folder)))?;
        let port = free_port()?;
        let mut server = unprivileged(&programs.join("postgres"));
        server
            .arg("-D")
            .arg(&place)
            .args([
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "logging_collector=off",
            ])
            .args(["-c", &format!("port={port}")])
            .args([
                "-c",
                &format!("unix_socket_directories={}", folder.display()),
            ]);
        for setting in settings {
            server.args(["-c", setting]);
        }
        let log =
            fs::File::create(folder.join("log")).map_err(|error| io_error(&folder, &error))?;
        let server = server
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("cannot start postgres: {error}"))?;
        let mut cluster = Self {
            server,
            folder,
            port,
            password,
        };
        cluster.wait_until_ready(&programs)?;
        cluster.create_database(&programs)?;
        Ok(cluster)
    }

    /// Returns the URL of its database.
    pub(crate) fn url(&self) -> String {
        let Self { port, password, .. } = self;
        format!("postgres://{ROLE}:{password}@127.0.0.1:{port}/{ROLE}")
    }

    fn wait_until_ready(&mut self, programs: &Path) -> Result<(), String> {
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            let mut asked = Command::new(programs.join("pg_isready"));
            asked.args([
                "--quiet",
                "--host",
                "127.0.0.1",
                "--port",
                &self.port.to_string(),
            ]);
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

    fn create_database(&self, programs: &Path) -> Result<(), String> {
        let mut create = Command::new(programs.join("createdb"));
        create
            .args(["--host", "127.0.0.1", "--port", &self.port.to_string()])
            .args(["--username", ROLE, ROLE])
            .env("PGPASSWORD", &self.password);
        cargo::run(&mut create)
    }
}

impl Drop for PostgresCluster {
    fn drop(&mut self) {
        // SIGINT is PostgreSQL's fast shutdown.
        let stopped = Command::new("kill")
            .args(["-INT", &self.server.id().to_string()])
            .status();
        if stopped.is_err() {
            drop(self.server.kill());
        }
        drop(self.server.wait());
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Returns the folder of PostgreSQL's programs, of the newest version. Installs Debian's package if no version is installed.
fn programs() -> Result<PathBuf, String> {
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

fn is_superuser() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Returns a command that runs as an unprivileged user.
fn unprivileged(program: &Path) -> Command {
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

fn free_port() -> Result<u16, String> {
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

fn io_error(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
