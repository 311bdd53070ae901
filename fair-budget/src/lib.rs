//! A total of bytes that several owners share, of which none can take everything.
//!
//! ```
//! use pml_fair_budget::FairBudget;
//!
//! static BUDGET: FairBudget<&str> = FairBudget::new(100);
//! let greedy = BUDGET.try_reserve(&"greedy", 50).expect("half of the total is free");
//! assert!(BUDGET.try_reserve(&"greedy", 1).is_none());
//! assert!(BUDGET.try_reserve(&"modest", 25).is_some());
//! # drop(greedy);
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod budget;
mod reservation;

pub use budget::FairBudget;
pub use reservation::Reservation;
