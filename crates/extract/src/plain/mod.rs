//! Files that are characters: prose, Markdown, source code, LaTeX, JSON, YAML, and rows of values.

mod code;
mod lines;
mod text;

mod csv;
mod json;
mod json_tables;
mod latex;
mod markdown;
mod yaml;

pub(crate) use code::read_code;
pub(crate) use csv::read_csv;
pub(crate) use json::{read_json, read_json_lines, read_notebook};
pub(crate) use latex::read_latex;
pub(crate) use markdown::{push_markdown, read_markdown};
pub(crate) use text::{push_text, read_text};
pub(crate) use yaml::read_yaml;
