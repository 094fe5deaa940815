//! How far a job is, for the person at the terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::JobProgress;

/// How often the bar is drawn while nothing happens.
const TICK: Duration = Duration::from_millis(200);

/// A bar on stderr; draws nothing where stderr is not a terminal.
#[derive(Debug)]
pub struct TerminalBar(ProgressBar);

impl Default for TerminalBar {
    fn default() -> Self {
        TerminalBar::new()
    }
}

impl TerminalBar {
    /// Begins to draw.
    pub fn new() -> Self {
        let bar = ProgressBar::new(0);
        let style =
            ProgressStyle::with_template("{msg:>10} [{bar:30}] {human_pos}/{human_len} {eta}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        TerminalBar(bar)
    }

    /// Shows how far a job is.
    pub fn show(&self, progress: &JobProgress) {
        self.0.set_message(progress.stage.clone());
        self.0.set_length(progress.n_total.unwrap_or(0).max(progress.n_done) as u64);
        self.0.set_position(progress.n_done as u64);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}
