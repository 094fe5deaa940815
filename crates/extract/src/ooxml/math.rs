//! Formulas of Office documents, written on one line in the LaTeX that people and models read.

/// A formula being read.
pub(crate) struct Math {
    open: Vec<Element>,
    in_text: bool,
    depth: usize,
}

#[derive(Debug, Default)]
struct Element {
    name: String,
    /// The operands by the name of the element that held each.
    parts: Vec<(String, String)>,
    /// Text that is in no operand.
    text: String,
    /// The character that a property of the element gives (an operator, an accent).
    mark: Option<String>,
    begin: Option<String>,
    end: Option<String>,
    hides_degree: bool,
}

impl Math {
    pub(crate) fn new() -> Self {
        Math { open: vec![Element::default()], in_text: false, depth: 1 }
    }

    pub(crate) fn start(&mut self, name: &str, attribute: &dyn Fn(&str) -> Option<String>) {
        self.depth += 1;
        self.in_text = name == "t";
        self.open.push(Element { name: name.to_owned(), ..Element::default() });
        let Some(parent_idx) = self.open.len().checked_sub(3) else { return };
        // A property is in the properties of the element it is about.
        let Some(owner) = self.open.get_mut(parent_idx) else { return };
        match name {
            "chr" => owner.mark = Some(attribute("val").unwrap_or_default()),
            "begChr" => owner.begin = Some(attribute("val").unwrap_or_default()),
            "endChr" => owner.end = Some(attribute("val").unwrap_or_default()),
            "degHide" => {
                owner.hides_degree =
                    attribute("val").is_none_or(|value| value != "0" && value != "off");
            }
            _ => {}
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        if self.in_text
            && let Some(element) = self.open.last_mut()
        {
            element.text.push_str(text);
        }
    }

    /// Closes an element; true when it was the formula itself.
    pub(crate) fn end(&mut self, _name: &str) -> bool {
        self.in_text = false;
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            return true;
        }
        let Some(element) = self.open.pop() else { return true };
        let name = element.name.clone();
        let written = element.written();
        if let Some(parent) = self.open.last_mut() {
            if OPERANDS.contains(&name.as_str()) {
                parent.parts.push((name, written));
            } else {
                parent.text.push_str(&written);
            }
        }
        false
    }

    pub(crate) fn finish(mut self) -> String {
        let formula = self.open.drain(..).map(Element::written).collect::<String>();
        let formula = formula.trim();
        if formula.is_empty() { String::new() } else { format!(" {formula} ") }
    }
}

/// Elements that are operands of the one around them.
const OPERANDS: [&str; 9] = ["num", "den", "e", "sub", "sup", "deg", "fName", "lim", "mr"];

impl Element {
    fn part(&self, name: &str) -> &str {
        self.parts
            .iter()
            .find(|(part, _)| part == name)
            .map(|(_, text)| text.as_str())
            .unwrap_or_default()
    }

    fn written(self) -> String {
        let part = |name| self.part(name);
        match self.name.as_str() {
            "f" => format!("\\frac{{{}}}{{{}}}", part("num"), part("den")),
            "rad" if self.hides_degree || part("deg").is_empty() => {
                format!("\\sqrt{{{}}}", part("e"))
            }
            "rad" => format!("\\sqrt[{}]{{{}}}", part("deg"), part("e")),
            "sSup" => format!("{}^{{{}}}", part("e"), part("sup")),
            "sSub" => format!("{}_{{{}}}", part("e"), part("sub")),
            "sSubSup" => format!("{}_{{{}}}^{{{}}}", part("e"), part("sub"), part("sup")),
            "sPre" => format!("_{{{}}}^{{{}}}{}", part("sub"), part("sup"), part("e")),
            "nary" => {
                let mark = self.mark.as_deref().unwrap_or("∫");
                let limits = [("_", part("sub")), ("^", part("sup"))]
                    .iter()
                    .filter(|(_, limit)| !limit.is_empty())
                    .map(|(sign, limit)| format!("{sign}{{{limit}}}"))
                    .collect::<String>();
                format!("{}{limits}{}", operator(mark), part("e"))
            }
            "d" => {
                let inside: Vec<&str> = self
                    .parts
                    .iter()
                    .filter(|(name, _)| name == "e")
                    .map(|(_, text)| text.as_str())
                    .collect();
                let begin = self.begin.as_deref().unwrap_or("(");
                let end = self.end.as_deref().unwrap_or(")");
                format!("\\left{begin} {} \\right{end}", inside.join(" | "))
            }
            "func" => format!("{} {}", function(part("fName")), part("e")),
            "limLow" => format!("{}_{{{}}}", part("e"), part("lim")),
            "limUpp" => format!("{}^{{{}}}", part("e"), part("lim")),
            "acc" => format!("{}{{{}}}", accent(self.mark.as_deref()), part("e")),
            "bar" => format!("\\overline{{{}}}", part("e")),
            "m" => {
                let rows: Vec<&str> = self.parts.iter().map(|(_, row)| row.as_str()).collect();
                format!("\\begin{{matrix}}{}\\end{{matrix}}", rows.join("\\\\"))
            }
            "mr" | "eqArr" => {
                let cells: Vec<&str> = self.parts.iter().map(|(_, cell)| cell.as_str()).collect();
                cells.join(if self.name == "mr" { " & " } else { " \\\\ " })
            }
            _ => {
                let mut text = self.text;
                for (_, part) in self.parts {
                    text.push_str(&part);
                }
                if self.name == "t" { text.chars().map(letter).collect() } else { text }
            }
        }
    }
}

fn operator(mark: &str) -> &str {
    match mark {
        "∑" => "\\sum",
        "∏" => "\\prod",
        "∫" => "\\int",
        "∬" => "\\iint",
        "∮" => "\\oint",
        "⋃" => "\\bigcup",
        "⋂" => "\\bigcap",
        _ => mark,
    }
}

fn accent(mark: Option<&str>) -> &'static str {
    match mark {
        Some("\u{303}") => "\\tilde",
        Some("\u{304}" | "\u{305}") => "\\bar",
        Some("\u{307}") => "\\dot",
        Some("\u{308}") => "\\ddot",
        Some("\u{20d7}") => "\\vec",
        _ => "\\hat",
    }
}

fn function(name: &str) -> String {
    const KNOWN: [&str; 16] = [
        "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "lim", "max", "min", "exp", "det",
        "sup", "inf", "gcd",
    ];
    let bare = name.split(['_', '^', ' ']).next().unwrap_or(name);
    if KNOWN.contains(&bare) { format!("\\{name}") } else { name.to_owned() }
}

/// Writes letters that LaTeX has a command for as that command.
fn letter(char: char) -> String {
    let command = match char {
        'α' => "alpha",
        'β' => "beta",
        'γ' => "gamma",
        'δ' => "delta",
        'ε' => "epsilon",
        'θ' => "theta",
        'λ' => "lambda",
        'μ' => "mu",
        'π' => "pi",
        'ρ' => "rho",
        'σ' => "sigma",
        'τ' => "tau",
        'φ' => "phi",
        'ω' => "omega",
        'Δ' => "Delta",
        'Σ' => "Sigma",
        'Ω' => "Omega",
        '∞' => "infty",
        '×' => "times",
        '±' => "pm",
        '≤' => "leq",
        '≥' => "geq",
        '≠' => "neq",
        '→' => "rightarrow",
        '∈' => "in",
        '∂' => "partial",
        '⋅' => "cdot",
        '…' => "ldots",
        '⋯' => "cdots",
        '∑' => "sum",
        '∫' => "int",
        _ => {
            // Slanted mathematical letters stand for the plain ones.
            return match char as u32 {
                code @ 0x1d434..=0x1d44d => shifted(code, 0x1d434, b'A'),
                code @ 0x1d44e..=0x1d467 => shifted(code, 0x1d44e, b'a'),
                code @ 0x1d400..=0x1d419 => shifted(code, 0x1d400, b'A'),
                code @ 0x1d41a..=0x1d433 => shifted(code, 0x1d41a, b'a'),
                0x210e => "h".to_owned(),
                _ => char.to_string(),
            };
        }
    };
    format!("\\{command} ")
}

fn shifted(code: u32, base: u32, letter: u8) -> String {
    char::from_u32(code - base + u32::from(letter)).map(String::from).unwrap_or_default()
}
