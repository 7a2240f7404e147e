//! Limits of the vector sidecar.

/// Number of vectors that a sidecar may lack before it is rewritten.
pub const SIDECAR_LAG_VECTORS: u32 = 4_096;
/// Maximum number of vectors in a sidecar: 68 MB.
pub const SIDECAR_VECTORS_MAX: u32 = 262_144;
