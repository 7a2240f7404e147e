//! File formats that Heirloom shares with people and other programs: the mirror, workspace files, group notes, histories, plan outputs, shared Markdown and knowledge graphs.

pub mod agentium;
pub mod external_memory;
pub mod group;
pub mod knowledge_graph;
pub mod mirror;
pub mod outputs;
pub mod plan_files;
pub mod session_history;
pub mod shared_context;
pub mod workspace;
