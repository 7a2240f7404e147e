//! Items of JSON arrays in stored receipts.

use serde_json::Value;

/// Returns the items of a JSON array; empty for other values.
pub(super) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
