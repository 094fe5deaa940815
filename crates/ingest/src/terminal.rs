//! How far a job is, for the person at the terminal.

use std::cell::Cell;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use parking_lot::Mutex;

use crate::JobProgress;

/// The bar that is drawn now, where there is one.
static DRAWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes to the terminal where a bar may be drawn: it goes for that moment, and comes back below,
/// so that no half of it stays above what was written.
pub fn beside_bar<T>(write: impl FnOnce() -> T) -> T {
    let drawn = DRAWN.lock().clone();
    match drawn {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// How often the bar is drawn while nothing happens.
const TICK: Duration = Duration::from_millis(200);

/// A shorter time is not said.
const SHOWN_FROM: Duration = Duration::from_secs(1);

/// While the end is not known: a full bar would jump back when it is.
const COUNTED: &str = "{msg:>10} {spinner} {human_pos} so far";

/// Once the end is known.
const MEASURED: &str = "{msg:>10} [{bar:30}] {human_pos}/{human_len} {left}";

/// While the size of what comes is not known.
const COUNTED_BYTES: &str = "{msg:>12} {spinner} {decimal_bytes} so far";

const BYTES: &str = "{msg:>12} [{bar:30}] {decimal_bytes} of {decimal_total_bytes} {left}";

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .with_key("left", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // A reader that cannot be written to has no bar.
            let _ = out.write_str(&left(state.pos(), state.len(), state.eta()));
        })
}

/// Says how long it will take, where that is known: before the first step nothing is, and where the
/// last one takes long the rest is not a matter of no time.
fn left(n_done: u64, n_total: Option<u64>, eta: Duration) -> String {
    match n_done > 0 && n_total.is_some_and(|n_total| n_done < n_total) && eta >= SHOWN_FROM {
        true => format!("{:#} left", HumanDuration(eta)),
        false => String::new(),
    }
}

/// A bar on stderr; draws nothing where stderr is not a terminal.
#[derive(Debug)]
pub struct TerminalBar {
    bar: ProgressBar,
    has_total: Cell<bool>,
}

impl Default for TerminalBar {
    fn default() -> Self {
        TerminalBar::new()
    }
}

impl TerminalBar {
    /// Begins to draw.
    pub fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        bar.set_style(style(COUNTED));
        bar.enable_steady_tick(TICK);
        *DRAWN.lock() = Some(bar.clone());
        TerminalBar { bar, has_total: Cell::new(false) }
    }

    /// Shows how far a job is: a bar once its end is known, and a count before.
    pub fn show(&self, progress: &JobProgress) {
        self.bar.set_message(progress.stage.clone());
        let n_total = progress.n_total.filter(|n_total| *n_total >= progress.n_done);
        if n_total.is_some() != self.has_total.get() {
            self.has_total.set(n_total.is_some());
            self.bar.set_style(style(if n_total.is_some() { MEASURED } else { COUNTED }));
        }
        if let Some(n_total) = n_total {
            self.bar.set_length(n_total as u64);
        }
        self.bar.set_position(progress.n_done as u64);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        DRAWN.lock().take();
        self.bar.finish_and_clear();
    }
}

/// A bar on stderr that counts bytes; draws nothing where stderr is not a terminal.
#[derive(Debug)]
pub struct ByteBar {
    bar: ProgressBar,
    has_total: Cell<bool>,
}

impl Default for ByteBar {
    fn default() -> Self {
        ByteBar::new()
    }
}

impl ByteBar {
    /// Begins to draw.
    pub fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        bar.set_style(style(COUNTED_BYTES));
        *DRAWN.lock() = Some(bar.clone());
        ByteBar { bar, has_total: Cell::new(false) }
    }

    /// Shows how far it is; a total of 0 is unknown.
    pub fn show(&self, what: &'static str, n_done: u64, n_total: u64) {
        self.bar.set_message(what);
        let has_total = n_total > 0;
        if has_total != self.has_total.replace(has_total) {
            self.bar.set_style(style(if has_total { BYTES } else { COUNTED_BYTES }));
        }
        // A bar as long as what has come would be full all the time.
        if has_total {
            self.bar.set_length(n_total.max(n_done));
        } else {
            self.bar.unset_length();
        }
        self.bar.set_position(n_done);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        DRAWN.lock().take();
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::*;

    fn progress(n_done: usize, n_total: Option<usize>) -> JobProgress {
        JobProgress { n_done, n_total, ..JobProgress::default() }
    }

    /// `0s` stood beside 298 of 299 for as long as the last file took, and before the first byte.
    #[test]
    fn no_time_is_said_where_none_is_known() {
        let eta = Duration::from_secs(6);
        assert_eq!(left(5, Some(10), eta), "6s left");
        assert_eq!(left(5, Some(10), Duration::from_secs(1140)), "19m left");
        for (n_done, n_total, eta) in
            [(0, Some(10), eta), (10, Some(10), eta), (5, None, eta), (9, Some(10), Duration::ZERO)]
        {
            assert_eq!(left(n_done, n_total, eta), "");
        }
    }

    /// A download whose size the server does not say had a bar that was full from its beginning.
    #[test]
    fn a_download_of_unknown_size_is_counted() {
        let bar = ByteBar::new();
        bar.bar.set_draw_target(ProgressDrawTarget::hidden());
        bar.show("downloading", 500, 0);
        assert_eq!((bar.bar.length(), bar.bar.position()), (None, 500));
        bar.show("downloading", 600, 1_000);
        assert_eq!((bar.bar.length(), bar.has_total.get()), (Some(1_000), true));
        bar.show("downloading", 1_200, 1_000);
        assert_eq!(bar.bar.length(), Some(1_200));
        bar.show("checking", 10, 0);
        assert_eq!((bar.bar.length(), bar.has_total.get()), (None, false));
    }

    /// A terminal that remembers what was done to it.
    #[derive(Debug, Clone, Default)]
    struct Terminal(Arc<Mutex<Vec<String>>>);

    impl Terminal {
        fn note(&self, what: &str) -> std::io::Result<()> {
            self.0.lock().push(what.to_owned());
            Ok(())
        }
    }

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn write_line(&self, line: &str) -> std::io::Result<()> {
            self.note(line)
        }

        fn write_str(&self, text: &str) -> std::io::Result<()> {
            self.note(text)
        }

        fn clear_line(&self) -> std::io::Result<()> {
            self.note("cleared")
        }

        fn flush(&self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// `0 so far` stayed on the screen above the addresses that `dowse serve` printed meanwhile.
    #[test]
    fn what_is_written_beside_a_bar_leaves_none_of_it_behind() {
        let terminal = Terminal::default();
        let bar = TerminalBar::new();
        bar.bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        bar.show(&progress(3, Some(10)));
        bar.bar.force_draw();
        beside_bar(|| terminal.note("written").unwrap());
        let done = terminal.0.lock().clone();
        let at = done.iter().position(|what| what == "written").unwrap();
        let is_bar = |what: &String| what.contains("3/10");
        let drawn = done[..at].iter().rposition(is_bar).expect("the bar was drawn");
        assert!(done[drawn..at].contains(&"cleared".to_owned()), "{done:?}");
        assert!(done[at..].iter().any(is_bar), "{done:?}");
        bar.clear();
        terminal.0.lock().clear();
        beside_bar(|| terminal.note("written").unwrap());
        assert_eq!(*terminal.0.lock(), ["written"]);
    }

    /// The bar was full at 2 of 2 while files were still being counted, and then jumped back.
    #[test]
    fn a_bar_is_never_fuller_than_the_work() {
        let bar = TerminalBar::new();
        bar.bar.set_draw_target(ProgressDrawTarget::hidden());
        bar.show(&progress(2, None));
        assert_eq!((bar.bar.length(), bar.has_total.get()), (None, false));
        bar.show(&progress(3, Some(10)));
        assert_eq!((bar.bar.length(), bar.bar.position()), (Some(10), 3));
        bar.show(&progress(4, Some(0)));
        assert!(!bar.has_total.get(), "a total below what is done is not known yet");
    }
}
