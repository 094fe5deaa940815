//! The commands that sentences of the README and of the guides print: each is run after the blocks
//! of its page, where these have left what it is about, or is listed with the reason why not.

use std::collections::BTreeSet;

/// What a command of ours or of an installer begins with.
const PROGRAMS: [&str; 9] =
    ["dowse", "cargo", "uvx", "npx", "npm", "pip", "brew", "docker", "kubectl"];

const PACKAGES: &str = "it builds a release, and environments of other languages around it";
const UNPUBLISHED: &str = "nothing is published yet";
const DOWNLOAD: &str = "it downloads a model";
const MEASUREMENT: &str = "it measures for minutes, on sets that are not in the repository";
const OTHER_SYSTEMS: &str = "it needs the standard libraries of other systems";
const SERVER: &str = "it runs until it is stopped: blocks of the README and of guides do that";
const ACCOUNT: &str = "it needs an account of the service";

/// Commands that are not run, and why.
const NOT_RUN: [(&str, &str); 33] = [
    ("brew install dowse-search", UNPUBLISHED),
    ("cargo check --target", OTHER_SYSTEMS),
    ("cargo install --path crates/dowse", "it builds the binary that is there already"),
    ("cargo xtask agent-tasks --data FOLDER", MEASUREMENT),
    ("cargo xtask answer-tokens", MEASUREMENT),
    ("cargo xtask bench search", MEASUREMENT),
    ("cargo xtask bench store", MEASUREMENT),
    ("cargo xtask cluster --check", "it starts a cluster; tests of `tests/it/servers` do as well"),
    ("cargo xtask first-answer", MEASUREMENT),
    ("cargo xtask first-answer --command uvx --offline --no-cache --from FILE dowse", MEASUREMENT),
    ("cargo xtask fit --cache FOLDER --rows FILE --queries 100 --dry-run SETS…", MEASUREMENT),
    ("cargo xtask fit --level", MEASUREMENT),
    ("cargo xtask fit --queries 100", MEASUREMENT),
    ("cargo xtask fit --queries 40", MEASUREMENT),
    ("cargo xtask other-systems", OTHER_SYSTEMS),
    ("cargo xtask package", PACKAGES),
    ("cargo xtask package --binary FILE", PACKAGES),
    ("cargo xtask peers", MEASUREMENT),
    ("docker build -t dowse-search .", "it needs a container engine"),
    ("dowse bench infer", MEASUREMENT),
    ("dowse bench scale --config dowse.toml --cache FOLDER --folder FOLDER SET…", MEASUREMENT),
    ("dowse demo", SERVER),
    ("dowse models pull", DOWNLOAD),
    ("dowse models pull NAME", DOWNLOAD),
    ("dowse models pull org/model", DOWNLOAD),
    ("dowse serve", SERVER),
    ("dowse serve documents", SERVER),
    ("kubectl kustomize", "it needs kubectl"),
    ("npx dowse-search", UNPUBLISHED),
    ("npx mcp-remote", "it is another project's, and comes from the network"),
    ("pip download", DOWNLOAD),
    ("uvx --from dowse-search dowse", UNPUBLISHED),
    ("uvx dowse-search mcp FOLDER", UNPUBLISHED),
];

/// Pages of which a command is not run though it is run on others, and why.
const NOT_RUN_HERE: [(&str, &str, &str); 2] = [
    ("turbopuffer.md", "dowse check", ACCOUNT),
    ("turbopuffer.md", "dowse check --repair", ACCOUNT),
];

/// Commands that leave out what only their reader knows, and what is run in their place.
const COMPLETED: [(&str, &str, &str); 14] = [
    // What `dowse init` has drafted before is served elsewhere, and was not indexed yet.
    ("README.md", "dowse search WORDS", "rm dowse.toml\ndowse search lighthouse"),
    ("clients.md", "dowse connect CLIENT FOLDER…", "dowse connect cursor documents"),
    ("console.md", "dowse eval judged.jsonl", JUDGED),
    ("contexts.md", "dowse context tool reindex", "dowse context tool reindex search_chapters"),
    (
        "evaluation.md",
        "dowse eval --cache FOLDER --limit 300 SET",
        "dowse eval --no-model --cache cache --limit 300 judged.jsonl",
    ),
    ("folders.md", "dowse open", "dowse open documents/benefits.md"),
    ("folders.md", "dowse search", "dowse search allowance"),
    ("knowledge.md", "dowse kb documents", "dowse kb documents rules"),
    (
        "knowledge.md",
        "dowse kb set DOCUMENT --tag hr --metadata '{\"year\": 2024}'",
        "dowse kb set \"$(dowse kb documents rules --json | grep -o '\"id\": *\"[^\"]*' | head -1 | \
         cut -d '\"' -f 4)\" --tag hr --metadata '{\"year\": 2024}'",
    ),
    ("models.md", "dowse mcp", "mkdir documents\ndowse mcp documents"),
    ("packaging/README.md", "dowse connect", "dowse connect claude ."),
    ("scale.md", "dowse backup FILE", "dowse backup --config new.toml all.backup"),
    ("scale.md", "dowse restore FILE", "dowse restore --config third.toml all.backup"),
    ("tables.md", "dowse tables export", "dowse tables export requests.jsonl"),
];

const JUDGED: &str = "printf '%s\\n' '{\"document\": \"a\", \"text\": \"the crane\"}' \
                      '{\"query\": \"crane\", \"relevant\": {\"a\": 1}}' > judged.jsonl\n\
                      dowse eval --no-model judged.jsonl";

/// Gives what is run of the sentences of a page.
///
/// # Panics
///
/// When a command is neither to be run nor listed.
#[track_caller]
pub(crate) fn script_of(page: &str, text: &str) -> String {
    let mut script = String::new();
    for command in printed_in(text) {
        let is_listed = NOT_RUN.iter().any(|(listed, _)| *listed == command)
            || NOT_RUN_HERE.iter().any(|(of, listed, _)| *of == page && *listed == command);
        if is_listed {
            continue;
        }
        let completed =
            COMPLETED.iter().find(|(of, printed, _)| *of == page && *printed == command);
        let run = completed.map_or(command.as_str(), |(.., run)| *run);
        assert!(
            run.starts_with("dowse ") || completed.is_some(),
            "{page}: `{command}` has no list"
        );
        // 1 says that something is missing or could be better, which is no error.
        script.push_str(&format!("{{ {run}\n}} < /dev/null || test $? -eq 1\n"));
    }
    script
}

/// Gives the commands that sentences name: text in backticks that begins with a program, each once.
pub(crate) fn printed_in(text: &str) -> BTreeSet<String> {
    let mut commands = BTreeSet::new();
    let mut is_inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_inside = !is_inside;
        }
        if is_inside {
            continue;
        }
        for (span_idx, span) in line.split('`').enumerate() {
            let program = span.split_once(' ').map(|(program, _)| program);
            if span_idx % 2 == 1 && program.is_some_and(|name| PROGRAMS.contains(&name)) {
                commands.insert(span.to_owned());
            }
        }
    }
    commands
}

/// A list that names what no page prints any more would hide what is printed next.
#[test]
fn what_is_listed_is_printed() {
    let pages = super::guides::pages_with_commands();
    let printed = |page: Option<&str>, command: &str| {
        let of = pages.iter().filter(|(name, _)| page.is_none_or(|page| name == page));
        of.clone().any(|(_, text)| printed_in(text).contains(command))
    };
    for (command, reason) in NOT_RUN {
        assert!(!reason.is_empty() && printed(None, command), "no page prints `{command}`");
    }
    for (page, command, _) in NOT_RUN_HERE.into_iter().chain(COMPLETED) {
        assert!(printed(Some(page), command), "{page} prints no `{command}`");
    }
}

#[test]
fn commands_are_told_from_other_words() {
    let text =
        "`dowse check` and `dowse` and `npx x`, `x.toml`\n```sh\n`dowse no`\n```\n`dowse check`\n";
    let expected = ["dowse check", "npx x"].map(str::to_owned);
    assert_eq!(printed_in(text), BTreeSet::from(expected));
}
