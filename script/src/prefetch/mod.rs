//! Finds the calls that a script will make, from its syntax tree, so that they can start before the
//! script asks for them ([`prefetch_plan`]).
//!
//! The tree is evaluated as far as every value is known: constants, `args`, results of earlier calls
//! and parts of them. The evaluation ends at the first expression whose effect is not known: a timer,
//! the clock, a race, a callback of a promise, an `import()`, a name of the script that is not a
//! function. The plan has what comes before it, without the calls that are under way there: code that
//! holds a promise may observe in which order the answers come.
//!
//! A wrong plan costs calls and never changes a result. The broker gives a result to a call of the
//! script with the same tool and arguments alone, and drops all others at the first request of the
//! script that the plan does not have.

mod analyzer;
mod calls;
mod expressions;
mod loops;
mod members;
mod methods;
mod quiet;
mod scope;
mod statements;
mod value;

#[cfg(test)]
mod tests;

pub(crate) use analyzer::prefetch_plan;
