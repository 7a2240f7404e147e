//! What a prompt is told, inside a budget, with a receipt.
