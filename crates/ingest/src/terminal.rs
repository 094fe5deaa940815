//! How far a job is, for the person at the terminal.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use parking_lot::Mutex;

use crate::JobProgress;
use crate::remaining::Remaining;

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

/// Whether the process is about to end, so that no bar is drawn any more.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Takes away the bar that is drawn, and lets none be drawn any more: work that nobody waits for
/// must not draw below the last words of a process.
pub fn end_bars() {
    IS_OVER.store(true, Ordering::Relaxed);
    let drawn = DRAWN.lock().take();
    drawn.inspect(ProgressBar::finish_and_clear);
}

/// Makes a bar, which is drawn unless the process is about to end.
fn drawn() -> ProgressBar {
    let bar = match IS_OVER.load(Ordering::Relaxed) {
        true => ProgressBar::hidden(),
        false => ProgressBar::new_spinner(),
    };
    *DRAWN.lock() = Some(bar.clone());
    bar
}

/// How often the bar is drawn while nothing happens.
const TICK: Duration = Duration::from_millis(200);

/// While the end is not known: a full bar would jump back when it is.
const COUNTED: &str = "{msg:>10} {spinner} {human_pos} so far";

/// Once the end is known.
const MEASURED: &str = "{msg:>10} [{bar:30}] {human_pos}/{human_len} {prefix}";

/// While the size of what comes is not known.
const COUNTED_BYTES: &str = "{msg:>12} {spinner} {decimal_bytes} so far";

const BYTES: &str = "{msg:>12} [{bar:30}] {decimal_bytes} of {decimal_total_bytes} {prefix}";

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// Says how long the rest will take, where that is known.
fn said(left: Option<Duration>) -> String {
    left.map(|left| format!("{:#} left", HumanDuration(left))).unwrap_or_default()
}

/// A bar on stderr; draws nothing where stderr is not a terminal.
#[derive(Debug)]
pub struct TerminalBar {
    bar: ProgressBar,
    has_total: Cell<bool>,
    remaining: RefCell<Remaining>,
}

impl Default for TerminalBar {
    fn default() -> Self {
        TerminalBar::new()
    }
}

impl TerminalBar {
    /// Begins to draw.
    pub fn new() -> Self {
        let bar = drawn();
        bar.set_style(style(COUNTED));
        bar.enable_steady_tick(TICK);
        TerminalBar { bar, has_total: Cell::new(false), remaining: RefCell::default() }
    }

    /// Shows how far a job is: a bar once its end is known, and a count before.
    pub fn show(&self, progress: &JobProgress) {
        let mut remaining = self.remaining.borrow_mut();
        if self.bar.message() != progress.stage {
            self.bar.set_message(progress.stage.clone());
            remaining.begin_anew();
        }
        let n_total = progress.n_total.filter(|n_total| *n_total >= progress.n_done);
        if n_total.is_some() != self.has_total.get() {
            self.has_total.set(n_total.is_some());
            self.bar.set_style(style(if n_total.is_some() { MEASURED } else { COUNTED }));
        }
        if let Some(n_total) = n_total {
            self.bar.set_length(n_total as u64);
            let left = remaining.after(Instant::now(), progress.n_done as u64, n_total as u64);
            self.bar.set_prefix(said(left));
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
    remaining: RefCell<Remaining>,
}

impl Default for ByteBar {
    fn default() -> Self {
        ByteBar::new()
    }
}

impl ByteBar {
    /// Begins to draw.
    pub fn new() -> Self {
        let bar = drawn();
        bar.set_style(style(COUNTED_BYTES));
        ByteBar { bar, has_total: Cell::new(false), remaining: RefCell::default() }
    }

    /// Shows how far it is; a total of 0 is unknown.
    pub fn show(&self, what: &'static str, n_done: u64, n_total: u64) {
        let mut remaining = self.remaining.borrow_mut();
        if self.bar.message() != what {
            self.bar.set_message(what);
            remaining.begin_anew();
        }
        let has_total = n_total > 0;
        if has_total != self.has_total.replace(has_total) {
            self.bar.set_style(style(if has_total { BYTES } else { COUNTED_BYTES }));
        }
        // A bar as long as what has come would be full all the time.
        if has_total {
            self.bar.set_length(n_total.max(n_done));
            let left = remaining.after(Instant::now(), n_done, n_total);
            self.bar.set_prefix(said(left));
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
        assert_eq!(said(Some(Duration::from_secs(6))), "6s left");
        assert_eq!(said(Some(Duration::from_secs(1140))), "19m left");
        assert_eq!(said(None), "");
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

    /// After Ctrl-C a bar was drawn below the error, by work that nobody waited for any more.
    #[test]
    fn no_bar_is_drawn_below_the_last_words() {
        let terminal = Terminal::default();
        let bar = TerminalBar::new();
        bar.bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
        bar.show(&progress(3, Some(10)));
        bar.bar.force_draw();
        end_bars();
        terminal.0.lock().clear();
        bar.show(&progress(4, Some(10)));
        bar.bar.force_draw();
        assert!(!terminal.0.lock().iter().any(|what| what.contains("4/10")));
        assert!(TerminalBar::new().bar.is_hidden());
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
