//! Chores of the project: `cargo xtask ci` is CI, word for word.
//!
//! Nothing here is part of the product, and nothing of the product is linked in: chores look at
//! the sources, at `cargo metadata`, and at the binary from outside, so that they build in
//! seconds and see what a user sees. Each chore is one file or one folder; this file only chooses.

mod process;
mod project;
mod usage;

mod ci;

mod generate;
mod tidy;

mod binary;
mod testbed;

mod agent_tasks;
mod bench;
mod chaos;
mod clients;
mod cluster;
mod conformance;
mod faults;
mod first_answer;
mod fit;
mod folders;
mod fuzz;
mod hostile;
mod instructions;
mod other_systems;
mod package;
mod peers;
mod scale;
mod soak;

const USAGE: &str = "\
usage: cargo xtask CHORE

  ci                    everything: format, clippy, docs, tidy, reference pages, then `test`
  test                  all tests, with what they need installed by package name: crates, doc
                        tests, the conformance suite, sessions of foreign clients
  tidy                  rules of the workspace: ranks, owners, licences, maps, links, file lengths
  generate [--check]    write the reference pages under docs/reference, or check them
  testbed               install what the tests talk to, and print where it is
  conformance           the official MCP suite against the built server
  clients               sessions of foreign MCP clients against the built server
  bench [NAME…]         `dowse bench` of a release build
  folders [OPTION…]     100,000 files from nothing to found, beside recoll, and an idle server
  agent-tasks [--binary FILE] [--data FOLDER] [--json FILE] [--no-peers]
                        tasks of an agent, played by a script: calls, refusals, tokens, success;
                        FOLDER has documents, or office, tables/nycflights13 and romania/entities
  answer-tokens [--binary FILE] [--before FILE]
                        tokens of a typical answer of every tool, beside those of an earlier build
  first-answer [--binary FILE | --command PROGRAM WORD…]
                        seconds from the start to the first answer over 300 documents, no model
  instructions [--check]
                        instructions of the main paths by callgrind (Debian's `valgrind`) over a
                        release build, kept in docs/instructions.txt
  fit [OPTION…] DATA…   fit the coefficients of the score on judged sets (see crates/fit)
  peers --data FOLDER [--binary FILE] [--only SUBJECT]… [--out FILE]
                        Dowse beside what people would pick instead, in one run
  package [--binary FILE] [--out FOLDER] [--server-schema FILE]
                        wheel, npm package and bundle around the binary, each installed and started
  other-systems         type check the code of macOS and Windows here, as far as that goes
  fuzz [SECONDS [TARGET…]]  the fuzz targets, one after the other
  chaos [ROUNDS [SEED]] [--binary FILE]
                        faults in random order against a model of what was acknowledged
  soak [SECONDS] [--binary FILE] [--folder FOLDER]
                        sixteen clients with mixed calls and reloads, an hour unless said otherwise
  hostile [CONNECTIONS] [--binary FILE]
                        how soon `/healthz` answers beside unfinished requests of strangers
  faults                several servers, PostgreSQL and Qdrant under faults that last longer than in CI
  cluster [--check]     a PostgreSQL and three peers of Qdrant, with a dowse.toml for them; with
                        --check two servers use it and all ends
  scale [--passages N]… [--peers N] [--replicas N] [--models FOLDER] [--binary FILE] SET…
                        PostgreSQL with Qdrant beside SQLite with the embedded engine
  servers [--engine embedded|qdrant] [--documents N] [--models FOLDER] [--binary FILE] SET
                        what a second server costs the first, each pinned to a core
  deny                  licences, sources and advisories of dependencies, where cargo-deny is there
";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["ci"] => ci::ci(),
        ["test"] => ci::test(),
        ["tidy"] => tidy::run(),
        ["generate"] => generate::run(generate::Mode::Write),
        ["generate", "--check"] => generate::run(generate::Mode::Check),
        ["testbed"] => testbed::print(),
        ["conformance"] => conformance::run(&testbed::prepare()?).map(drop),
        ["clients"] => clients::run(&testbed::prepare()?).map(drop),
        ["folders", options @ ..] => folders::run(options),
        ["bench", names @ ..] => bench::run(names),
        ["agent-tasks", arguments @ ..] => agent_tasks::run(arguments),
        ["answer-tokens", arguments @ ..] => agent_tasks::answer_tokens(arguments),
        ["fit", arguments @ ..] => fit::run(arguments),
        ["instructions", arguments @ ..] => instructions::run(arguments),
        ["first-answer", arguments @ ..] => first_answer::run(arguments),
        ["peers", arguments @ ..] => peers::run(arguments),
        ["package", arguments @ ..] => package::run(arguments),
        ["other-systems"] => other_systems::run(),
        ["fuzz", arguments @ ..] => fuzz::run(arguments),
        ["chaos", arguments @ ..] => chaos::run(arguments),
        ["soak", arguments @ ..] => soak::run(arguments),
        ["hostile", arguments @ ..] => hostile::run(arguments),
        ["faults"] => faults::run(),
        ["cluster", arguments @ ..] => cluster::run(arguments),
        ["scale", arguments @ ..] => scale::run(arguments),
        ["servers", arguments @ ..] => scale::servers(arguments),
        ["deny"] => ci::deny(),
        [] | ["help" | "--help" | "-h"] => {
            eprint!("{USAGE}");
            Ok(())
        }
        other => anyhow::bail!("unknown chore `{}`\n{USAGE}", other.join(" ")),
    }
}
