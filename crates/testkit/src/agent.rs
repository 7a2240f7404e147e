//! placeholder
/// x
#[derive(Debug)]
pub struct ScriptedAgent;
