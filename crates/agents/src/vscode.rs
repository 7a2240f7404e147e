//! Visual Studio Code with GitHub Copilot. Its hooks are those of [Copilot CLI](crate::copilot).

pub(crate) mod settings;
