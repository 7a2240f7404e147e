//! Fields of a rendered hook answer.

use serde_json::{Map, Value};

/// Fields of a rendered answer.
#[derive(Default)]
pub(crate) struct AnswerFields {
    pub(super) whole: Map<String, Value>,
    pub(super) specific: Map<String, Value>,
}

impl AnswerFields {
    /// Sets a field of the answer.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.whole.insert(name.to_owned(), value);
    }

    /// Sets a field of the part that is specific to the event.
    pub(crate) fn set_specific(&mut self, name: &str, value: Value) {
        self.specific.insert(name.to_owned(), value);
    }
}
