//! Lines that an agent prints to write memory.
