//! Values of a statement.

use rusqlite::ToSql;

/// Values of a statement.
pub(crate) trait Values {
    /// Calls `work` with the values.
    fn with<R>(self, work: impl FnOnce(&[&dyn ToSql]) -> R) -> R;
}

impl Values for &[&dyn ToSql] {
    fn with<R>(self, work: impl FnOnce(&[&dyn ToSql]) -> R) -> R {
        work(self)
    }
}

impl<T: ToSql, const N: usize> Values for [T; N] {
    fn with<R>(self, work: impl FnOnce(&[&dyn ToSql]) -> R) -> R {
        let values: [&dyn ToSql; N] = self.each_ref().map(|value| value as &dyn ToSql);
        work(&values)
    }
}
