//! `heirloom serve`.

use super::run::interrupt_flag;
use crate::engine_provider::CliEngineProvider;
use crate::local_setup::CliLocalSetup;
use crate::logging;
use crate::store_access::CliSession;
use heirloom_model::{AccessRole, Fault};
use heirloom_server::{
    AllowedOrigins, App, Certificate, Listener, ServerOptions, mcp, router, serve,
};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Serve the HTTP API and the page, by default on this machine only, until Ctrl-C
///
/// The first start prints a token of the role `orchestrator`, once. `heirloom token` creates others, `heirloom ui`
/// opens the page.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) listen: ListenArgs,
}

/// Listening address of a server, its certificate, and the clients that it accepts.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ListenArgs {
    /// Address to listen on; one that other machines reach needs a certificate
    #[arg(long, value_name = "H", default_value = "127.0.0.1")]
    pub(super) host: String,
    /// Port to listen on; 0 chooses a free one
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
    /// Origin of another page that may send requests, such as `https://example.org`
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
}

impl ListenArgs {
    /// Returns the arguments for a port of this machine.
    pub(super) fn on_port(port: u16) -> Self {
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

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    serve_until_interrupted(&args.listen, session, |_, _, _| Ok(()))
}

/// Serves until Ctrl-C; `ready` is called with the server and its address when it answers requests.
pub(super) fn serve_until_interrupted(
    listen: &ListenArgs,
    session: &mut CliSession,
    ready: impl FnOnce(&mut CliSession, &App, &str) -> Result<(), Fault>,
) -> Result<u8, Fault> {
    let stop = interrupt_flag()?;
    let files = listen.tls_cert.clone().zip(listen.tls_key.clone());
    let certificate = files.map(|(certificate, key)| Certificate { certificate, key });
    let listening = Listener::bind(&listen.host, listen.port, certificate.as_ref())?;
    let options = ServerOptions {
        version: env!("CARGO_PKG_VERSION"),
        port: listening.address().port(),
        origins: AllowedOrigins {
            host: listen.host.clone(),
            hosts: listen.allow_host.clone(),
            origins: listen.allow_origin.clone(),
        },
        policy: session.find_project()?.config.window()?,
        is_secure: listening.is_secure(),
        setup: Some(Arc::new(CliLocalSetup::new(session))),
        log: logging::request_logger(&session.env),
    };
    let app = App::new(Box::new(CliEngineProvider::new(session)), options);
    let scheme = if listening.is_secure() {
        "https"
    } else {
        "http"
    };
    let address = format!("{scheme}://{}", listening.address());
    let engine = app.served_engine()?;
    let address_entry = engine.maintenance().announce_server(&address)?;
    let new_token = engine
        .maintenance()
        .tokens()
        .create_first(AccessRole::Orchestrator)?;
    // A kept engine would hold a database open that another file may replace.
    drop(engine);
    let secret = new_token.map(|token| token.secret);
    if session.out.json {
        let mut value = json!({"listening": address});
        if let Some(secret) = secret {
            value["token"] = json!(secret);
        }
        session.out.value(&value);
    } else {
        session.out.line(&format!("listening on {address}"));
        if let Some(secret) = secret {
            session.out.line(&format!("token: {secret}"));
            session
                .out
                .talk("It is shown only once. Its role is orchestrator; `heirloom token create` creates others.");
        }
    }
    ready(session, &app, &address)?;
    session.out.flush();
    let settings = mcp::McpSettings {
        follows_roots: false,
        as_server_memory: false,
        is_structured: session.config_without_project()?.flag("mcp.structured"),
        commands: Some(Arc::new(CliEngineProvider::new(session))),
    };
    let hosts = [vec![listen.host.clone()], listen.allow_host.clone()].concat();
    let router = router(app.clone(), mcp::router(&app, settings, &hosts));
    serve(listening, Some(&app), router, move || {
        stop.load(Ordering::Relaxed)
    })?;
    drop(address_entry);
    Ok(0)
}
