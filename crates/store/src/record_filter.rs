//! Filter for records.

use heirloom_model::{Kind, RecordId, Scope, Timestamp, text};

/// Temporal filter: the time at which a record must be current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsOf {
    /// Records that are current at this time: neither retired nor expired.
    Current(Timestamp),
    /// Records that were current at this past time (as-of query).
    Past(Timestamp),
    /// All records, also retired and expired ones.
    Ever,
}

/// Order of the results by id, which is the order of the writers' clocks. If a clock goes back, its records sort
/// after existing ones; nothing else depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Newest first.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
}

/// Filter for records of one project. A record must match every part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Kinds; empty for all.
    pub kinds: Vec<Kind>,
    /// Category (knowledge, notes).
    pub category: Option<String>,
    /// Excluded category; records without a category match.
    pub except_category: Option<String>,
    /// State (steps, errors).
    pub state: Option<String>,
    /// Exact key.
    pub key: Option<String>,
    /// Prefix of the key.
    pub key_prefix: Option<String>,
    /// Source of the record.
    pub source: Option<String>,
    /// Time at which the record must be valid: `true_from` and `true_to`, as far as they are set, include it, and the
    /// record is not disputed.
    pub holds_at: Option<Timestamp>,
    /// Matches only records that lost a conflict that is still unresolved. They are all retired, so combine it with
    /// [`AsOf::Ever`].
    pub open_conflict: bool,
    /// Scope coordinates that must match; unset ones match any.
    pub scope: Scope,
    /// Matches only records without a task.
    pub no_task: bool,
    /// Temporal filter.
    pub as_of: AsOf,
    /// Order of the results.
    pub order: Order,
    /// Maximum number of results.
    pub limit: usize,
    /// Cursor: only records after this id in the order (the last id of the previous page).
    pub after: Option<RecordId>,
    /// Record ids; empty for all.
    pub ids: Vec<RecordId>,
    /// Earliest `recorded_at`, inclusive.
    pub recorded_from: Option<Timestamp>,
    /// Latest `recorded_at`, exclusive.
    pub recorded_before: Option<Timestamp>,
    /// Matches only pinned records.
    pub pinned: bool,
    /// Matches only knowledge that an agent wrote and no person or orchestrator has reviewed.
    pub proposal: bool,
}

impl Filter {
    /// Creates a filter for records of these kinds that are current at `now`, newest first, with the highest limit.
    pub fn current(kinds: &[Kind], now: Timestamp) -> Self {
        Self {
            kinds: kinds.to_vec(),
            category: None,
            except_category: None,
            state: None,
            key: None,
            key_prefix: None,
            source: None,
            holds_at: None,
            open_conflict: false,
            scope: Scope::default(),
            no_task: false,
            as_of: AsOf::Current(now),
            order: Order::Newest,
            limit: heirloom_model::limits::FIND_MAX,
            after: None,
            ids: Vec::new(),
            recorded_from: None,
            recorded_before: None,
            pinned: false,
            proposal: false,
        }
    }

    /// Restricts the filter to one category.
    #[must_use]
    pub fn category(mut self, category: &str) -> Self {
        self.category = Some(category.to_owned());
        self
    }

    /// Excludes one category.
    #[must_use]
    pub fn except_category(mut self, category: &str) -> Self {
        self.except_category = Some(category.to_owned());
        self
    }

    /// Restricts the filter to one state.
    #[must_use]
    pub fn state(mut self, state: &str) -> Self {
        self.state = Some(state.to_owned());
        self
    }

    /// Restricts the filter to one key, in the composed form in which keys are stored.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(text::to_composed(key).into_owned());
        self
    }

    /// Restricts the filter to records that are valid at this time.
    #[must_use]
    pub fn holds_at(mut self, time: Timestamp) -> Self {
        self.holds_at = Some(time);
        self
    }

    /// Restricts the filter to these ids.
    #[must_use]
    pub fn ids(mut self, ids: Vec<RecordId>) -> Self {
        self.ids = ids;
        self
    }

    /// Restricts the filter to one scope.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the order to oldest first.
    #[must_use]
    pub fn oldest_first(mut self) -> Self {
        self.order = Order::Oldest;
        self
    }

    /// Sets the maximum number of results.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}
