//! Programs of the checks: local registries, clients, and a minimal Debian. They are installed once below `target`.

use crate::cargo;
use crate::package::archive;
use crate::package::target::Kind;
use crate::sandbox::{file_names, io_error};
use serde_json::json;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Registry of npm.
const VERDACCIO: &str = "verdaccio@6.8.0";
/// Registry, clients and validators of PyPI.
const PYTHON_PACKAGES: [&str; 4] = [
    "pypiserver",
    "uv",
    "twine",
    "cyclonedx-python-lib[json-validation]",
];
/// Debian's packages that the checks call.
const DEBIAN_PROGRAMS: [(&str, &str); 3] = [
    ("mmdebstrap", "mmdebstrap"),
    ("lintian", "lintian"),
    ("busybox", "busybox-static"),
];
/// Release of Debian in which the package is installed.
const DEBIAN_RELEASE: &str = "bookworm";
/// A server that needs longer to start is an error.
const START_TRIES_MAX: u32 = 300;
const START_PAUSE: Duration = Duration::from_millis(100);

/// Validates a list of components; the path is the first argument.
const VALIDATOR: &str = "\
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(str(error) if error else 0)
";

/// Installed programs.
#[derive(Debug)]
pub(super) struct Tools {
    folder: PathBuf,
}

/// A server on loopback, which is stopped when this value is dropped.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    /// Its address.
    pub(super) url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tools {
    /// Installs the programs that the checks of these packages need, unless they are present.
    pub(super) fn ensure(kinds: &[Kind]) -> Result<Self, String> {
        let tools = Self {
            folder: cargo::target_dir()?.join("package-tools"),
        };
        fs::create_dir_all(&tools.folder)
            .map_err(|error| io_error("create", &tools.folder, &error))?;
        tools.ensure_python()?;
        if kinds.contains(&Kind::Npm) {
            tools.ensure_verdaccio()?;
        }
        for (program, package) in DEBIAN_PROGRAMS {
            require_program(program, package)?;
        }
        if kinds.contains(&Kind::Deb) {
            tools.ensure_debian()?;
        }
        Ok(tools)
    }

    fn ensure_python(&self) -> Result<(), String> {
        let folder = self.folder.join("python");
        self.once("python", &PYTHON_PACKAGES.join(" "), || {
            cargo::run(
                Command::new("python3")
                    .args(["-m", "venv", "--clear"])
                    .arg(&folder),
            )?;
            let mut pip = Command::new(folder.join("bin/pip"));
            cargo::run(pip.args(["install", "--quiet"]).args(PYTHON_PACKAGES))
        })
    }

    fn ensure_verdaccio(&self) -> Result<(), String> {
        let folder = self.folder.join("verdaccio");
        self.once("verdaccio", VERDACCIO, || {
            // A registry may lack the tag `cjs` that one of its dependencies names.
            let manifest = json!({
                "private": true,
                "overrides": {"node-fetch": "2.7.0", "node-fetch-cjs": "npm:node-fetch@2.7.0"},
            });
            archive::write(
                &folder.join("package.json"),
                manifest.to_string().as_bytes(),
            )?;
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--loglevel", "error"])
                .arg(VERDACCIO)
                .current_dir(&folder)
                .stdin(Stdio::null());
            cargo::run(&mut npm)
        })
    }

    fn ensure_debian(&self) -> Result<(), String> {
        let base = self.debian();
        self.once("debian", DEBIAN_RELEASE, || {
            let mut bootstrap = Command::new("mmdebstrap");
            bootstrap
                .args(["--quiet", "--variant=apt", DEBIAN_RELEASE])
                .arg(&base);
            cargo::run(&mut bootstrap)
        })
    }

    /// Runs an installation unless it was completed before with the same content.
    fn once(
        &self,
        name: &str,
        content: &str,
        install: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        let stamp = self.folder.join(format!("{name}.installed"));
        if fs::read_to_string(&stamp).unwrap_or_default() == content {
            return Ok(());
        }
        install()?;
        archive::write(&stamp, content.as_bytes())
    }

    /// Archive of a minimal Debian.
    pub(super) fn debian(&self) -> PathBuf {
        self.folder.join("debian.tar")
    }

    /// Folder of the programs of Python.
    pub(super) fn python_programs(&self) -> PathBuf {
        self.folder.join("python/bin")
    }

    /// Starts a registry of npm with the packages of a release.
    pub(super) fn start_npm_registry(
        &self,
        work: &Path,
        packages: &Path,
    ) -> Result<Server, String> {
        let folder = work.join("registry");
        super::environment::remove(&folder)?;
        let config = "\
storage: ./storage
auth: {htpasswd: {file: ./htpasswd, max_users: -1}}
packages: {'**': {access: $all, publish: $all}}
log: {type: stdout, format: pretty, level: error}
max_body_size: 300mb
";
        archive::write(&folder.join("config.yaml"), config.as_bytes())?;
        let mut command = Command::new(self.folder.join("verdaccio/node_modules/.bin/verdaccio"));
        command.args(["--config", "config.yaml", "--listen"]);
        let server = start(&mut command, "", &folder)?;
        let host = server.url.trim_start_matches("http:").to_owned();
        for name in file_names(packages)
            .iter()
            .filter(|name| name.ends_with(".tgz"))
        {
            let mut publish = Command::new("npm");
            publish
                .args(["publish", "--loglevel", "error", "--registry", &server.url])
                // The client wants a token; this registry accepts any.
                .arg(format!("--{host}:_authToken=check"))
                .args(["--access", "public"])
                .arg(packages.join(name))
                .current_dir(&folder)
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            cargo::run(&mut publish)?;
        }
        Ok(server)
    }

    /// Starts a registry of PyPI with the wheels of a release.
    pub(super) fn start_python_registry(
        &self,
        work: &Path,
        packages: &Path,
    ) -> Result<Server, String> {
        let folder = work.join("wheels");
        super::environment::remove(&folder)?;
        fs::create_dir_all(&folder).map_err(|error| io_error("create", &folder, &error))?;
        let wheels = file_names(packages);
        for name in wheels.iter().filter(|name| name.ends_with(".whl")) {
            let wheel = packages.join(name);
            let mut twine = Command::new(self.python_programs().join("twine"));
            cargo::run(twine.args(["check", "--strict"]).arg(&wheel))?;
            fs::copy(&wheel, folder.join(name))
                .map_err(|error| io_error("copy", &wheel, &error))?;
        }
        let mut command = Command::new(self.python_programs().join("pypi-server"));
        command.args(["run", "--interface", "127.0.0.1", "--disable-fallback"]);
        command.arg(&folder).arg("--port");
        let mut server = start(&mut command, "only-port", &folder)?;
        server.url.push_str("simple/");
        Ok(server)
    }

    /// Validates the lists of components against the schema of CycloneDX.
    pub(super) fn validate_components(&self, packages: &Path) -> Result<(), String> {
        for name in file_names(packages) {
            if name.ends_with(".cdx.json") {
                let mut validate = Command::new(self.python_programs().join("python"));
                validate.args(["-c", VALIDATOR]).arg(packages.join(&name));
                cargo::run(&mut validate).map_err(|_| format!("{name} is not valid"))?;
            }
        }
        Ok(())
    }
}

/// Starts a server, whose last argument is its address or only its port, and waits until it listens.
fn start(command: &mut Command, form: &str, folder: &Path) -> Result<Server, String> {
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_err(|error| format!("no free port: {error}"))?
        .port();
    let address = format!("127.0.0.1:{port}");
    command.arg(match form {
        "only-port" => port.to_string(),
        _ => address.clone(),
    });
    let child = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start `{}`: {error}", cargo::describe(command)))?;
    let server = Server {
        child,
        url: format!("http://{address}/"),
    };
    for _ in 0..START_TRIES_MAX {
        if TcpStream::connect(&address).is_ok() {
            return Ok(server);
        }
        sleep(START_PAUSE);
    }
    Err(format!("`{}` does not listen", cargo::describe(command)))
}

/// Fails if a program is not in PATH.
fn require_program(program: &str, package: &str) -> Result<(), String> {
    let is_present = Command::new("sh")
        .args(["-c", "command -v \"$0\"", program])
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    match is_present {
        true => Ok(()),
        false => Err(format!("{program} is missing: `apt-get install {package}`")),
    }
}
