//! Agent programs: their command lines, prompts and what they need.
