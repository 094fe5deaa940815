//! Reading what the conformance suite prints at its end.

/// The numbers of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) n_scenarios: usize,
    /// Scenarios that checked nothing: they prove nothing, whatever mark is before them.
    pub(super) n_empty: usize,
    pub(super) n_passed: usize,
    pub(super) n_failed: usize,
}

/// The line before the summary.
const HEADING: &str = "SUMMARY ===";
/// How much of a run without a summary is shown.
const MAX_SHOWN_LINES: usize = 60;

impl Summary {
    /// Reads the summary, or gives `None` when the run never came to one.
    pub(super) fn parse(printed: &str) -> Option<Summary> {
        let (_, summary) = printed.rsplit_once(HEADING)?;
        let total = summary.lines().find_map(|line| line.strip_prefix("Total: "))?;
        let (n_passed, n_failed) = counts(total)?;
        let is_scenario = |line: &&str| line.starts_with('✓') || line.starts_with('✗');
        let scenarios: Vec<(usize, usize)> = summary
            .lines()
            .filter(is_scenario)
            .filter_map(|line| counts(line.rsplit_once(": ")?.1))
            .collect();
        let n_empty = scenarios.iter().filter(|(passed, failed)| passed + failed == 0).count();
        Some(Summary { n_scenarios: scenarios.len(), n_empty, n_passed, n_failed })
    }
}

/// Gives the part of the output that says what failed: the summary, or the last lines.
pub(super) fn last_part(printed: &str) -> String {
    if let Some((_, summary)) = printed.rsplit_once(HEADING) {
        return summary
            .lines()
            .filter(|line| !line.starts_with('✓'))
            .collect::<Vec<_>>()
            .join("\n");
    }
    let lines: Vec<&str> = printed.lines().collect();
    lines[lines.len().saturating_sub(MAX_SHOWN_LINES)..].join("\n")
}

/// Reads `3 passed, 1 failed`.
fn counts(text: &str) -> Option<(usize, usize)> {
    let (passed, failed) = text.split_once(", ")?;
    let number = |part: &str, word: &str| part.trim().strip_suffix(word)?.trim().parse().ok();
    Some((number(passed, "passed")?, number(failed, "failed")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "\
Running 3 scenarios

=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tools-list: 3 passed, 1 failed
✓ prompts-list: 0 passed, 0 failed

Total: 5 passed, 1 failed
";

    #[test]
    fn empty_scenarios_are_counted_apart() {
        let expected = Summary { n_scenarios: 3, n_empty: 1, n_passed: 5, n_failed: 1 };
        assert_eq!(Summary::parse(RUN), Some(expected));
        assert_eq!(Summary::parse("TypeError: fetch failed"), None);
    }

    #[test]
    fn failures_are_what_is_shown() {
        let shown = last_part(RUN);
        assert!(shown.contains("✗ tools-list") && !shown.contains("✓ ping"), "{shown}");
        assert_eq!(last_part("one\ntwo"), "one\ntwo");
    }
}
