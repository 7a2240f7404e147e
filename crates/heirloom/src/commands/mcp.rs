//! `heirloom mcp`.

use super::run::interrupt_flag;
use crate::engine_provider::CliEngineProvider;
use crate::logging;
use crate::store_access::CliSession;
use heirloom_model::Fault;
use heirloom_server::mcp::{self, McpSettings};
use heirloom_server::{App, Listener, ServerOptions, serve};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Serve memory to agents over the Model Context Protocol
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  claude mcp add heirloom -- heirloom mcp
  heirloom mcp --compat server-memory    the nine tools of @modelcontextprotocol/server-memory
  heirloom mcp --http 7718               http://127.0.0.1:7718/mcp, for this machine only")]
pub(crate) struct Args {
    /// Serve over HTTP on this machine, at this port; 0 chooses a free one
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
    /// Offer the tools of another server, for its users
    #[arg(long, value_name = "SERVER")]
    compat: Option<CompatServer>,
}

/// Servers whose tools are offered.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum CompatServer {
    /// @modelcontextprotocol/server-memory: a knowledge graph
    ServerMemory,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let settings = McpSettings {
        follows_roots: !session.has_explicit_folder(),
        as_server_memory: matches!(args.compat, Some(CompatServer::ServerMemory)),
        is_structured: session.config_without_project()?.flag("mcp.structured"),
        commands: Some(Arc::new(CliEngineProvider::new(session))),
    };
    let options = ServerOptions {
        version: env!("CARGO_PKG_VERSION"),
        log: logging::request_logger(&session.env),
        ..ServerOptions::default()
    };
    let app = App::new(Box::new(CliEngineProvider::new(session)), options);
    let Some(port) = args.http else {
        mcp::serve_stdio(app, settings)?;
        return Ok(0);
    };
    let stop = interrupt_flag()?;
    let listening = Listener::bind("127.0.0.1", port, None)?;
    let address = format!("http://{}/mcp", listening.address());
    if session.out.json {
        session.out.value(&json!({"listening": address}));
    } else {
        session.out.line(&format!("listening on {address}"));
    }
    session.out.flush();
    let router = mcp::router(&app, settings, &[]);
    serve(listening, None, router, move || {
        stop.load(Ordering::Relaxed)
    })?;
    Ok(0)
}
