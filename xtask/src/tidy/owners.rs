//! Foreign crates have owners: whoever wants to know how the house talks HTTP looks in one room.

use super::Problem;
use super::house::{Member, Use, UseKind};
use super::rooms::Rooms;

/// Names the room and the crate of every use that the table does not allow.
pub(super) fn check(rooms: &Rooms, members: &[Member]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in members {
        for used in member.uses.iter().filter(|used| !used.is_room) {
            if !may_use(rooms, &member.name, used) {
                let what = match rooms.owners_of(&used.name).as_slice() {
                    [] => format!(
                        "`{}` uses `{}`, which has no owner; hint: add it to `owns` of the room in xtask/rooms.toml",
                        member.name, used.name
                    ),
                    owners => format!(
                        "`{}` uses `{}`, which belongs to `{}`",
                        member.name,
                        used.name,
                        owners.join("`, `")
                    ),
                };
                problems.push(Problem::new(&member.name, what));
            }
        }
    }
    problems
}

fn may_use(rooms: &Rooms, room: &str, used: &Use) -> bool {
    let is_owner = rooms.rooms.get(room).is_some_and(|room| room.owns.contains(&used.name));
    let is_for_all = rooms.everyone.contains(&used.name);
    // A test may look at the world with any crate that the house knows already.
    let is_for_tests = used.kind == UseKind::Tests
        && (rooms.for_tests.contains(&used.name) || !rooms.owners_of(&used.name).is_empty());
    is_owner || is_for_all || is_for_tests
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"
        everyone = ["serde"]
        for_tests = ["insta"]
        tables = []
        licences = []
        [rooms.net]
        rank = 0
        owns = ["reqwest"]
        [rooms.text]
        rank = 1
    "#;

    #[track_caller]
    fn check_use(room: &str, foreign: &str, kind: UseKind, expected: &[&str]) {
        let rooms: Rooms = toml::from_str(TABLE).unwrap();
        let used = Use { name: foreign.to_owned(), word: foreign.to_owned(), kind, is_room: false };
        let member = Member { name: room.to_owned(), folder: String::new(), uses: vec![used] };
        let problems = super::check(&rooms, &[member]);
        let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn room_and_crate_are_named() {
        check_use("net", "reqwest", UseKind::Product, &[]);
        check_use("text", "serde", UseKind::Product, &[]);
        let foreign = "text: `text` uses `reqwest`, which belongs to `net`";
        check_use("text", "reqwest", UseKind::Product, &[foreign]);
        let unknown = "text: `text` uses `left-pad`, which has no owner; hint: add it to `owns` of the room in xtask/rooms.toml";
        check_use("text", "left-pad", UseKind::Tests, &[unknown]);
    }

    #[test]
    fn tests_may_use_what_the_house_knows() {
        check_use("text", "insta", UseKind::Tests, &[]);
        check_use("text", "reqwest", UseKind::Tests, &[]);
        let product = "text: `text` uses `insta`, which has no owner; hint: add it to `owns` of the room in xtask/rooms.toml";
        check_use("text", "insta", UseKind::Product, &[product]);
    }
}
