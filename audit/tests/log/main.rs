//! Tests of whole logs on disk.

mod crash;
mod damage;
mod fixture;
mod full_disk;
mod proofs;
mod retention;
mod sinks;
