//! Store on a database server that several machines share.

use super::{CliSession, FoundProject};
use crate::config::{Config, ConfigKey, Environment, Layer};
use heirloom_fs::project_fs::{self, ProjectPaths};
use heirloom_model::{Fault, ProjectName};
use heirloom_store::{AddressSources, FleetStatus, PostgresAddress, PostgresStore};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// Name of the setting.
const KEY: &str = "store.url";
/// Variable whose address may contain a password.
const VARIABLE: &str = "HEIRLOOM_STORE";

/// Store that all memories of the process share; `None` before it is opened.
#[derive(Clone, Default)]
pub(super) struct ServerStore(Arc<Mutex<Option<Arc<PostgresStore>>>>);

impl ServerStore {
    fn get_or_open(
        &self,
        open: impl FnOnce() -> Result<PostgresStore, Fault>,
    ) -> Result<Arc<PostgresStore>, Fault> {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*opened {
            return Ok(Arc::clone(store));
        }
        let store = Arc::new(open()?);
        *opened = Some(Arc::clone(&store));
        Ok(store)
    }
}

/// Returns the store on the database server of the settings; `None` if they name none.
pub(super) fn server_store(
    session: &CliSession,
    config: &Config,
) -> Result<Option<Arc<PostgresStore>>, Fault> {
    let Some(address) = server_address(config, &session.env)? else {
        return Ok(None);
    };
    let store = session
        .server_store
        .get_or_open(|| Ok(PostgresStore::connect(&address)?))?;
    Ok(Some(store))
}

/// Returns the address of the database server of the settings; `None` if they name none.
pub(crate) fn server_address(
    config: &Config,
    env: &Environment,
) -> Result<Option<PostgresAddress>, Fault> {
    let mut url = config.text(KEY);
    if url.is_empty() {
        return Ok(None);
    }
    let origin = ConfigKey::by_name(KEY).and_then(|key| config.get(key));
    if origin.is_some_and(|(_, origin)| origin.layer == Layer::Environment)
        && let Some(address) = env.get(VARIABLE)
    {
        url = address;
    }
    parse_address(url, env).map(Some)
}

/// Parses an address; what it leaves out is taken from the environment and the files that it names.
pub(crate) fn parse_address(url: &str, env: &Environment) -> Result<PostgresAddress, Fault> {
    let in_home = |name: &str| env.get("HOME").map(|home| Path::new(home).join(name));
    let sources = AddressSources {
        password: env.get("PGPASSWORD").map(str::to_owned),
        password_file: (env.get("PGPASSFILE").map(PathBuf::from)).or_else(|| in_home(".pgpass")),
        service_file: (env.get("PGSERVICEFILE").map(PathBuf::from))
            .or_else(|| in_home(".pg_service.conf")),
    };
    Ok(PostgresAddress::parse(url, &sources)?)
}

/// Returns true if a connection to the database server of the settings can be opened within `timeout`, also if its name
/// cannot be resolved in that time.
pub(crate) fn is_server_reachable(
    session: &CliSession,
    found: &FoundProject,
    timeout: Duration,
) -> Result<bool, Fault> {
    let Some(address) = server_address(&found.config, &session.env)? else {
        return Ok(true);
    };
    let (sender, receiver) = mpsc::channel();
    // The thread may outlive the wait: resolving a name without a network takes seconds.
    let probe = std::thread::Builder::new().spawn(move || {
        drop(sender.send(address.is_reachable(timeout)));
    });
    probe.map_err(|error| Fault::failed(format!("cannot start a thread: {error}")))?;
    Ok(receiver.recv_timeout(timeout).unwrap_or(false))
}

/// Reads the status of the database server at `url`, or of that of the settings. With `creates_tables` its tables are
/// created or migrated before.
///
/// Errors: `Usage` if neither names a server.
pub(crate) fn fleet_status(
    url: Option<&str>,
    session: &CliSession,
    creates_tables: bool,
) -> Result<FleetStatus, Fault> {
    let address = match url {
        Some(url) => Some(parse_address(url, &session.env)?),
        None => server_address(&session.config_without_project()?, &session.env)?,
    };
    let address = address.ok_or_else(|| {
        Fault::usage("no database server is named").hint(
            "give its address, postgres://USER@HOST:PORT/DATABASE, or set HEIRLOOM_STORE or `[store] url` in your config",
        )
    })?;
    let store = match creates_tables {
        true => PostgresStore::create(&address)?,
        false => PostgresStore::connect(&address)?,
    };
    Ok(store.fleet_status()?)
}

/// Returns the project's name on a database server: the explicit one, or that of its remote. A project that is named by its
/// path gets the name of the machine in addition, because other machines have the same paths.
pub(super) fn shared_name(place: &ProjectPaths, explicit: &str) -> Result<ProjectName, Fault> {
    let mut name = project_fs::project_name(&place.root, Some(explicit));
    if project_fs::is_path_name(&name) {
        let host = heirloom_fs::host_name();
        let hashed = heirloom_model::text::hash16(&name);
        let short = project_fs::display_name(&name);
        name = format!("{host}/{short}-{hashed}");
    }
    ProjectName::new(&name).map_err(|error| {
        Fault::usage(error.to_string()).hint("set `name` under `[project]`, or give --project NAME")
    })
}
