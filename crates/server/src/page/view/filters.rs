//! View of the filters of a list.

/// Filter of a list: its address, and the number of rows that it leaves.
pub(crate) struct FilterLink {
    pub(crate) label: String,
    pub(crate) href: String,
    pub(crate) count: usize,
    pub(crate) is_selected: bool,
}
