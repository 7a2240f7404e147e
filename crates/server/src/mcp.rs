//! Model Context Protocol (MCP): memory as tools, resources and prompts, over standard input and output or HTTP.

mod client_session;
mod compat;
mod conflicts;
mod context;
mod forget;
mod handler;
mod http;
mod log_episode;
mod log_error;
mod logging;
mod model_instructions;
mod note_step;
mod pagination;
mod prompts;
mod recall;
mod register_artifact;
mod remember;
mod resources;
mod roots;
mod schema;
mod similar_attempts;
mod stdio;
mod subscription_polling;
mod subscriptions;
mod tool;
mod tool_list;
mod update_memory;
mod uri;
mod workspace;
mod write_answer;

pub use http::{mount, router};
pub use prompts::CommandProvider;
pub(crate) use uri::percent_decode;
pub use uri::{ResourceAddress, folder_from_uri};

use crate::App;
use client_session::ClientSession;
use heirloom_model::Fault;
use rmcp::service::ServerInitializeError;
use rmcp::{ServerHandler, ServiceExt};
use std::sync::Arc;

/// MCP settings of the program.
#[derive(Clone)]
pub struct McpSettings {
    /// True if a client's root folders select the memory; otherwise the served project is used.
    pub follows_roots: bool,
    /// True to offer the tools of the reference server "memory".
    pub as_server_memory: bool,
    /// True to send answers as structured content too, for clients that are programs.
    pub is_structured: bool,
    /// Commands that are offered as prompts, if available.
    pub commands: Option<Arc<dyn CommandProvider>>,
}

/// Authenticated caller. The HTTP middleware puts it into the extensions of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// Project of the call; the served one by default.
    pub project: Option<String>,
    /// Source of its records; the client's own name by default.
    pub source: Option<String>,
    /// True if it speaks for a user or the orchestrator.
    pub decides: bool,
    /// Access token, if the server requires one.
    pub holder: Option<String>,
}

/// Serves one client on standard input and output, until it disconnects.
pub fn serve_stdio(app: App, settings: McpSettings) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault::failed(format!("server threads cannot be started: {error}")))?;
    let as_server_memory = settings.as_server_memory;
    let server = ClientSession::new(app.clone(), settings, true);
    let served = runtime.block_on(async move {
        let vectors = tokio::spawn(crate::background_jobs::embed_sentences_periodically(
            app.clone(),
        ));
        let served = match as_server_memory {
            true => serve_lines(compat::Compat(server)).await,
            false => serve_lines(server).await,
        };
        vectors.abort();
        crate::background_jobs::update_mirror(&app).await;
        served
    });
    // A thread that blocks on standard input would prevent the shutdown.
    runtime.shutdown_background();
    served
}

async fn serve_lines(server: impl ServerHandler) -> Result<(), Fault> {
    let (read, write) = rmcp::transport::io::stdio_pipes();
    let running = match server.serve(stdio::LineTransport::new(read, write)).await {
        Ok(running) => running,
        // The client disconnected before initialisation.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => {
            return Err(Fault::failed(format!(
                "the session could not be established: {error}"
            )));
        }
    };
    let ended = running.waiting().await;
    ended
        .map(drop)
        .map_err(|error| Fault::failed(format!("the session ended unexpectedly: {error}")))
}
