//! The guards, a file for what each one stops, with a list of bypasses.

mod degenerate_outputs;
mod invented_arguments;
mod oversized_outputs;
mod oversized_plans;
mod presets;
mod repeated_effects;
mod requests_to_private_addresses;
mod runaway_loops;
mod secrets_in_arguments;
mod side_effects;
mod skipped_steps;
mod slow_calls;
mod support;
mod unfulfilled_contracts;
mod unknown_arguments;
mod unresolved_references;
