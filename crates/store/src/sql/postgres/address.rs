//! Address of a PostgreSQL database: server, user, database, encryption, and the password from outside the address.

use super::tls::TlsMode;
use crate::StoreError;
use heirloom_fs::durable::regular_file::{self, LinkPolicy};
use heirloom_fs::file_metadata;
use heirloom_model::database_address::is_database_address;
use heirloom_model::limits;
use heirloom_model::text::EscapedPath;
use std::fmt;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_postgres::config::{Host, SslMode};

/// Default port of PostgreSQL.
const PORT: u16 = 5_432;

/// Sources of what an address leaves out.
#[derive(Debug, Clone, Default)]
pub struct AddressSources {
    /// Password from the environment.
    pub password: Option<String>,
    /// Password file, with lines of the form `host:port:database:user:password`.
    pub password_file: Option<PathBuf>,
    /// Service file, with sections of settings that an address names by `service=NAME`.
    pub service_file: Option<PathBuf>,
}

/// Address of a PostgreSQL database.
#[derive(Clone)]
pub struct PostgresAddress {
    pub(crate) config: tokio_postgres::Config,
    pub(crate) tls: TlsMode,
    /// True if each connection prepares the statements that it repeats.
    pub(crate) prepares_statements: bool,
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("PostgresAddress")
            .field(&self.server())
            .finish()
    }
}

impl PostgresAddress {
    /// Parses an address of the form `postgres://USER@HOST:PORT/DATABASE?NAME=VALUE`.
    ///
    /// The parameters are those of libpq: `sslmode`, `sslrootcert`, `target_session_attrs`, `connect_timeout`,
    /// `options`, `service`, and others; `prepared_statements` is `on` or, by default, `off`. Errors: `Invalid` for another form or an unknown parameter, or a file that cannot
    /// be read.
    pub fn parse(url: &str, sources: &AddressSources) -> Result<Self, StoreError> {
        if !is_database_address(url) {
            return Err(invalid(
                "the address of a database has the form postgres://USER@HOST:PORT/DATABASE",
            ));
        }
        let mut parameters = Vec::new();
        let (start, query) = url.split_once('?').unwrap_or((url, ""));
        let mut service = None;
        let mut tls = TlsParameters::default();
        let mut prepares_statements = false;
        for part in query.split('&').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some(("service", name)) => service = Some(name.to_owned()),
                Some(("prepared_statements", value)) => prepares_statements = parse_switch(value)?,
                Some((name, value)) if tls.take(name, value)? => {}
                _ => parameters.push(part),
            }
        }
        let mark = if parameters.is_empty() { "" } else { "?" };
        let plain = format!("{start}{mark}{}", parameters.join("&"));
        let mut config: tokio_postgres::Config = plain
            .parse()
            .map_err(|error| invalid(&format!("the address of the database: {error}")))?;
        if let Some(name) = service {
            apply_service(&mut config, &mut tls, &name, sources)?;
        }
        if config.get_user().is_none() {
            return Err(invalid("the address of the database names no user"));
        }
        if config.get_password().is_none() {
            if let Some(password) = &sources.password {
                config.password(password);
            } else if let Some(file) = &sources.password_file {
                apply_password_file(&mut config, file);
            }
        }
        config.ssl_mode(tls.mode());
        let longest = Duration::from_secs(limits::POSTGRES_CONNECT_TIMEOUT_S);
        if config
            .get_connect_timeout()
            .is_none_or(|timeout| *timeout > longest)
        {
            config.connect_timeout(longest);
        }
        config.keepalives_idle(Duration::from_secs(limits::POSTGRES_HEARTBEAT_S));
        if config.get_application_name().is_none() {
            config.application_name(concat!("heirloom ", env!("CARGO_PKG_VERSION")));
        }
        let tls = tls.build()?;
        Ok(Self {
            config,
            tls,
            prepares_statements,
        })
    }

    /// Returns true if one of the hosts accepts a connection within `timeout`. A socket in the file system is not tried.
    pub fn is_reachable(&self, timeout: Duration) -> bool {
        let ports = self.config.get_ports();
        self.config.get_hosts().iter().enumerate().any(|(n, host)| {
            let port = ports.get(n).or(ports.first()).copied().unwrap_or(PORT);
            let name = match host {
                Host::Tcp(name) => name.as_str(),
                #[cfg(unix)]
                Host::Unix(_) => return true,
            };
            let addresses = (name, port).to_socket_addrs();
            addresses.is_ok_and(|mut addresses| {
                addresses.any(|address| TcpStream::connect_timeout(&address, timeout).is_ok())
            })
        })
    }

    /// Returns the hosts, ports and the name of the database for messages, without user and password.
    pub fn server(&self) -> String {
        let ports = self.config.get_ports();
        let hosts = self.config.get_hosts().iter().enumerate();
        let hosts = hosts.map(|(n, host)| {
            let port = ports.get(n).or(ports.first()).copied().unwrap_or(PORT);
            format!("{}:{port}", host_name(host))
        });
        let hosts: Vec<String> = hosts.collect();
        format!("{}/{}", hosts.join(","), database_of(&self.config))
    }
}

/// Parses the value of `prepared_statements`.
fn parse_switch(value: &str) -> Result<bool, StoreError> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(invalid(
            "the parameter prepared_statements of the database's address is `on` or `off`",
        )),
    }
}

fn invalid(problem: &str) -> StoreError {
    StoreError::Invalid(problem.to_owned())
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.to_escaped(),
    }
}

fn database_of(config: &tokio_postgres::Config) -> &str {
    config.get_dbname().or(config.get_user()).unwrap_or("")
}

/// Parameters of an address that concern encryption.
#[derive(Debug, Default)]
struct TlsParameters {
    mode: Option<String>,
    roots: Option<PathBuf>,
}

impl TlsParameters {
    /// Takes a parameter; returns false if it is another one.
    fn take(&mut self, name: &str, value: &str) -> Result<bool, StoreError> {
        match name {
            "sslmode" => {
                let known = [
                    "disable",
                    "allow",
                    "prefer",
                    "require",
                    "verify-ca",
                    "verify-full",
                ];
                if !known.contains(&value) {
                    return Err(invalid(&format!(
                        "sslmode={value}: the modes are {}",
                        known.join(", ")
                    )));
                }
                self.mode = Some(value.to_owned());
            }
            "sslrootcert" => self.roots = Some(PathBuf::from(value.replace("%2F", "/"))),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn mode(&self) -> SslMode {
        match self.mode.as_deref() {
            Some("disable") => SslMode::Disable,
            Some("require" | "verify-ca" | "verify-full") => SslMode::Require,
            _ => SslMode::Prefer,
        }
    }

    fn build(&self) -> Result<TlsMode, StoreError> {
        match (self.mode.as_deref(), &self.roots) {
            (Some("disable"), _) => Ok(TlsMode::Off),
            (Some("verify-ca" | "verify-full"), None) => Err(invalid(
                "sslmode=verify-full needs sslrootcert=FILE, the certificate of the authority that signed the server's",
            )),
            (_, Some(roots)) => TlsMode::verified(roots),
            (_, None) => TlsMode::unverified(),
        }
    }
}

/// Adds the settings of a service to an address, which keeps its own.
fn apply_service(
    config: &mut tokio_postgres::Config,
    tls: &mut TlsParameters,
    name: &str,
    sources: &AddressSources,
) -> Result<(), StoreError> {
    let Some(file) = &sources.service_file else {
        return Err(invalid(
            "the address names a service, and there is no service file: set PGSERVICEFILE",
        ));
    };
    let text = read_small(file).ok_or_else(|| {
        invalid(&format!(
            "the service file {} cannot be read",
            file.to_escaped()
        ))
    })?;
    let section = format!("[{name}]");
    let mut lines = text.lines().map(str::trim);
    if !lines.any(|line| line == section) {
        return Err(invalid(&format!(
            "the service file {} has no section {section}",
            file.to_escaped()
        )));
    }
    for line in lines.take_while(|line| !line.starts_with('[')) {
        let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        match key {
            "host" if config.get_hosts().is_empty() => {
                config.host(value);
            }
            "port" if config.get_ports().is_empty() => {
                let port = value
                    .parse()
                    .map_err(|_| invalid(&format!("the service {name} has a bad port")))?;
                config.port(port);
            }
            "dbname" if config.get_dbname().is_none() => {
                config.dbname(value);
            }
            "user" if config.get_user().is_none() => {
                config.user(value);
            }
            "password" if config.get_password().is_none() => {
                config.password(value);
            }
            "sslmode" if tls.mode.is_none() => {
                tls.take(key, value)?;
            }
            "sslrootcert" if tls.roots.is_none() => {
                tls.take(key, value)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Adds the password of the first line that matches. A file that others can read is ignored, as by libpq.
fn apply_password_file(config: &mut tokio_postgres::Config, file: &Path) {
    let is_private = file
        .metadata()
        .is_ok_and(|found| found.is_file() && file_metadata::mode_bits(&found) & 0o077 == 0);
    let Some(text) = read_small(file).filter(|_| is_private) else {
        return;
    };
    let host = config.get_hosts().first().map_or(String::new(), host_name);
    let port = config.get_ports().first().copied().unwrap_or(PORT);
    let expected = [
        host,
        port.to_string(),
        database_of(config).to_owned(),
        config.get_user().unwrap_or("").to_owned(),
    ];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields = split_fields(line);
        let [names @ .., password] = fields.as_slice() else {
            continue;
        };
        let is_match = names.len() == expected.len()
            && names
                .iter()
                .zip(&expected)
                .all(|(name, expected)| name == "*" || name == expected);
        if is_match {
            config.password(password);
            return;
        }
    }
}

/// Splits a line at its colons; a backslash keeps the next character.
fn split_fields(line: &str) -> Vec<String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ':' if fields.len() < 4 => fields.push(std::mem::take(&mut field)),
            '\\' => field.extend(chars.next()),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

/// Reads a text file of at most 64 KiB.
fn read_small(file: &Path) -> Option<String> {
    regular_file::read_text(file, LinkPolicy::Follow, 64 * 1_024).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_fs::durable;
    use std::os::unix::fs::PermissionsExt;

    fn parse(url: &str, sources: &AddressSources) -> PostgresAddress {
        PostgresAddress::parse(url, sources).unwrap()
    }

    #[test]
    fn password_is_in_no_message() {
        let address = parse(
            "postgres://user:secret@db.example:6432/memory",
            &AddressSources::default(),
        );
        assert_eq!(address.server(), "db.example:6432/memory");
        assert!(!format!("{address:?}").contains("secret"));
    }

    #[test]
    fn password_comes_from_environment_or_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pgpass");
        let text = b"# comment\nother:*:*:*:no\ndb:*:memory:user:a\\:b\n";
        durable::write_atomic(&file, text).unwrap();
        let mut sources = AddressSources {
            password_file: Some(file.clone()),
            ..AddressSources::default()
        };
        let password = |sources: &AddressSources| {
            let address = parse("postgres://user@db/memory", sources);
            address.config.get_password().map(<[u8]>::to_vec)
        };
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        assert_eq!(password(&sources), None, "others can read it");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(password(&sources), Some(b"a:b".to_vec()));
        sources.password = Some("env".to_owned());
        assert_eq!(password(&sources), Some(b"env".to_vec()));
    }

    #[test]
    fn service_completes_address() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("service.conf");
        let text = b"[other]\nhost=no\n[fleet]\nhost=db.example\nport=6432\nuser=agent\npassword=p\ndbname=memory\n";
        durable::write_atomic(&file, text).unwrap();
        let sources = AddressSources {
            service_file: Some(file),
            ..AddressSources::default()
        };
        let address = parse("postgres:///?service=fleet", &sources);
        assert_eq!(address.server(), "db.example:6432/memory");
        let missing = PostgresAddress::parse("postgres:///?service=none", &sources);
        assert!(matches!(missing, Err(StoreError::Invalid(_))));
    }

    #[test]
    fn unusable_address_is_refused() {
        for url in [
            "mysql://x",
            "postgres://user@db/x?sslmode=maybe",
            "postgres://user@db/x?sslmode=verify-full",
            "postgres://user@db/x?nothing=1",
            "postgres://db:port/x",
        ] {
            let refused = PostgresAddress::parse(url, &AddressSources::default());
            assert!(matches!(refused, Err(StoreError::Invalid(_))), "{url}");
        }
    }
}
