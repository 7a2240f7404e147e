//! Table of permitted dependencies, as described in ARCHITECTURE.md; change both together.

/// Side effects that code may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The file system.
    Files,
    /// Other processes.
    Processes,
    /// Sockets.
    Network,
    /// The time of day, and stopwatches.
    Clock,
    /// An async runtime.
    Async,
}

/// Paths that have each effect, and the remedy.
pub(super) const EFFECTS: [(Effect, &[&str], &str); 5] = [
    (
        Effect::Files,
        &["std::fs", "tempfile", "heirloom_fs"],
        "take the text as an argument",
    ),
    (
        Effect::Processes,
        &["std::process"],
        "return what to run as data",
    ),
    (
        Effect::Network,
        &["std::net", "std::os::unix::net"],
        "leave it to a surface",
    ),
    (
        Effect::Clock,
        &[
            // Alone it hides which of its types are meant.
            "std::time::{self}",
            "std::time::SystemTime",
            "std::time::Instant",
            "jiff::Timestamp::now",
            "jiff::Zoned::now",
        ],
        "take the time as an argument",
    ),
    (
        Effect::Async,
        &["async", "await", "tokio", "futures"],
        "stay synchronous: only surfaces that serve many clients know a runtime",
    ),
];

/// One crate of the product.
pub(super) struct Crate {
    /// Its folder under `crates/`.
    pub(super) folder: &'static str,
    /// Workspace crates that its `[dependencies]` may name.
    pub(super) may_use: &'static [&'static str],
    pub(super) effects: &'static [Effect],
}

const SYNCHRONOUS: &[Effect] = &[
    Effect::Files,
    Effect::Processes,
    Effect::Network,
    Effect::Clock,
];

const EVERYTHING: &[Effect] = &[
    Effect::Files,
    Effect::Processes,
    Effect::Network,
    Effect::Clock,
    Effect::Async,
];

/// The crates. Those that are not here (testkit, xtask, bench, fuzz) are free.
pub(super) const CRATES: &[Crate] = &[
    Crate {
        folder: "model",
        may_use: &[],
        effects: &[Effect::Clock],
    },
    Crate {
        folder: "fs",
        may_use: &["heirloom-model"],
        effects: &[Effect::Files, Effect::Clock],
    },
    Crate {
        folder: "redact",
        may_use: &["heirloom-model"],
        effects: &[],
    },
    Crate {
        folder: "search",
        may_use: &["heirloom-model"],
        effects: &[],
    },
    Crate {
        folder: "prompt",
        may_use: &["heirloom-model"],
        effects: &[],
    },
    Crate {
        folder: "formats",
        may_use: &["heirloom-model"],
        effects: &[],
    },
    Crate {
        folder: "window",
        may_use: &["heirloom-model"],
        effects: &[],
    },
    Crate {
        folder: "agents",
        may_use: &["heirloom-model", "heirloom-fs"],
        effects: SYNCHRONOUS,
    },
    Crate {
        folder: "lessons",
        may_use: &["heirloom-model", "heirloom-agents"],
        effects: &[],
    },
    Crate {
        folder: "store",
        may_use: &["heirloom-model", "heirloom-fs", "heirloom-search"],
        // Its methods are synchronous. Connections to PostgreSQL run on a runtime that the store owns.
        effects: EVERYTHING,
    },
    Crate {
        folder: "engine",
        may_use: &[
            "heirloom-model",
            "heirloom-fs",
            "heirloom-redact",
            "heirloom-search",
            "heirloom-prompt",
            "heirloom-formats",
            "heirloom-agents",
            "heirloom-store",
            "heirloom-window",
            "heirloom-lessons",
        ],
        effects: SYNCHRONOUS,
    },
    Crate {
        folder: "capture",
        may_use: &[
            "heirloom-model",
            "heirloom-fs",
            "heirloom-redact",
            "heirloom-search",
            "heirloom-prompt",
            "heirloom-formats",
            "heirloom-agents",
            "heirloom-store",
            "heirloom-window",
            "heirloom-lessons",
            "heirloom-engine",
        ],
        effects: SYNCHRONOUS,
    },
    Crate {
        folder: "services",
        may_use: &["heirloom-model"],
        effects: &[Effect::Network, Effect::Clock],
    },
    Crate {
        folder: "client",
        // Programs of others depend on it alone.
        may_use: &[],
        effects: &[Effect::Processes, Effect::Network, Effect::Clock],
    },
    Crate {
        folder: "transformer",
        may_use: &["heirloom-model", "heirloom-search"],
        effects: &[],
    },
    Crate {
        folder: "server",
        may_use: &[
            "heirloom-model",
            "heirloom-fs",
            "heirloom-redact",
            "heirloom-search",
            "heirloom-formats",
            "heirloom-engine",
            "heirloom-capture",
        ],
        effects: EVERYTHING,
    },
    Crate {
        folder: "heirloom",
        may_use: &[
            "heirloom-model",
            "heirloom-fs",
            "heirloom-redact",
            "heirloom-search",
            "heirloom-prompt",
            "heirloom-formats",
            "heirloom-agents",
            "heirloom-store",
            "heirloom-engine",
            "heirloom-capture",
            "heirloom-services",
            "heirloom-transformer",
            "heirloom-window",
            "heirloom-lessons",
            "heirloom-server",
        ],
        effects: EVERYTHING,
    },
];

/// A module with a narrower rule than its crate: `crates/<folder>/src/<name>.rs` and its folder.
///
/// It uses no other listed module of its crate; shared data belongs in the model.
pub(super) struct Module {
    pub(super) folder: &'static str,
    pub(super) name: &'static str,
    pub(super) effects: &'static [Effect],
}

/// A pure module: text and records in, values and diagnostics out.
const fn pure(folder: &'static str, name: &'static str) -> Module {
    Module {
        folder,
        name,
        effects: &[],
    }
}

/// Modules that do not use each other within their crate.
pub(super) const MODULES: &[Module] = &[
    pure("agents", "signals"),
    pure("agents", "streams"),
    pure("agents", "hooks"),
    pure("agents", "failures"),
    pure("agents", "transcripts"),
    Module {
        folder: "agents",
        name: "adapters",
        effects: &[Effect::Files, Effect::Clock],
    },
    Module {
        folder: "agents",
        name: "process",
        effects: SYNCHRONOUS,
    },
    pure("prompt", "custom_commands"),
    pure("prompt", "context"),
    pure("prompt", "directives"),
    pure("formats", "agentium"),
    pure("formats", "knowledge_graph"),
    pure("formats", "group"),
    pure("formats", "session_history"),
    pure("formats", "mirror"),
    pure("formats", "outputs"),
    pure("formats", "plan_files"),
    pure("formats", "shared_context"),
    pure("formats", "workspace"),
    pure("search", "index"),
    pure("engine", "analytics"),
    pure("engine", "working_memory"),
];

/// Sources of the surfaces, which call the engine and never the store.
pub(super) const SURFACES: &[&str] = &["crates/heirloom/src/", "crates/server/src/"];

/// The file that opens the store and hands it to the engine, and its folder.
pub(super) const OPENS_THE_STORE: [&str; 2] = [
    "crates/heirloom/src/store_access.rs",
    "crates/heirloom/src/store_access/",
];

/// Accepted cycles between the children of one module. The list may only become shorter.
pub(super) struct Cycles {
    /// Path of the parent module, beginning with the folder of the crate.
    pub(super) parent: &'static str,
    /// Number of its children that are in a cycle.
    pub(super) modules: usize,
}

/// Modules whose children use each other.
pub(super) const CYCLES: &[Cycles] = &[
    // Agent programs name their adapters, streams, hooks and transcripts, which match on the program.
    Cycles {
        parent: "agents",
        modules: 17,
    },
    // MCP opens engines as the commands do.
    Cycles {
        parent: "heirloom",
        modules: 2,
    },
    // The application holds the caches of its handlers, and handlers take the application.
    Cycles {
        parent: "server",
        modules: 9,
    },
];
