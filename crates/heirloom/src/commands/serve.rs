//! `heirloom serve`.

use super::run::interrupt_flag;
use crate::allocator;
use crate::config::{KEYS, Layer};
use crate::log;
use crate::open::Session;
use crate::serving::Serving;
use heirloom_model::{AccessRole, Fault};
use heirloom_server::{App, Certificate, Listening, Names, Options, Setting, mcp, router, serve};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Answer the HTTP API and the page, on this machine only, until Ctrl-C
///
/// The first start prints a token of the role `orchestrator`, once. `heirloom token` makes others, `heirloom ui` opens
/// the page.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) at: At,
}

/// Where a server answers, and whom.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct At {
    /// Address to listen on; one that other machines reach needs a certificate
    #[arg(long, value_name = "H", default_value = "127.0.0.1")]
    pub(super) host: String,
    /// Port to listen on; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 7717)]
    pub(super) port: u16,
    /// Certificate for TLS, with its chain, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Another name of this machine that clients may use
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Origin of a page elsewhere that may ask, as `https://example.org`
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
}

impl At {
    /// A port of this machine.
    pub(super) fn port(port: u16) -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port,
            tls_cert: None,
            tls_key: None,
            allow_host: Vec::new(),
            allow_origin: Vec::new(),
        }
    }
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    // Before anything is open: nothing of this process is left behind it.
    allocator::keep_small();
    run_at(&args.at, session, |_, _, _| Ok(()))
}

/// Serves until Ctrl-C; `ready` is told the server and its address as soon as it answers.
pub(super) fn run_at(
    at: &At,
    session: &mut Session,
    ready: impl FnOnce(&mut Session, &App, &str) -> Result<(), Fault>,
) -> Result<u8, Fault> {
    let stop = interrupt_flag()?;
    let files = at.tls_cert.clone().zip(at.tls_key.clone());
    let certificate = files.map(|(certificate, key)| Certificate { certificate, key });
    let listening = Listening::bind(&at.host, at.port, certificate.as_ref())?;
    let options = Options {
        version: env!("CARGO_PKG_VERSION"),
        port: listening.address().port(),
        names: Names {
            host: at.host.clone(),
            hosts: at.allow_host.clone(),
            origins: at.allow_origin.clone(),
        },
        policy: session.find()?.config.window()?,
        is_secure: listening.is_secure(),
        settings: settings(session)?,
        tells: log::of_requests(&session.env),
    };
    let app = App::new(Box::new(Serving::new(session)), options);
    let scheme = if listening.is_secure() {
        "https"
    } else {
        "http"
    };
    let address = format!("{scheme}://{}", listening.address());
    let engine = app.served()?;
    let named = engine.serve_at(&address)?;
    let first = engine.tokens().first(AccessRole::Orchestrator)?;
    let secret = first.map(|token| token.secret);
    if session.out.json {
        let mut said = json!({"listening": address});
        if let Some(secret) = secret {
            said["token"] = json!(secret);
        }
        session.out.value(&said);
    } else {
        session.out.line(&format!("listening on {address}"));
        if let Some(secret) = secret {
            session.out.line(&format!("token: {secret}"));
            session
                .out
                .talk("It is told this once. Its role is orchestrator; `heirloom token create` makes others.");
        }
    }
    ready(session, &app, &address)?;
    session.out.flush();
    let settings = mcp::Settings {
        follows_roots: false,
        as_server_memory: false,
        commands: Some(Arc::new(Serving::new(session))),
    };
    let hosts = [vec![at.host.clone()], at.allow_host.clone()].concat();
    let router = router(app.clone(), mcp::router(&app, settings, &hosts));
    serve(listening, Some(&app), router, move || {
        stop.load(Ordering::Relaxed)
    })?;
    drop(named);
    Ok(0)
}

/// The settings as `heirloom config --show-origin` tells them.
fn settings(session: &mut Session) -> Result<Vec<Setting>, Fault> {
    let config = session.find()?.config;
    let one = |key: &crate::config::Key| {
        let (value, origin) = config.get(key)?;
        let layer = origin.layer.as_str();
        Some(Setting {
            key: key.name.to_owned(),
            value: value.to_string(),
            origin: match origin.layer {
                Layer::Default => layer.to_owned(),
                Layer::User | Layer::Project | Layer::Environment | Layer::Flag => {
                    format!("{layer}: {}", origin.place)
                }
            },
        })
    };
    Ok(KEYS.iter().filter_map(one).collect())
}
