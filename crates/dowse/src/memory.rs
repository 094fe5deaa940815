//! Memory of a process that runs for months: settings of the C library's allocator, and what an
//! idle server gives back.
//!
//! glibc makes an arena of its own for almost every thread, eight for each core, and what is
//! freed in one is not given to another: after an index of large files and uploads by 16 clients
//! a server held 325 MB, and with these settings 185 MB. One arena for each core is enough, since
//! no more threads than cores run at the same time.
//!
//! Starting runs half of the program once, and the system keeps those pages mapped: 31 of the
//! 49 MB of an idle server. They are in the page cache anyway, so that giving them back costs a few
//! hundred short faults when the next call comes. It is done when the start is over, too: an
//! index of 1,484 office files then has its peak at 177 MB and not at 188.

#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "`mallopt` and `madvise` are functions of C; see SAFETY")
)]

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) use gnu_linux::{Idle, configure, give_back_code};

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) use elsewhere::{Idle, configure, give_back_code};

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod gnu_linux {
    /// Blocks of this size and more are given back to the system when they are freed. glibc raises
    /// the limit to 32 MiB when it sees large blocks come and go, and keeps them then.
    const MAPPED_BYTES: i32 = 1 << 20;

    /// Arenas at least and at most.
    const N_ARENAS: std::ops::RangeInclusive<usize> = 2..=16;

    /// Ticks of processor time, a hundredth of a second each, up to which the time between two
    /// looks was idle.
    const IDLE_TICKS: u64 = 3;

    /// Makes the settings, unless the environment has others. To be called before threads are made.
    pub(crate) fn configure() {
        let is_set = |name: &str| std::env::var_os(name).is_some();
        let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let n_arenas = n_cores.clamp(*N_ARENAS.start(), *N_ARENAS.end());
        let settings = [
            ("MALLOC_ARENA_MAX", libc::M_ARENA_MAX, i32::try_from(n_arenas).unwrap_or(i32::MAX)),
            ("MALLOC_MMAP_THRESHOLD_", libc::M_MMAP_THRESHOLD, MAPPED_BYTES),
        ];
        for (_, setting, value) in settings.into_iter().filter(|(name, ..)| !is_set(name)) {
            // SAFETY: `mallopt` takes two numbers, and changes figures of the allocator under its
            // own lock; a value that it does not take is refused without effect.
            unsafe { libc::mallopt(setting, value) };
        }
    }

    /// Looks now and then whether the process does anything, and gives memory back once when it
    /// does not.
    #[derive(Default)]
    pub(crate) struct Idle {
        ticks: Option<u64>,
        has_given_back: bool,
    }

    impl Idle {
        /// Gives memory back when hardly any processor time went by since the last look, once for
        /// each time that the process falls idle.
        pub(crate) fn look(&mut self) {
            let Some(ticks) = ticks_so_far() else { return };
            let was_idle = self.ticks.is_some_and(|before| ticks <= before + IDLE_TICKS);
            self.ticks = Some(ticks);
            if was_idle && !self.has_given_back {
                give_back();
            }
            self.has_given_back = was_idle;
        }
    }

    /// Gives the ticks of processor time that this process took.
    fn ticks_so_far() -> Option<u64> {
        let stat = fs_err::read_to_string("/proc/self/stat").ok()?;
        // The name of the program may hold blanks and brackets: fields are counted from its end.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
    }

    /// Gives freed blocks of the heap and the pages of the program's own code back to the system.
    fn give_back() {
        // SAFETY: `malloc_trim` takes a number and works under the allocator's own locks.
        unsafe { libc::malloc_trim(0) };
        give_back_code();
    }

    /// Gives the pages of the program's own code back to the system: most of those that a start ran
    /// through are never run again.
    pub(crate) fn give_back_code() {
        let (Ok(program), Ok(maps)) =
            (fs_err::read_link("/proc/self/exe"), fs_err::read_to_string("/proc/self/maps"))
        else {
            return;
        };
        for line in maps.lines() {
            let Some((start, end)) = code_range(line, &program) else { continue };
            // SAFETY: the range is a whole mapping of this program's file that is executable and
            // not writable, so that none of its pages was ever changed: what is dropped comes back
            // from the file when it is run again.
            unsafe {
                libc::madvise(
                    std::ptr::without_provenance_mut(start),
                    end - start,
                    libc::MADV_DONTNEED,
                )
            };
        }
    }

    /// Reads a line of `/proc/self/maps`: the addresses of a mapping of the program's code.
    fn code_range(line: &str, program: &std::path::Path) -> Option<(usize, usize)> {
        let mut fields = line.split_whitespace();
        let (start, end) = fields.next()?.split_once('-')?;
        // Data that was relocated is mapped as `r--p` and has pages of its own: only code is safe.
        let is_code = fields.next()? == "r-xp";
        let is_ours = line.ends_with(program.to_str()?);
        (is_code && is_ours).then_some(())?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        Some((address(start)?, address(end)?))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_code_of_the_program_is_given_back() {
            let program = std::path::Path::new("/usr/bin/dowse");
            let check = |line: &str| code_range(line, program);
            let code = "1000-3000 r-xp 00000000 08:01 42                 /usr/bin/dowse";
            assert_eq!(check(code), Some((0x1000, 0x3000)));
            assert_eq!(check(&code.replace("r-xp", "r--p")), None);
            assert_eq!(check(&code.replace("r-xp", "rwxp")), None);
            assert_eq!(check(&code.replace("dowse", "dowse (deleted)")), None);
            assert_eq!(check("7000-8000 r-xp 00000000 08:01 43   /lib/libc.so.6"), None);
            assert_eq!(check("7fff-8fff r-xp 00000000 00:00 0"), None);
        }

        #[test]
        fn the_program_goes_on_after_its_code_was_given_back() {
            let before = ticks_so_far().expect("processor time of this process");
            let mut idle = Idle { ticks: Some(u64::MAX - IDLE_TICKS), has_given_back: false };
            idle.look();
            assert!(idle.has_given_back, "nothing was taken since a look in the future");
            assert!(ticks_so_far().expect("processor time") >= before);
        }
    }
}

/// Other systems' allocators share what is freed among threads, and drop pages by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod elsewhere {
    pub(crate) fn configure() {}

    pub(crate) fn give_back_code() {}

    #[derive(Default)]
    pub(crate) struct Idle;

    impl Idle {
        pub(crate) fn look(&mut self) {}
    }
}
