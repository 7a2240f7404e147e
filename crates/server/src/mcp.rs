//! The Model Context Protocol: memory as tools, resources and prompts, over standard input and output or over HTTP.

mod compat;
mod conflicts;
mod context;
mod forget;
mod handler;
mod http;
mod log_episode;
mod log_error;
mod logging;
mod note_step;
mod pages;
mod prompts;
mod recall;
mod register_artifact;
mod remember;
mod resources;
mod roots;
mod server;
mod shape;
mod stdio;
mod tool;
mod tried;
mod update_memory;
mod uri;
mod watching;
mod workspace;

pub use http::{mount, router};
pub use prompts::Commands;
pub(crate) use uri::decoded;
pub use uri::{Address, folder_of};

use crate::App;
use heirloom_model::Fault;
use rmcp::service::ServerInitializeError;
use rmcp::{ServerHandler, ServiceExt};
use server::Server;
use std::sync::Arc;

/// What was decided about MCP when the program was started.
#[derive(Clone)]
pub struct Settings {
    /// Whether a client's folders say whose memory is meant; else it is the one that is served.
    pub follows_roots: bool,
    /// Whether the tools are those of the reference server "memory".
    pub as_server_memory: bool,
    /// The commands that are prompts; none if there is nobody who knows.
    pub commands: Option<Arc<dyn Commands>>,
}

/// Who calls, where somebody has found that out before: put it into the extensions of the HTTP request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// The project that is meant; the served one if it is not said.
    pub project: Option<String>,
    /// Under which name it writes; the client's own name if it is not said.
    pub source: Option<String>,
    /// Whether it speaks for a person or the orchestrator.
    pub decides: bool,
}

/// Serves one client on standard input and output, until it goes.
pub fn serve_stdio(app: App, settings: Settings) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault::failed(format!("no threads to serve with: {error}")))?;
    let as_server_memory = settings.as_server_memory;
    let server = Server::new(app, settings, true);
    let served = runtime.block_on(async move {
        match as_server_memory {
            true => serve_lines(compat::Compat(server)).await,
            false => serve_lines(server).await,
        }
    });
    // A thread that still waits for standard input would be waited for.
    runtime.shutdown_background();
    served
}

async fn serve_lines(server: impl ServerHandler) -> Result<(), Fault> {
    let (read, write) = rmcp::transport::io::stdio_pipes();
    let running = match server.serve(stdio::Lines::new(read, write)).await {
        Ok(running) => running,
        // It went before it said what it wants.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(Fault::failed(format!("no session came about: {error}"))),
    };
    let ended = running.waiting().await;
    ended
        .map(drop)
        .map_err(|error| Fault::failed(format!("the session broke off: {error}")))
}
