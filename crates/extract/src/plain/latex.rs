//! LaTeX source as its reader would see it: commands taken out, sections as headings, tables as
//! rows, formulas left as they are written.

use model::{BlockKind, Pointer};

use crate::error::Result;
use crate::flow::Flow;
use crate::output::Output;

/// An argument that is not closed within this many bytes is no argument.
const MAX_ARGUMENT_BYTES: usize = 64 << 10;

/// How many commands and stretches of text pass between two looks at the clock.
const STEPS_PER_CHECK: u32 = 256;

pub(crate) fn read_latex(bytes: &[u8], output: &mut Output) -> Result<()> {
    let text = crate::encoding::decode_reported(bytes, None, output);
    let mut walk = Walk {
        source: &text,
        at: 0,
        line: 1,
        counted_to: 0,
        block_line: 1,
        flow: Flow::default(),
        kind: BlockKind::Paragraph,
        tables: Vec::new(),
        in_body: !text.contains("\\begin{document}"),
        searched: [0; 4],
    };
    walk.run(output)
}

struct Walk<'a> {
    source: &'a str,
    at: usize,
    line: u32,
    counted_to: usize,
    block_line: u32,
    flow: Flow,
    kind: BlockKind,
    tables: Vec<()>,
    in_body: bool,
    /// For each kind of formula, up to where no end of one was found.
    searched: [usize; 4],
}

impl<'a> Walk<'a> {
    fn run(&mut self, output: &mut Output) -> Result<()> {
        let mut n_steps = 0_u32;
        while let Some(char) = self.rest().chars().next() {
            n_steps = n_steps.wrapping_add(1);
            if n_steps.is_multiple_of(STEPS_PER_CHECK) {
                output.check_time()?;
            }
            match char {
                '%' => self.skip_line(),
                '\\' => self.command(output)?,
                '{' | '}' => self.at += 1,
                '$' => self.formula(),
                '~' => {
                    self.add(" ");
                    self.at += 1;
                }
                '&' if !self.tables.is_empty() => {
                    self.flow.push(" | ");
                    self.at += 1;
                }
                '\n' if self.rest().get(1..).is_some_and(starts_with_blank_line) => {
                    self.at += 1;
                    if self.tables.is_empty() {
                        self.end(output)?;
                    }
                }
                _ => {
                    let rest = self.rest();
                    let stop = rest
                        .find(['%', '\\', '{', '}', '$', '~', '&', '\n'])
                        .filter(|stop| *stop > 0)
                        .unwrap_or(if char == '\n' || char == '&' { 1 } else { rest.len() });
                    let piece = rest.get(..stop).unwrap_or_default();
                    self.add(&piece.replace("``", "\"").replace("''", "\"").replace("---", "—"));
                    self.at += stop;
                }
            }
        }
        self.end(output)
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn add(&mut self, text: &str) {
        if !self.in_body {
            return;
        }
        if self.flow.is_blank() {
            self.block_line = self.current_line();
        }
        self.flow.fold(text);
    }

    fn current_line(&mut self) -> u32 {
        let passed = self.source.as_bytes().get(self.counted_to..self.at).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed).count() as u32;
        self.counted_to = self.at.max(self.counted_to);
        self.line
    }

    fn end(&mut self, output: &mut Output) -> Result<()> {
        let kind = std::mem::replace(&mut self.kind, BlockKind::Paragraph);
        let text = self.flow.take();
        output.push(kind, &Pointer::Line(self.block_line), text)
    }

    fn skip_line(&mut self) {
        let length = self.rest().find('\n').map_or(self.rest().len(), |end| end + 1);
        self.at += length;
        // The white space that starts the next line goes with the comment.
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    fn formula(&mut self) {
        let (mark, kind) = if self.rest().starts_with("$$") { ("$$", 0) } else { ("$", 1) };
        self.at += mark.len();
        if let Some(end) = self.find_close(mark, kind) {
            let inside = self.rest().get(..end).unwrap_or_default();
            self.add(inside);
            self.at += end + mark.len();
        }
    }

    /// Finds the end of a formula. What was searched in vain is not searched again.
    fn find_close(&mut self, close: &str, kind: usize) -> Option<usize> {
        let searched = self.searched.get_mut(kind)?;
        let from = self.at.max(*searched);
        let to = self.at.saturating_add(MAX_ARGUMENT_BYTES).min(self.source.len());
        let window = self.source.as_bytes().get(from..to)?;
        match memchr::memmem::find(window, close.as_bytes()) {
            Some(found) => Some(from + found - self.at),
            None => {
                // The mark may be across the end of what was searched.
                *searched = to.saturating_sub(close.len() - 1).max(from);
                None
            }
        }
    }

    fn command(&mut self, output: &mut Output) -> Result<()> {
        let after = self.rest().get(1..).unwrap_or_default();
        let name_len = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        if name_len == 0 {
            return self.symbol(after);
        }
        let name = after.get(..name_len).unwrap_or_default();
        self.at += 1 + name_len;
        if self.rest().starts_with('*') {
            self.at += 1;
        }
        match name {
            "title" => {
                self.skip_optional();
                if let Some(title) = self.argument() {
                    let title = without_commands(title);
                    output.set_title(&title);
                    let line = self.current_line();
                    output.push(BlockKind::Heading(1), &Pointer::Line(line), title)?;
                }
            }
            "author" | "date" => {
                if let Some(value) = self.argument() {
                    let line = self.current_line();
                    output.push(BlockKind::Other, &Pointer::Line(line), without_commands(value))?;
                }
            }
            "part" | "chapter" | "section" | "subsection" | "subsubsection" | "paragraph" => {
                self.end(output)?;
                self.skip_optional();
                if let Some(heading) = self.argument().filter(|_| self.in_body) {
                    let level = match name {
                        "part" | "chapter" => 1,
                        "section" => 2,
                        "subsection" => 3,
                        "subsubsection" => 4,
                        _ => 5,
                    };
                    let line = self.current_line();
                    output.push(
                        BlockKind::Heading(level),
                        &Pointer::Line(line),
                        without_commands(heading),
                    )?;
                }
            }
            "begin" => self.begin(output)?,
            "end" => self.end_environment(output)?,
            "item" => {
                self.end(output)?;
                self.kind = BlockKind::ListItem;
                if let Some(label) = self.optional() {
                    self.add(&without_commands(label));
                    self.flow.space();
                }
            }
            "caption" => {
                self.end(output)?;
                self.kind = BlockKind::Other;
                self.skip_optional();
            }
            "href" => {
                self.argument();
            }
            "footnote" | "thanks" => self.flow.space(),
            "par" => self.end(output)?,
            "newline" | "linebreak" | "quad" | "qquad" | "and" => self.flow.space(),
            "LaTeX" | "TeX" => self.add(name),
            "ldots" | "dots" => self.add("…"),
            "ss" => self.add("ß"),
            "ae" => self.add("æ"),
            "o" => self.add("ø"),
            "textbackslash" => self.add("\\"),
            "newcommand" | "renewcommand" | "providecommand" | "newenvironment" | "def" => {
                self.skip_definition();
            }
            _ if DROPPED.contains(&name) => {
                self.skip_optional();
                while self.argument().is_some() {
                    self.skip_optional();
                }
            }
            _ => self.skip_optional(),
        }
        Ok(())
    }

    fn symbol(&mut self, after: &str) -> Result<()> {
        let Some(symbol) = after.chars().next() else {
            self.at += 1;
            return Ok(());
        };
        self.at += 1 + symbol.len_utf8();
        match symbol {
            '\\' => {
                self.skip_optional();
                if self.tables.is_empty() {
                    self.flow.space();
                } else {
                    self.flow.line_break();
                }
            }
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => self.add(&symbol.to_string()),
            '\'' | '`' | '^' | '"' | '~' | '=' | '.' => {
                let mark = match symbol {
                    '\'' => '\u{301}',
                    '`' => '\u{300}',
                    '^' => '\u{302}',
                    '"' => '\u{308}',
                    '~' => '\u{303}',
                    '=' => '\u{304}',
                    _ => '\u{307}',
                };
                let rest = self.rest().trim_start_matches('{');
                let n_open = self.rest().len() - rest.len();
                if let Some(letter) = rest.chars().next().filter(|char| char.is_alphabetic()) {
                    self.at += n_open + letter.len_utf8();
                    self.add(&format!("{letter}{mark}"));
                }
            }
            '[' | '(' => {
                let (close, kind) = if symbol == '[' { ("\\]", 2) } else { ("\\)", 3) };
                if let Some(end) = self.find_close(close, kind) {
                    let inside = self.rest().get(..end).unwrap_or_default();
                    self.add(inside);
                    self.at += end + close.len();
                }
            }
            ' ' | ',' | ';' | ':' | '/' => self.flow.space(),
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, output: &mut Output) -> Result<()> {
        let name = self.argument().unwrap_or_default().trim_end_matches('*');
        match name {
            "document" => {
                self.flow.take();
                self.in_body = true;
            }
            "verbatim" | "lstlisting" | "minted" | "Verbatim" => {
                self.end(output)?;
                self.skip_optional();
                let line = self.current_line();
                let body = self.body_of(name);
                output.push(BlockKind::Code, &Pointer::Line(line), body)?;
            }
            "comment" => {
                self.body_of(name);
            }
            "equation" | "align" | "gather" | "multline" | "eqnarray" | "displaymath" | "math" => {
                let line = self.current_line();
                let body = self.body_of(name);
                if self.in_body {
                    self.end(output)?;
                    output.push(BlockKind::Other, &Pointer::Line(line), body)?;
                }
            }
            "tabular" | "tabularx" | "longtable" | "array" => {
                self.end(output)?;
                self.kind = BlockKind::Table;
                self.skip_optional();
                self.argument();
                if name == "tabularx" {
                    self.argument();
                }
                self.tables.push(());
            }
            _ => {
                self.end(output)?;
                self.skip_optional();
            }
        }
        Ok(())
    }

    fn end_environment(&mut self, output: &mut Output) -> Result<()> {
        let name = self.argument().unwrap_or_default().trim_end_matches('*');
        self.end(output)?;
        match name {
            "document" => self.at = self.source.len(),
            "tabular" | "tabularx" | "longtable" | "array" => {
                self.tables.pop();
            }
            _ => {}
        }
        Ok(())
    }

    fn body_of(&mut self, name: &str) -> &'a str {
        let rest = self.rest();
        let starred = format!("\\end{{{name}*}}");
        let plain = format!("\\end{{{name}}}");
        let found = [starred, plain]
            .iter()
            .filter_map(|end| rest.find(end.as_str()).map(|at| (at, end.len())))
            .min();
        let (end, mark_len) = found.unwrap_or((rest.len(), 0));
        self.at += end + mark_len;
        rest.get(..end).unwrap_or_default()
    }

    fn argument(&mut self) -> Option<&'a str> {
        let blank = self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\n']).len();
        let inside = self.rest().get(blank..)?.strip_prefix('{')?;
        let end = balanced_end(inside, '{', '}')?;
        self.at += blank + 1 + end + 1;
        inside.get(..end)
    }

    fn optional(&mut self) -> Option<&'a str> {
        let inside = self.rest().strip_prefix('[')?;
        let end = balanced_end(inside, '[', ']')?;
        self.at += 1 + end + 1;
        inside.get(..end)
    }

    fn skip_optional(&mut self) {
        while self.optional().is_some() {}
    }

    fn skip_definition(&mut self) {
        if self.argument().is_none() {
            let name = self.rest().find('{').unwrap_or_default();
            self.at += name.min(64);
        }
        self.skip_optional();
        while self.argument().is_some() {}
    }
}

/// Commands whose arguments are not for the reader.
const DROPPED: [&str; 34] = [
    "usepackage",
    "documentclass",
    "label",
    "ref",
    "eqref",
    "pageref",
    "cref",
    "Cref",
    "cite",
    "citep",
    "citet",
    "autoref",
    "includegraphics",
    "input",
    "include",
    "bibliography",
    "bibliographystyle",
    "vspace",
    "hspace",
    "setlength",
    "setcounter",
    "addtocounter",
    "hypersetup",
    "geometry",
    "pagestyle",
    "thispagestyle",
    "definecolor",
    "color",
    "cline",
    "cmidrule",
    "graphicspath",
    "newtheorem",
    "lstset",
    "pgfplotsset",
];

fn starts_with_blank_line(text: &str) -> bool {
    text.trim_start_matches([' ', '\t']).starts_with('\n')
}

fn balanced_end(inside: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (at, char) in inside.char_indices() {
        if at > MAX_ARGUMENT_BYTES {
            return None;
        }
        if is_escaped {
            is_escaped = false;
        } else if char == '\\' {
            is_escaped = true;
        } else if char == close {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        } else if char == open {
            depth += 1;
        }
    }
    None
}

/// Takes the commands out of a short argument.
fn without_commands(argument: &str) -> String {
    let mut plain = String::new();
    let mut chars = argument.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' => {
                let mut is_word = false;
                while chars.next_if(char::is_ascii_alphabetic).is_some() {
                    is_word = true;
                }
                if !is_word {
                    match chars.next() {
                        Some('\\') | None => plain.push(' '),
                        Some(symbol) => plain.push(symbol),
                    }
                }
            }
            '{' | '}' | '$' => {}
            '~' => plain.push(' '),
            _ => plain.push(char),
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}
