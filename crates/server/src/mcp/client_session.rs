//! MCP session of one client: selects the memory and runs its requests.

use super::logging::LogThreshold;
use super::prompts::CommandProvider;
use super::roots::Roots;
use super::subscriptions::Subscriptions;
use super::{Caller, McpSettings};
use crate::App;
use crate::app::MemoryTarget;
use heirloom_engine::Engine;
use heirloom_model::record::check_name;
use heirloom_model::{Authority, ErrorKind, Fault, limits, text};
use rmcp::RoleServer;
use rmcp::model::{ClientCapabilities, ProgressNotificationParam};
use rmcp::service::{Peer, RequestContext};
use std::sync::Arc;
use std::time::Duration;

/// Server side of one client's session.
#[derive(Clone)]
pub(super) struct ClientSession {
    inner: Arc<Inner>,
}

struct Inner {
    app: App,
    settings: McpSettings,
    roots: Roots,
    subscriptions: Subscriptions,
    log_threshold: LogThreshold,
    /// True if the server can send requests at any time, not only while it answers one.
    is_stream: bool,
}

impl ClientSession {
    pub(super) fn new(app: App, settings: McpSettings, is_stream: bool) -> Self {
        Self {
            inner: Arc::new(Inner {
                app,
                settings,
                roots: Roots::default(),
                subscriptions: Subscriptions::default(),
                log_threshold: LogThreshold::default(),
                is_stream,
            }),
        }
    }

    /// Returns the program version.
    pub(super) fn version(&self) -> &'static str {
        self.inner.app.options().version
    }

    /// Returns true if answers have structured content besides their text.
    pub(super) fn is_structured(&self) -> bool {
        self.inner.settings.is_structured
    }

    /// Returns the commands that are offered as prompts.
    pub(super) fn commands(&self) -> Option<Arc<dyn CommandProvider>> {
        self.inner.settings.commands.clone()
    }

    /// Returns the client's resource subscriptions.
    pub(super) fn subscriptions(&self) -> &Subscriptions {
        &self.inner.subscriptions
    }

    /// Returns the client's minimum log level.
    pub(super) fn log_threshold(&self) -> &LogThreshold {
        &self.inner.log_threshold
    }

    /// Requests the client's folders before they are needed, if the transport allows requests at any time.
    pub(super) async fn refresh_roots(&self, peer: &Peer<RoleServer>, is_changed: bool) {
        if is_changed {
            self.inner.roots.forget();
        }
        if self.inner.is_stream {
            let client = peer.peer_info();
            let capabilities = client.map(|client| client.capabilities.clone());
            drop(self.memory_target(peer, capabilities.as_ref()).await);
        }
    }

    async fn memory_target(
        &self,
        peer: &Peer<RoleServer>,
        capabilities: Option<&ClientCapabilities>,
    ) -> MemoryTarget {
        let follows = self.inner.settings.follows_roots;
        let has_roots =
            follows && capabilities.is_some_and(|capabilities| capabilities.roots.is_some());
        self.inner.roots.memory_target(peer, has_roots).await
    }

    /// Returns the caller of a request.
    pub(super) fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let authenticated = parts.and_then(|parts| parts.extensions.get::<Caller>());
        let mut caller = authenticated.cloned().unwrap_or_default();
        if caller.source.is_none() {
            let name = context.client_info().map(|client| client.name);
            caller.source = Some(client_source(name.as_deref().unwrap_or_default()));
        }
        caller
    }

    /// Runs `call` with the engine that the client addresses, and sends progress notifications.
    ///
    /// Errors: those of `call`; `Interrupted` if the client cancelled its request.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        call: impl FnOnce(&Engine) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let project = self.caller(context).project;
        let work = async {
            let capabilities = context.client_capabilities();
            let target = match project {
                Some(project) => MemoryTarget::Project(Some(project)),
                None => {
                    self.memory_target(&context.peer, capabilities.as_ref())
                        .await
                }
            };
            // Requests do not ingest files: a read would write, and wait for the lock of a writer.
            self.inner.app.start_file_watcher();
            // Inbox and workspace belong to the project of the folder, not to another project that a request names.
            let is_own = !matches!(target, MemoryTarget::Project(Some(_)));
            let app = self.inner.app.clone();
            let answer = self.inner.app.with_target_engine(target, move |engine| {
                let answer = call(engine)?;
                let notes = match is_own {
                    true => app.take_file_notes(engine),
                    false => Vec::new(),
                };
                Ok((answer, notes))
            });
            answer.await
        };
        let (answer, notes) = with_progress(context, work).await?;
        for note in notes {
            self.inner.log_threshold.warn(&context.peer, &note).await;
        }
        Ok(answer)
    }
}

/// Waits for `work`, sends progress notifications, and stops when the client cancels.
async fn with_progress<T>(
    context: &RequestContext<RoleServer>,
    work: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let token = context.meta.get_progress_token();
    let pause = Duration::from_millis(limits::MCP_PROGRESS_PAUSE_MS);
    let mut work = std::pin::pin!(work);
    let mut seconds = 0.0;
    loop {
        tokio::select! {
            answer = &mut work => return answer,
            () = context.ct.cancelled() => {
                return Err(Fault::new(ErrorKind::Interrupted, "the call was cancelled"));
            }
            () = tokio::time::sleep(pause) => {
                seconds += pause.as_secs_f64();
                if let Some(token) = &token {
                    let note = ProgressNotificationParam::new(token.clone(), seconds);
                    let note = note.with_message("still working");
                    // Progress is optional; a failed notification is ignored.
                    drop(context.peer.notify_progress(note).await);
                }
            }
        }
    }
}

/// Returns a client's name as a source. It never returns the name of a user or orchestrator.
fn client_source(name: &str) -> String {
    let name = text::one_line(name);
    let name = text::clip(name.trim(), SOURCE_CHARS);
    match check_name("source", name).is_err() || Authority::of_source(name) > Authority::Agent {
        true => "mcp".to_owned(),
        false => name.to_owned(),
    }
}

/// Maximum number of characters of a client's name; at 4 bytes each they fit.
const SOURCE_CHARS: usize = limits::NAME_BYTES_MAX / 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_source_is_never_a_user() {
        assert_eq!(client_source("claude-code"), "claude-code");
        for name in ["", " ", "user", "orchestrator", "team", " user\n"] {
            assert_eq!(client_source(name), "mcp", "{name:?}");
        }
        let long = client_source(&"ä".repeat(9_000));
        assert!(long.len() <= limits::NAME_BYTES_MAX, "{}", long.len());
    }
}
