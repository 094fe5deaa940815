//! Links of Markdown pages lead somewhere: to a file of the clone, and to a heading in it.

use super::Problem;
use super::workspace::Workspace;

/// Names every relative link whose file or heading is not there. Addresses are not visited.
pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (page, text) in workspace.files.iter().filter(|(path, _)| path.ends_with(".md")) {
        for (line, target) in links_in(text) {
            if let Some(what) = fault_of(workspace, page, text, target) {
                problems.push(Problem::new(format!("{page}:{line}"), what));
            }
        }
    }
    problems
}

fn fault_of(workspace: &Workspace, page: &str, text: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.to_owned() } else { resolve(page, file) };
    if !workspace.holds(&path) {
        return Some(format!("the link `{target}` leads to `{path}`, which does not exist"));
    }
    let there =
        if file.is_empty() { Some(text) } else { workspace.files.get(&path).map(String::as_str) };
    let has_heading =
        heading.is_empty() || there.is_none_or(|text| anchors_of(text).any(|it| it == heading));
    (!has_heading).then(|| format!("the link `{target}` names a heading that `{path}` lacks"))
}

/// Finds the inline links of a page with their line numbers, outside of code.
fn links_in(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (line_idx, line) in prose_lines(text) {
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("](") {
            let is_code = before.matches('`').count() % 2 == 1;
            let Some((target, after)) = after.split_once(')') else { break };
            if !is_code {
                links.push((line_idx + 1, target.split_whitespace().next().unwrap_or_default()));
            }
            rest = after;
        }
    }
    links
}

/// Makes the anchors of a page's headings as GitHub does.
fn anchors_of(text: &str) -> impl Iterator<Item = String> {
    let headings = prose_lines(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| {
        let kept = line.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Joins a link to the folder of its page.
fn resolve(page: &str, file: &str) -> String {
    let mut parts: Vec<&str> = if file.starts_with('/') {
        Vec::new()
    } else {
        page.split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect()
    };
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_inside_code_are_examples() {
        let page = "[a](one.md) and `[b](two.md)`\n```\n[c](three.md)\n```\n[d](#four \"title\")";
        assert_eq!(links_in(page), [(1, "one.md"), (5, "#four")]);
    }

    #[test]
    fn paths_are_joined_to_the_folder_of_the_page() {
        let check = |page, file, expected: &str| assert_eq!(resolve(page, file), expected);
        check("README.md", "docs/limits.md", "docs/limits.md");
        check("docs/decisions/001.md", "../limits.md", "docs/limits.md");
        check("docs/limits.md", "./scale.md", "docs/scale.md");
    }

    #[test]
    fn headings_become_anchors() {
        let anchors: Vec<String> = anchors_of("# Add a tool\n## Who may see what?\ntext").collect();
        assert_eq!(anchors, ["add-a-tool", "who-may-see-what"]);
    }
}
