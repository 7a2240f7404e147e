//! `heirloom mcp`.

use super::run::interrupt_flag;
use crate::log;
use crate::open::Session;
use crate::serving::Serving;
use heirloom_model::Fault;
use heirloom_server::mcp::{self, Settings};
use heirloom_server::{App, Listening, Options, serve};
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
    /// Over HTTP on this machine, at this port; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
    /// With the tools of another server, for whoever comes from it
    #[arg(long, value_name = "SERVER")]
    compat: Option<Server>,
}

/// A server whose tools can be had.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Server {
    /// @modelcontextprotocol/server-memory: a knowledge graph
    ServerMemory,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let settings = Settings {
        follows_roots: !session.is_place_named(),
        as_server_memory: matches!(args.compat, Some(Server::ServerMemory)),
        commands: Some(Arc::new(Serving::new(session))),
    };
    let options = Options {
        version: env!("CARGO_PKG_VERSION"),
        tells: log::of_requests(&session.env),
        ..Options::default()
    };
    let app = App::new(Box::new(Serving::new(session)), options);
    let Some(port) = args.http else {
        mcp::serve_stdio(app, settings)?;
        return Ok(0);
    };
    let stop = interrupt_flag()?;
    let listening = Listening::bind("127.0.0.1", port, None)?;
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
