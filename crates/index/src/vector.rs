//! Vectors of texts: 256 numbers of 8 bits and a scale.
