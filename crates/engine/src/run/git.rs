//! Files changed in a git repository.
