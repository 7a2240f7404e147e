//! PgBouncer in transaction mode in front of a temporary cluster.
#![expect(clippy::disallowed_methods, reason = "a child needs our PATH")]

use super::cluster::{PostgresCluster, free_port, hand_over, io_error};
use super::programs::unprivileged;
use crate::debian_packages;
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Places of the program.
const PROGRAMS: [&str; 2] = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"];
/// Number of connections to the server for each database: fewer than clients, so that clients change connections.
const SERVER_CONNECTIONS: u32 = 3;
/// Longest time until the pooler accepts connections.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// A running pooler, which is stopped on drop.
#[derive(Debug)]
pub(crate) struct ConnectionPooler {
    process: Child,
    port: u16,
    password: String,
}

impl ConnectionPooler {
    /// Starts a pooler for all databases of a cluster. Installs Debian's package if the program is missing.
    pub(crate) fn start(cluster: &PostgresCluster) -> Result<Self, String> {
        let program = find_or_install()?;
        let port = free_port()?;
        let folder = cluster.folder().join("pooler");
        fs::create_dir_all(&folder).map_err(|error| io_error(&folder, &error))?;
        let file = write_settings(&folder, port, cluster)?;
        hand_over(&folder)?;
        let log = folder.join("log");
        let output = fs::File::create(&log).map_err(|error| io_error(&log, &error))?;
        let started = unprivileged(&program)
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output)
            .spawn();
        let mut pooler = Self {
            process: started.map_err(|error| format!("cannot start pgbouncer: {error}"))?,
            port,
            password: cluster.password().to_owned(),
        };
        pooler.wait_until_ready(&log)?;
        Ok(pooler)
    }

    /// Returns the URL of the cluster's database through the pooler.
    pub(crate) fn url(&self) -> String {
        super::cluster::url_of(&self.password, &format!("127.0.0.1:{}", self.port))
    }

    fn wait_until_ready(&mut self, log: &Path) -> Result<(), String> {
        let deadline = Instant::now() + START_TIMEOUT;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let has_ended = self.process.try_wait().is_ok_and(|status| status.is_some());
            if has_ended || Instant::now() >= deadline {
                let log = fs::read_to_string(log).unwrap_or_default();
                return Err(format!("PgBouncer did not start:\n{log}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for ConnectionPooler {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Writes the settings and the password file, and returns the path of the settings.
fn write_settings(folder: &Path, port: u16, cluster: &PostgresCluster) -> Result<PathBuf, String> {
    let (settings, users) = (folder.join("pgbouncer.ini"), folder.join("users"));
    let text = format!(
        "[databases]\n\
         * = host=127.0.0.1 port={server}\n\
         [pgbouncer]\n\
         listen_addr = 127.0.0.1\n\
         listen_port = {port}\n\
         unix_socket_dir =\n\
         auth_type = scram-sha-256\n\
         auth_file = {users}\n\
         pool_mode = transaction\n\
         default_pool_size = {SERVER_CONNECTIONS}\n\
         max_client_conn = 1000\n",
        server = cluster.port(),
        users = users.display(),
    );
    fs::write(&settings, text).map_err(|error| io_error(&settings, &error))?;
    let user = format!("\"{}\" \"{}\"\n", super::cluster::ROLE, cluster.password());
    fs::write(&users, user).map_err(|error| io_error(&users, &error))?;
    Ok(settings)
}

fn find_or_install() -> Result<PathBuf, String> {
    if let Some(found) = installed_program() {
        return Ok(found);
    }
    debian_packages::install(&["pgbouncer"])?;
    // The package starts a pooler of its own where services run; nothing here uses it.
    drop(Command::new("service").args(["pgbouncer", "stop"]).output());
    installed_program().ok_or_else(|| "install PgBouncer".to_owned())
}

fn installed_program() -> Option<PathBuf> {
    let all = PROGRAMS.iter().map(PathBuf::from);
    all.into_iter().find(|path| path.exists())
}
