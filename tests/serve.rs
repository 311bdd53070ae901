//! `pml serve`: driven by clients that others wrote, and by ones that mean no good.

mod approvals;
mod conformance;
mod driver;
mod endurance;
mod fairness;
mod foreign;
mod fuzz;
mod http;
mod scrubbed;
mod session;
mod stdio;
mod tokens;
