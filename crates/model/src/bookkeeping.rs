//! Bookkeeping: data that a program stores for itself, such as a value of an agent framework's store or a mark for
//! removed items. It is no knowledge: only the program that wrote it can read it.

use crate::record::Attrs;
use crate::{Message, Record};
use serde_json::Value;

/// Attribute of records and turns that a program wrote for itself.
pub const MACHINE: &str = "machine";

/// Sets the mark of bookkeeping in attributes.
pub fn mark_as_machine(attrs: &mut Attrs) {
    attrs.insert(MACHINE.to_owned(), Value::Bool(true));
}

fn has_mark(attrs: &Attrs) -> bool {
    attrs.get(MACHINE) == Some(&Value::Bool(true))
}

impl Record {
    /// Returns true for data of a program, which no prompt and no search shows unless its key or category is given.
    pub fn is_bookkeeping(&self) -> bool {
        has_mark(&self.attrs)
    }
}

impl Message {
    /// Returns true for a turn with data of a program, which no prompt and no search shows.
    pub fn is_bookkeeping(&self) -> bool {
        has_mark(&self.attrs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_mark_itself_is_bookkeeping() {
        let mut attrs = Attrs::new();
        assert!(!has_mark(&attrs));
        for other in [json!(false), json!("true"), json!(1), json!(null)] {
            attrs.insert(MACHINE.to_owned(), other);
            assert!(!has_mark(&attrs), "{attrs:?}");
        }
        mark_as_machine(&mut attrs);
        assert!(has_mark(&attrs));
    }
}
