//! Every guide is run as it is printed: its `sh` blocks, one after the other, and then the commands
//! that its sentences name, in an empty folder, with the binary under test as `dowse`.
//!
//! What cannot run here is listed with the reason, in `printed_commands.rs`.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use testkit::Folder;

use crate::printed_commands::{printed_in, script_of};

/// How long one guide may take.
const LIMIT: Duration = Duration::from_secs(150);

/// Blocks of the README that are not run as printed, and why.
const README_BLOCKS: [(&str, &str); 2] = [
    ("cargo run --release -- demo", "the binary is there already: `dowse demo` is run instead"),
    ("cargo xtask test", "it is what runs this test"),
];

/// Waits until the server of a script answers.
const UNTIL_READY: &str = "for i in $(seq 600); do curl -sf http://127.0.0.1:7700/readyz > ready && break; sleep 0.1; done; \
                           cat ready > /dev/null; rm ready";

#[test]
fn folders() {
    run("folders.md");
}

#[test]
fn tables() {
    run("tables.md");
}

#[test]
fn knowledge() {
    run("knowledge.md");
}

#[test]
fn names() {
    run("names.md");
}

#[test]
fn models() {
    run("models.md");
}

#[test]
fn authentication() {
    run("authentication.md");
}

#[test]
fn operations() {
    run("operations.md");
}

#[test]
fn clients() {
    run("clients.md");
}

#[test]
fn writing_a_client() {
    run("writing-a-client.md");
}

#[test]
fn console() {
    run("console.md");
}

#[test]
fn turbopuffer() {
    run("turbopuffer.md");
}

/// The move is from one data folder to another: those to PostgreSQL and Qdrant are in
/// `servers/moving.rs`.
#[test]
fn scale() {
    let text = guide("scale.md");
    let before = "for name in old new third; do\n\
                  printf 'data_dir = \"%s\"\\n[embedder]\\nprovider = \"none\"\\n' $name > $name.toml\n\
                  done\n\
                  dowse kb create --config old.toml Handbook --public\n";
    let script = format!("{before}{}{}", blocks(&text), script_of("scale.md", &text));
    run_script("docs/guide/scale.md", &format!("{script}dowse kb list --config third.toml\n"));
}

#[test]
fn packages() {
    let text = fs_err::read_to_string(root("packaging/README.md")).unwrap();
    run_script("packaging/README.md", &script_of("packaging/README.md", &text));
}

/// The site is made from `docs/SUMMARY.md`: a page that is not in it would not be found, and one
/// that is gone would stop the build.
#[test]
fn the_summary_has_every_page_and_no_other() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let summary = fs_err::read_to_string(format!("{docs}/SUMMARY.md")).unwrap();
    let mut listed: Vec<&str> = summary
        .lines()
        .filter_map(|line| line.strip_suffix(')')?.rsplit_once("]("))
        .map(|(_, page)| page)
        .collect();
    let mut pages = Vec::new();
    for folder in ["", "guide/", "reference/", "decisions/"] {
        for entry in fs_err::read_dir(format!("{docs}/{folder}")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") && !["SUMMARY.md", "000-template.md"].contains(&name.as_str())
            {
                pages.push(format!("{folder}{name}"));
            }
        }
    }
    pages.sort();
    // The site's first page is a copy of the first one here: its links are right only when it is
    // not in a folder.
    assert_eq!(listed.first(), Some(&"README.md"));
    listed.sort_unstable();
    assert_eq!(listed, pages);
    for page in &pages {
        let text = fs_err::read_to_string(format!("{docs}/{page}")).unwrap();
        let depth = page.matches('/').count();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let n_up = link.matches("../").count();
            assert!(n_up <= depth, "{page} links to `{link}`, which is not in the site");
        }
    }
    let book: toml::Table =
        fs_err::read_to_string(format!("{docs}/book.toml")).unwrap().parse().unwrap();
    assert_eq!(book["book"]["src"].as_str(), Some("."));
}

/// The package of the agent comes from the test bed instead of the network.
#[test]
fn contexts() {
    let Some(python) = testkit::bed::python() else { return };
    let wrapper = format!(
        "mkdir -p agent/bin; printf '#!/bin/sh\\nexec {} \"$@\"\\n' > agent/bin/python; \
         chmod +x agent/bin/python; {UNTIL_READY}",
        python.display()
    );
    let text = guide("contexts.md");
    let install = "python3 -m venv agent && agent/bin/pip install --quiet mcp";
    assert!(text.contains(install), "the guide installs its package in another way");
    let script = blocks(&text).replace(install, &wrapper) + &script_of("contexts.md", &text);
    let output = run_script("docs/guide/contexts.md", &script);
    assert!(output.contains("['search_chapters', 'read_chapter']"), "{output}");
    assert!(output.contains("/chapters/1/text"), "{output}");
    assert!(output.contains("slewing ring"), "{output}");
}

/// From the README to a connected client with one's own data, in the README's own commands.
#[test]
fn readme() {
    let text = fs_err::read_to_string(root("README.md")).unwrap();
    let demo =
        format!("dowse demo --no-model --listen 7700 > demo.txt 2>&1 & server=$!\n{UNTIL_READY}");
    let serve = format!(
        "kill -INT $server; wait $server || true\nmkdir documents\n\
         echo 'The lighthouse opens at nine.' > documents/hours.md\n\
         dowse serve --no-model ./documents > serve.txt 2>&1 & server=$!\n{UNTIL_READY}"
    );
    let mut script = blocks(&text);
    let printed = README_BLOCKS.map(|(printed, _)| printed);
    let run = [(printed[0], demo.as_str()), (printed[1], ""), ("dowse serve ./documents", &serve)];
    for (printed, run) in run {
        assert!(script.contains(printed), "the README prints no `{printed}`");
        script = script.replacen(printed, run, 1);
    }
    script.push_str("dowse search lighthouse\n");
    script.push_str(&script_of("README.md", &text));
    script.push_str("cat serve.txt\n");
    let output = run_script("README.md", &script);
    assert!(output.contains("remote-work"), "the first `curl` finds nothing:\n{output}");
    assert!(output.contains("mcpServers"), "`dowse connect` prints no lines:\n{output}");
    assert!(output.contains("hours.md"), "the own folder is not found:\n{output}");
}

/// A command that a sentence names is one that the binary understands.
#[test]
fn commands_in_sentences_are_understood() {
    let mut pages: Vec<std::path::PathBuf> = vec![root("README.md"), root("packaging/README.md")];
    for folder in ["docs", "docs/guide"] {
        for entry in fs_err::read_dir(root(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path);
            }
        }
    }
    let mut n_commands = 0;
    for page in pages {
        for command in printed_in(&fs_err::read_to_string(&page).unwrap()) {
            let words = shell_words(&command);
            if words.first().is_none_or(|word| word != "dowse") || command.contains('…') {
                continue;
            }
            n_commands += 1;
            // What comes before `--help` is read first: an unknown word or flag is an error.
            let output = Command::new(env!("CARGO_BIN_EXE_dowse"))
                .args(&words[1..])
                .arg("--help")
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{}: `{command}`: {told}", page.display());
        }
    }
    assert!(n_commands > 30, "only {n_commands} commands were seen");
}

#[test]
fn evaluation() {
    run("evaluation.md");
}

/// A guide that is written and not run would rot.
#[test]
fn every_guide_is_run() {
    let source = include_str!("guides.rs");
    for (name, _) in pages_with_commands().iter().filter(|(name, _)| !name.contains('/')) {
        let is_run = ["run", "guide", "script_of"]
            .iter()
            .any(|function| source.contains(&format!("{function}(\"{name}\"")));
        assert!(is_run, "{name} has no test");
    }
}

/// Gives the README, that of the packages, and every guide, each with its name and its text.
pub(crate) fn pages_with_commands() -> Vec<(String, String)> {
    let named = ["README.md", "packaging/README.md"].map(|page| (page.to_owned(), root(page)));
    let guides = fs_err::read_dir(root("docs/guide")).unwrap().map(|entry| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), entry.path())
    });
    let pages = named.into_iter().chain(guides);
    pages.map(|(name, path)| (name, fs_err::read_to_string(path).unwrap())).collect()
}

/// Runs the blocks of a guide and the commands of its sentences as one script.
#[track_caller]
fn run(name: &str) {
    let text = guide(name);
    run_script(&format!("docs/guide/{name}"), &(blocks(&text) + &script_of(name, &text)));
}

fn guide(name: &str) -> String {
    fs_err::read_to_string(root(&format!("docs/guide/{name}"))).unwrap()
}

fn root(path: &str) -> std::path::PathBuf {
    std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// Runs a script in an empty folder, with a free port in the place of the usual one, and gives
/// what it printed.
#[track_caller]
fn run_script(page: &str, script: &str) -> String {
    let port = testkit::free_port().to_string();
    // Servers that a page leaves running end with it.
    let head = "set -euo pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT";
    let script = format!("{head}\n{script}").replace("7700", &port);
    let folder = Folder::new();
    folder
        .write("bin/dowse", format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_dowse")));
    make_executable(&folder);
    folder.write("script.sh", script);
    fs_err::create_dir(folder.join("work")).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = fs_err::File::create(folder.join("output")).unwrap().into_file();
    let mut child = Command::new("bash")
        .arg(folder.join("script.sh"))
        .current_dir(folder.join("work"))
        .env("PATH", format!("{}:{path}", folder.join("bin").display()))
        // The usual port may be taken on a developer's machine.
        .env("DOWSE_SERVER_LISTEN", format!("127.0.0.1:{port}"))
        // Nothing of the developer's own folders is read or written.
        .env("HOME", folder.path())
        .env("XDG_DATA_HOME", folder.join("data"))
        .stdin(Stdio::null())
        .stdout(output.try_clone().unwrap())
        .stderr(output)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if begun.elapsed() > LIMIT {
            let _ = child.kill();
            break None;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let output = folder.read("output");
    assert!(
        status.is_some_and(|status| status.success()),
        "{page} ended with {status:?} and printed:\n{output}"
    );
    output
}

/// Cuts a command into words as a shell would, with single quotes.
fn shell_words(command: &str) -> Vec<String> {
    command
        .split('\'')
        .enumerate()
        .flat_map(|(part_idx, part)| match part_idx % 2 {
            1 => vec![part.to_owned()],
            _ => part.split_whitespace().map(str::to_owned).collect(),
        })
        .collect()
}

/// Gives the text of all `sh` blocks.
fn blocks(text: &str) -> String {
    let mut script = String::new();
    let mut is_inside = false;
    for line in text.lines() {
        match (line, is_inside) {
            ("```sh", false) => is_inside = true,
            ("```", true) => is_inside = false,
            (line, true) => {
                script.push_str(line);
                script.push('\n');
            }
            (_, false) => {}
        }
    }
    script
}

#[cfg(unix)]
fn make_executable(folder: &Folder) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("bin/dowse");
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn only_shell_blocks_are_run() {
    let text = "a\n```sh\none\ntwo\n```\n```json\nthree\n```\n```sh\nfour\n```\n";
    assert_eq!(blocks(text), "one\ntwo\nfour\n");
}
