//! A process whose clock is wrong: a small library that is loaded before the system's own.

use std::path::PathBuf;
use std::process::Command;

use crate::Folder;

/// Adds `DOWSE_TEST_SKEW` seconds to the wall clock; clocks that only measure time stay as they are.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *at) {
    int failed = (int)syscall(SYS_clock_gettime, id, at);
    const char *skew = getenv("DOWSE_TEST_SKEW");
    if (!failed && id == CLOCK_REALTIME && skew) at->tv_sec += atol(skew);
    return failed;
}
"#;

/// A library that moves the clock of the processes that load it.
#[derive(Debug)]
pub struct SkewedClock {
    library: PathBuf,
    _folder: Folder,
}

impl SkewedClock {
    /// Compiles the library, or gives `None` where there is no C compiler or another system.
    pub fn new() -> Option<Self> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let folder = Folder::new();
        let source = folder.write("skew.c", SOURCE);
        let library = folder.join("skew.so");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(&source)
            .status()
            .is_ok_and(|status| status.success());
        compiled.then_some(SkewedClock { library, _folder: folder })
    }

    /// Lets a command have a clock that is so many seconds ahead, or behind.
    pub fn apply(&self, command: &mut Command, seconds: i64) {
        command.env("LD_PRELOAD", &self.library).env("DOWSE_TEST_SKEW", seconds.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_process_is_moved() {
        let Some(clock) = SkewedClock::new() else { return };
        let seconds = |skew: i64| -> i64 {
            let mut command = Command::new("date");
            command.arg("+%s");
            clock.apply(&mut command, skew);
            String::from_utf8(command.output().unwrap().stdout).unwrap().trim().parse().unwrap()
        };
        let (now, later) = (seconds(0), seconds(7_200));
        assert!((7_190..7_260).contains(&(later - now)), "{now} {later}");
    }
}
