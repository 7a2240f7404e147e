//! The walls as ARCHITECTURE.md draws them. Change both together.

/// What code may touch besides plain data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Power {
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

/// Every power, with the paths that use it and what to do instead.
pub(super) const POWERS: [(Power, &[&str], &str); 5] = [
    (
        Power::Files,
        &["std::fs", "tempfile"],
        "take the text as an argument",
    ),
    (
        Power::Processes,
        &["std::process"],
        "return what to run as data",
    ),
    (
        Power::Network,
        &["std::net", "std::os::unix::net"],
        "leave it to a surface",
    ),
    (
        Power::Clock,
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
        Power::Async,
        &["async", "await", "tokio", "futures"],
        "stay synchronous: only surfaces that serve many clients know a runtime",
    ),
];

/// One crate of the product.
pub(super) struct Crate {
    /// Its folder under `crates/`.
    pub(super) folder: &'static str,
    /// Which of our crates its `[dependencies]` may name.
    pub(super) may_use: &'static [&'static str],
    pub(super) powers: &'static [Power],
}

const SYNCHRONOUS: &[Power] = &[Power::Files, Power::Processes, Power::Network, Power::Clock];

const EVERYTHING: &[Power] = &[
    Power::Files,
    Power::Processes,
    Power::Network,
    Power::Clock,
    Power::Async,
];

/// The crates. Those that are not here (testkit, xtask, bench, fuzz) are free.
pub(super) const CRATES: &[Crate] = &[
    Crate {
        folder: "model",
        may_use: &[],
        powers: &[Power::Clock],
    },
    Crate {
        folder: "index",
        may_use: &["heirloom-model"],
        powers: &[],
    },
    Crate {
        folder: "window",
        may_use: &["heirloom-model"],
        powers: &[],
    },
    Crate {
        folder: "store",
        may_use: &["heirloom-model", "heirloom-index"],
        powers: SYNCHRONOUS,
    },
    Crate {
        folder: "engine",
        may_use: &[
            "heirloom-model",
            "heirloom-index",
            "heirloom-store",
            "heirloom-window",
        ],
        powers: SYNCHRONOUS,
    },
    Crate {
        folder: "services",
        may_use: &["heirloom-model"],
        powers: &[Power::Network, Power::Clock],
    },
    Crate {
        folder: "minilm",
        may_use: &["heirloom-model"],
        powers: &[Power::Files],
    },
    Crate {
        folder: "server",
        may_use: &["heirloom-model", "heirloom-engine"],
        powers: EVERYTHING,
    },
    Crate {
        folder: "heirloom",
        may_use: &[
            "heirloom-model",
            "heirloom-index",
            "heirloom-store",
            "heirloom-engine",
            "heirloom-services",
            "heirloom-minilm",
            "heirloom-window",
            "heirloom-server",
        ],
        powers: EVERYTHING,
    },
];

/// One room of the engine: `crates/engine/src/<name>.rs` and the folder beside it.
pub(super) struct Room {
    pub(super) name: &'static str,
    /// Which of our crates it may name.
    pub(super) crates: &'static [&'static str],
    /// What it may name of the engine besides itself.
    pub(super) inside: &'static [&'static str],
    pub(super) powers: &'static [Power],
}

const MODEL: &[&str] = &["heirloom_model"];

/// A room that computes: text and records in, values and diagnostics out.
const fn pure(name: &'static str) -> Room {
    Room {
        name,
        crates: MODEL,
        inside: &[],
        powers: &[],
    }
}

/// The one module of the store that is open to whoever may write files: it makes them whole and
/// durable, and knows no `Store`.
pub(super) const DURABLE: &str = "heirloom_store::durable";

/// A room that reads and writes files, and knows no store.
const fn with_files(name: &'static str) -> Room {
    Room {
        name,
        crates: MODEL,
        inside: &[],
        powers: &[Power::Files, Power::Clock],
    }
}

/// The rooms of the engine. `lib.rs`, `engine.rs` and `engine/` compose them and may use all.
pub(super) const ROOMS: &[Room] = &[
    pure("signals"),
    pure("streams"),
    pure("directives"),
    pure("commands"),
    pure("context"),
    pure("agentium"),
    pure("analytics"),
    pure("group"),
    pure("shared"),
    pure("graph"),
    pure("outputs"),
    pure("history"),
    pure("hooks"),
    pure("failures"),
    pure("working"),
    pure("planned"),
    pure("tracked"),
    pure("transcripts"),
    pure("redact"),
    Room {
        name: "recall",
        crates: &["heirloom_model", "heirloom_index", "heirloom_store"],
        inside: &[],
        powers: &[],
    },
    pure("workspace"),
    with_files("adapters"),
    with_files("places"),
    with_files("mirror"),
    Room {
        name: "run",
        crates: MODEL,
        inside: &["engine", "Engine"],
        powers: SYNCHRONOUS,
    },
];

/// Surfaces: skins over the engine that never see the store.
pub(super) const SURFACES: &[&str] = &["crates/heirloom/src/", "crates/server/src/"];

/// The one file that opens the store and hands it to the engine.
pub(super) const OPENS_THE_STORE: &str = "crates/heirloom/src/open.rs";
