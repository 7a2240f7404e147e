//! The loop of iterations of an agent command.
