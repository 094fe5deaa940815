//! `cargo xtask other-systems`: type checks the code of macOS and Windows on this machine.
//!
//! Where the standard library of another system is installed (`rustup target add TARGET`), that is
//! `cargo check --target`. Where it is not, this finds most of what that would find: the sources
//! are copied, conditions are rewritten as that system has them, and names that only Unix has are
//! taken away; what is left is checked here. Not seen then are differences of the foreign system's
//! own functions, and the one file that calls functions of Windows, which stays as it is.

use std::path::Path;
use std::process::Command;

use xshell::cmd;

use crate::process::{self, Limit};
use crate::project;

/// How long the check of one system may take.
const CHECK: Limit = Limit::minutes("check of another system", 60);

/// A system that is none of the conditions: nothing is built for it.
const NO_SYSTEM: &str = "haiku";

/// Files that are left as they are, and why.
const LEFT: [(&str, &str); 1] =
    [("crates/store/src/positional.rs", "its other half calls functions of Windows")];

/// Crates that run on developers' machines alone.
const NOT_SHIPPED: [&str; 4] = ["crates/testkit/", "crates/measure/", "crates/fit/", "xtask/"];

/// What only Unix has, by the beginning of its path.
const OF_UNIX: [&str; 6] = [
    "std::os::unix::",
    "std::os::fd::",
    "fs_err::os::unix::",
    "tokio::signal::unix::",
    "rustix::",
    "libc::",
];

/// A system whose code is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Macos,
    Windows,
}

impl System {
    fn name(self) -> &'static str {
        match self {
            System::Macos => "macos",
            System::Windows => "windows",
        }
    }

    /// The target of the compiler that is checked where its standard library is here.
    fn target(self) -> &'static str {
        match self {
            System::Macos => "aarch64-apple-darwin",
            System::Windows => "x86_64-pc-windows-gnu",
        }
    }
}

/// Tells whether the standard library of a target is installed.
fn has_library(target: &str) -> anyhow::Result<bool> {
    let shell = xshell::Shell::new()?;
    let folder = cmd!(shell, "rustc --print target-libdir --target {target}").quiet().read()?;
    Ok(Path::new(folder.trim()).is_dir())
}

/// Checks both, and says how.
pub(crate) fn run() -> anyhow::Result<()> {
    for system in [System::Macos, System::Windows] {
        let target = system.target();
        if has_library(target)? {
            let mut check = Command::new("cargo");
            check.args(["check", "--locked", "--package", "dowse", "--bin", "dowse"]);
            check.args(["--target", target]).current_dir(project::root());
            process::run(check, CHECK)?;
            eprintln!("{}: the code type checks for `{target}`", system.name());
            continue;
        }
        let copy = project::target_dir().join("other-systems").join(system.name());
        let n_changed = copy_for(system, &copy)?;
        eprintln!("{}: {n_changed} files with conditions of the system", system.name());
        let mut check = Command::new("cargo");
        // Of the whole workspace, so that dependencies are those that are built already.
        check.args(["check", "--locked", "--workspace", "--lib", "--bins"]).current_dir(&copy);
        check.env("CARGO_TARGET_DIR", project::target_dir());
        process::run(check, CHECK)?;
        eprintln!(
            "{}: the code with conditions of the system type checks, but for {}; \
             `rustup target add {target}` lets all of it be checked",
            system.name(),
            LEFT[0].0
        );
    }
    Ok(())
}

/// Copies every file of the repository, rewritten for a system; gives how many were.
fn copy_for(system: System, copy: &Path) -> anyhow::Result<usize> {
    let shell = xshell::Shell::new()?;
    shell.change_dir(project::root());
    let mut n_changed = 0;
    for file in cmd!(shell, "git ls-files").quiet().read()?.lines() {
        let (from, to) = (project::root().join(file), copy.join(file));
        if !from.is_file() {
            continue;
        }
        if let Some(folder) = to.parent() {
            fs_err::create_dir_all(folder)?;
        }
        let is_shipped = file.ends_with(".rs")
            && file.contains("/src/")
            && !NOT_SHIPPED.iter().any(|folder| file.starts_with(folder))
            && LEFT.iter().all(|(left, _)| *left != file);
        let before = fs_err::read(&from)?;
        let after = match is_shipped {
            true => rewritten(&String::from_utf8_lossy(&before), system).into_bytes(),
            false => before.clone(),
        };
        n_changed += usize::from(after != before);
        // What is the same keeps its time, so that it is not compiled again.
        if fs_err::read(&to).ok().as_ref() != Some(&after) {
            fs_err::write(&to, after)?;
        }
    }
    Ok(n_changed)
}

/// Writes a source as another system would read it.
fn rewritten(text: &str, system: System) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = next_condition(rest) {
        let end = end_of_parentheses(&rest[at..]).map_or(rest.len(), |length| at + length);
        out.push_str(&rest[..at]);
        out.push_str(&condition(&rest[at..end], system));
        rest = &rest[end..];
    }
    out.push_str(rest);
    if system == System::Windows {
        for path in OF_UNIX {
            out = out.replace(path, &format!("absent_here::{path}"));
        }
    }
    out
}

/// Finds the next `cfg(`, `cfg!(` or `cfg_attr(`.
fn next_condition(text: &str) -> Option<usize> {
    let mut found = text.match_indices("cfg").filter(|(at, _)| {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let is_begun = text[..*at].chars().next_back().is_none_or(|before| !is_word(before));
        let after = &text[at + 3..];
        is_begun && ["(", "!(", "_attr("].iter().any(|next| after.starts_with(next))
    });
    found.next().map(|(at, _)| at)
}

/// Gives the length up to the parenthesis that closes the first one.
fn end_of_parentheses(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at + 1),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn condition(text: &str, system: System) -> String {
    let own = format!("target_os = \"{}\"", system.name());
    let text = text.replace("target_os = \"linux\"", &format!("target_os = \"{NO_SYSTEM}\""));
    let text = text.replace(&own, "all()");
    if system == System::Macos {
        return text;
    }
    // The word alone: `any(unix, …)`, `not(unix)`, `unix`.
    let mut out = String::new();
    let mut word = String::new();
    for letter in text.chars().chain(['\0']) {
        if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
            continue;
        }
        out.push_str(if word == "unix" { "any()" } else { &word });
        word.clear();
        if letter != '\0' {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_those_of_the_other_system() {
        let text = "#[cfg(unix)]\nmod unix;\n#[cfg(all(test, not(unix)))]\n\
                    #[cfg(target_os = \"linux\")] if cfg!(target_os = \"macos\") { unix(\"cfg\") }\n\
                    fn my_cfg(unix: u8) {}\nuse rustix::fs::open;\n";
        let windows = "#[cfg(any())]\nmod unix;\n#[cfg(all(test, not(any())))]\n\
                       #[cfg(target_os = \"haiku\")] if cfg!(target_os = \"macos\") { unix(\"cfg\") }\n\
                       fn my_cfg(unix: u8) {}\nuse absent_here::rustix::fs::open;\n";
        assert_eq!(rewritten(text, System::Windows), windows);
        let macos =
            text.replace("\"linux\"", "\"haiku\"").replace("target_os = \"macos\"", "all()");
        assert_eq!(rewritten(text, System::Macos), macos);
    }
}
