//! Capability tokens: minted, attenuated offline, verified and revoked.
#![forbid(unsafe_code)]
