//! Which records a question is about.

use heirloom_model::{Kind, RecordId, Scope, Timestamp};

/// The time for which a question is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// What is current at this moment: neither retired nor expired.
    Current(Timestamp),
    /// What was current at this past moment.
    AsOf(Timestamp),
    /// Everything that was ever written.
    Ever,
}

/// The order of the answer, by id, which is by the clock of whoever wrote: a clock that goes back puts what
/// it dates behind what is there, and nothing else depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Newest first.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
}

/// A question for records of one project; every part that is given narrows the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// These kinds; empty = all.
    pub kinds: Vec<Kind>,
    /// This category (knowledge, notes).
    pub category: Option<String>,
    /// Any category but this one, or none.
    pub except_category: Option<String>,
    /// This state (steps, errors).
    pub state: Option<String>,
    /// This key.
    pub key: Option<String>,
    /// Keys that begin with this.
    pub key_prefix: Option<String>,
    /// Said by this source.
    pub source: Option<String>,
    /// What may be told at this time: it holds from before then until after then, as far as it says so, and is
    /// not disputed.
    pub holds_at: Option<Timestamp>,
    /// Only what lost a conflict in which nobody has decided; all of it is past, so ask for [`When::Ever`].
    pub open_conflict: bool,
    /// Every coordinate named here.
    pub scope: Scope,
    /// Only what belongs to no task.
    pub no_task: bool,
    /// At this time.
    pub when: When,
    /// In this order.
    pub order: Order,
    /// At most this many.
    pub limit: usize,
    /// Only those that come behind this id in the order: the last id of the page before.
    pub after: Option<RecordId>,
    /// These ids; empty = all.
    pub ids: Vec<RecordId>,
    /// Recorded at this time or later.
    pub recorded_from: Option<Timestamp>,
    /// Recorded before this time.
    pub recorded_before: Option<Timestamp>,
    /// Only those that are pinned.
    pub pinned: bool,
}

impl Filter {
    /// Everything of these kinds that is current at `now`, newest first, without a limit but the cap.
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
            when: When::Current(now),
            order: Order::Newest,
            limit: heirloom_model::limits::FIND_MAX,
            after: None,
            ids: Vec::new(),
            recorded_from: None,
            recorded_before: None,
            pinned: false,
        }
    }

    /// The same question for one category.
    #[must_use]
    pub fn category(mut self, category: &str) -> Self {
        self.category = Some(category.to_owned());
        self
    }

    /// The same question for every category but one.
    #[must_use]
    pub fn except_category(mut self, category: &str) -> Self {
        self.except_category = Some(category.to_owned());
        self
    }

    /// The same question for one state.
    #[must_use]
    pub fn state(mut self, state: &str) -> Self {
        self.state = Some(state.to_owned());
        self
    }

    /// The same question for one key.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// The same question for what may be told at this time.
    #[must_use]
    pub fn holds_at(mut self, time: Timestamp) -> Self {
        self.holds_at = Some(time);
        self
    }

    /// The same question for these ids.
    #[must_use]
    pub fn ids(mut self, ids: Vec<RecordId>) -> Self {
        self.ids = ids;
        self
    }

    /// The same question for one scope.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// The same question, oldest first.
    #[must_use]
    pub fn oldest_first(mut self) -> Self {
        self.order = Order::Oldest;
        self
    }

    /// The same question with at most `limit` answers.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}
