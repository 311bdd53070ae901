//! The figures of `bench --bin learn`, without the build of the other benches.
//!
//! `cargo run -p pml-learn --example figures -- FOLDER [leave-one-out | fit-prior]`

use pml_learn::evaluate::{PriorChoice, SetError, prior_as_code, read_sets, report};

fn main() -> Result<(), SetError> {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next() else {
        println!("usage: figures FOLDER [leave-one-out | fit-prior]");
        return Ok(());
    };
    let sets = read_sets(folder.as_ref())?;
    let prior = match arguments.next().as_deref() {
        Some("fit-prior") => {
            print!("{}", prior_as_code(&sets));
            return Ok(());
        }
        Some("leave-one-out") => PriorChoice::OtherSets,
        _ => PriorChoice::BuiltIn,
    };
    report(&sets, prior, &mut |line| println!("{line}"));
    Ok(())
}
