//! Coordinates of a record inside its project.

/// Scope of a record; each coordinate is optional.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Plan.
    pub plan: Option<String>,
    /// Group of agents that shares the record.
    pub group: Option<String>,
    /// Session in which it was recorded.
    pub session: Option<String>,
    /// Task.
    pub task: Option<String>,
    /// Agent that wrote it.
    pub agent: Option<String>,
    /// The phase of the task.
    pub phase: Option<String>,
    /// The iteration of the run, from 1.
    pub iteration: Option<u32>,
}

impl Scope {
    /// Creates the scope of one task.
    pub fn of_task(task: &str) -> Self {
        Self {
            task: Some(task.to_owned()),
            ..Self::default()
        }
    }

    /// Returns true if every coordinate set in `self` has the same value in `other`.
    pub fn covers(&self, other: &Self) -> bool {
        fn same<T: PartialEq>(mine: Option<&T>, theirs: Option<&T>) -> bool {
            mine.is_none() || mine == theirs
        }
        same(self.plan.as_ref(), other.plan.as_ref())
            && same(self.group.as_ref(), other.group.as_ref())
            && same(self.session.as_ref(), other.session.as_ref())
            && same(self.task.as_ref(), other.task.as_ref())
            && same(self.agent.as_ref(), other.agent.as_ref())
            && same(self.phase.as_ref(), other.phase.as_ref())
            && same(self.iteration.as_ref(), other.iteration.as_ref())
    }

    /// Returns mutable references to the text coordinates, in the order of [`Scope::names`].
    pub fn names_mut(&mut self) -> [&mut Option<String>; 6] {
        [
            &mut self.plan,
            &mut self.group,
            &mut self.session,
            &mut self.task,
            &mut self.agent,
            &mut self.phase,
        ]
    }

    /// Returns the names and values of the text coordinates, in the order of the documentation.
    pub fn names(&self) -> [(&'static str, Option<&str>); 6] {
        [
            ("plan", self.plan.as_deref()),
            ("group", self.group.as_deref()),
            ("session", self.session.as_deref()),
            ("task", self.task.as_deref()),
            ("agent", self.agent.as_deref()),
            ("phase", self.phase.as_deref()),
        ]
    }
}
