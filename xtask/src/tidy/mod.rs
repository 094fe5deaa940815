//! Rules of the house that the compiler cannot check: `cargo xtask tidy`.
//!
//! A rule is a file here: it takes plain values, gives a list of problems, and is tried on small
//! cases beside it. This file says which rules there are; what they allow stands in
//! `xtask/rooms.toml`. All problems are shown at once, each naming the file, the room or the crate.

mod house;
mod rooms;

mod owners;
mod ranks;
mod unused;

mod licences;

mod architecture;
mod links;
mod sources;

use std::fmt;

pub(crate) use house::House;

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// Where: a path with a line where there is one, or a room.
    place: String,
    /// What, and what would be right.
    what: String,
}

impl Problem {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Problem { place: place.into(), what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// Checks the whole clone; any problem is an error that lists them all.
pub(crate) fn run() -> anyhow::Result<()> {
    let house = House::look()?;
    let problems = check(&house);
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    anyhow::ensure!(problems.is_empty(), "tidy: {} problems\n{}", lines.len(), lines.join("\n"));
    eprintln!(
        "tidy: {} rooms, {} files, {} packages: no problem",
        house.members.len(),
        house.files.len(),
        house.licences.len()
    );
    Ok(())
}

/// Applies every rule.
pub(crate) fn check(house: &House) -> Vec<Problem> {
    let mut problems = [
        ranks::check(&house.rooms, &house.members),
        owners::check(&house.rooms, &house.members),
        unused::check(house),
        licences::check(&house.rooms.licences, &house.licences),
        licences::check_deny(&house.rooms.licences, house.files.get("deny.toml"))
            .into_iter()
            .collect(),
        architecture::check(house),
        links::check(house),
        sources::check(house),
    ]
    .concat();
    problems.sort();
    problems
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_clone_is_tidy() {
        super::run().unwrap();
    }
}
