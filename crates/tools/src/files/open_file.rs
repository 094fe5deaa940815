//! `openFile`: a safe preview of a file at a place.

use std::path::Path;
use std::sync::Arc;

use files::{MAX_PREVIEW_CHARS, Preview, PreviewRequest, Service};
use model::Caller;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{error_of, version_schema, versioned, visible};
use crate::read_on::{self, ReadOn};
use crate::{Answer, Call, Spec, Tool, ToolError, Walk};

/// The most characters that may be asked for around a place. Far more than a preview holds: the
/// server cuts what is given, and only nonsense is refused.
const MAX_AROUND: usize = 1_000_000;

/// The longest pointer: that of a value far inside a JSON document.
const MAX_POINTER_CHARS: usize = 16_384;

/// The tool.
pub struct OpenFile {
    service: Service,
    spec: Arc<Spec>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// absolute path inside an allowed root
    path: String,
    /// page 3, slide 7, sheet 'Q2', line 120
    pointer: Option<String>,
    /// character to read on from: `next` or `prev` of the answer before
    #[schemars(with = "Option<usize>", extend("type" = ["integer", "string"]))]
    offset: Option<ReadOn>,
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_AROUND))]
    before: usize,
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_AROUND))]
    after: usize,
}

impl OpenFile {
    /// Opens files of a service.
    pub fn new(service: Service) -> Self {
        let spec = Spec::read_only(
            "openFile",
            "Open file",
            "Read the text of a file at a pointer from searchFiles, or from its start: redacted, \
             2,000 characters at a time. Pass `next` as `offset` to read on.",
        )
        .with_arguments::<Arguments>()
        .with_output(json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "pointer": { "type": "string" },
                "preview": { "type": "string" },
                "truncated": { "type": "boolean" },
                "next": { "type": "string" },
                "prev": { "type": "string" },
                "warnings": { "type": "array", "items": { "type": "string" } },
                "mcp_version": version_schema(),
            },
            "required": ["path", "pointer", "preview", "truncated", "mcp_version"],
        }))
        .with_source_text(&["/preview"]);
        OpenFile { service, spec: Arc::new(spec) }
    }
}

impl Tool for OpenFile {
    fn spec(&self, caller: &Caller) -> Option<Arc<Spec>> {
        visible(&self.service, caller, &self.spec)
    }

    fn call(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let Arguments { path, pointer, offset, before, after } = call.parse()?;
        let n_chars = pointer.as_deref().map_or(0, |pointer| pointer.chars().count());
        if n_chars > MAX_POINTER_CHARS {
            let message = format!(
                "`pointer` must have at most {MAX_POINTER_CHARS} characters and has {n_chars}"
            );
            return Err(ToolError::bad_request(message)
                .with_detail("argument", "pointer")
                .with_hint("call `openFile` with the pointer of a result of `searchFiles`"));
        }
        let path = path_in(path);
        let walk = walk_of(&path);
        let from = offset.map(|offset| offset.place(&walk)).transpose()?;
        let max_chars = from.map(|from| from.at_most(MAX_PREVIEW_CHARS));
        let offset = from.map(|from| from.start);
        let end = from.and_then(|from| from.end);
        let mut request = PreviewRequest { path, pointer, offset, before, after, max_chars };
        loop {
            let preview = match self.service.preview(call.caller, &request) {
                Ok(preview) => preview,
                Err(error) => match self.meant(call.caller, &request, &error) {
                    Some(meant) => {
                        request = meant;
                        continue;
                    }
                    None => return Err(self.refused(call.caller, &request.path, error)),
                },
            };
            let n_page = request.max_chars.unwrap_or(MAX_PREVIEW_CHARS);
            let answer = written(preview, n_page, &walk);
            let n_chars = answer.value["preview"].as_str().unwrap_or_default().chars().count();
            if call.budget.fits(&answer.value.to_string()) || n_chars <= MIN_PREVIEW_CHARS {
                return Ok(answer);
            }
            let n_fewer = (n_chars * 3 / 4).max(MIN_PREVIEW_CHARS);
            request.max_chars = Some(n_fewer);
            // Whoever reads back goes on from the end of what is shown to its start.
            request.offset = end.map(|end| end.saturating_sub(n_fewer)).or(request.offset);
        }
    }
}

impl OpenFile {
    /// Gives what a path that no root has can only mean: one with the place behind it
    /// (`notes.md:12`), or the end of the path of one file alone.
    fn meant(
        &self,
        caller: &Caller,
        request: &PreviewRequest,
        error: &files::Error,
    ) -> Option<PreviewRequest> {
        if !matches!(error, files::Error::NotFound { .. } | files::Error::BadPath { .. }) {
            return None;
        }
        if request.pointer.is_none()
            && let Some((path, pointer)) = place_behind(&request.path)
        {
            return Some(PreviewRequest { path, pointer: Some(pointer), ..request.clone() });
        }
        if Path::new(&request.path).is_absolute() {
            return None;
        }
        let is_it = |path: &str| Path::new(path).ends_with(&request.path);
        let path = self.service.find_path(caller, &is_it).ok()??;
        let is_other = |other: &str| other != path && is_it(other);
        let is_only = self.service.find_path(caller, &is_other).ok()?.is_none();
        is_only.then(|| PreviewRequest { path, ..request.clone() })
    }

    /// Writes an error; where there is no such file, it names one of that name elsewhere, or in
    /// another case.
    fn refused(&self, caller: &Caller, path: &str, error: files::Error) -> ToolError {
        let is_missing =
            matches!(error, files::Error::NotFound { .. } | files::Error::BadPath { .. });
        let refused = error_of("path")(error);
        let name_of = |path: &str| {
            let name = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next();
            name.unwrap_or_default().to_lowercase()
        };
        let wanted = name_of(path);
        if !is_missing || wanted.is_empty() {
            return refused;
        }
        match self.service.find_path(caller, &|path| name_of(path) == wanted) {
            Ok(Some(meant)) if meant != path => refused
                .with_hint(format!("if `{meant}` is meant, call `openFile` with that path"))
                .with_detail("did_you_mean", meant),
            _ => refused,
        }
    }
}

/// Splits a place off a path, as compilers (`notes.md:12`, `notes.md:12:5`) and addresses
/// (`notes.md#L12`, `report.pdf#page=3`) write it.
fn place_behind(path: &str) -> Option<(String, String)> {
    let line = |text: &str| -> Option<String> {
        let digits = text.split(['-', ':']).next().filter(|digits| !digits.is_empty())?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("line {digits}"))
    };
    if let Some((path, place)) = path.rsplit_once('#').filter(|(_, place)| !place.is_empty()) {
        let of_line = place.strip_prefix(['L', 'l']).and_then(line).or_else(|| line(place));
        let pointer = of_line.unwrap_or_else(|| place.replace('=', " "));
        return Some((path.to_owned(), pointer));
    }
    let (before, place) = path.rsplit_once(':')?;
    let pointer = line(place)?;
    // `file:12:5` names a column too.
    match before.rsplit_once(':').and_then(|(path, first)| Some((path, line(first)?))) {
        Some((path, pointer)) => Some((path.to_owned(), pointer)),
        None => Some((before.to_owned(), pointer)),
    }
}

/// Gives the walk through the text of a file. It is known by its name alone, however its path is
/// written.
fn walk_of(path: &str) -> Walk {
    let path = place_behind(path).map_or_else(|| path.to_owned(), |(path, _)| path);
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    Walk::of("openFile", &json!([name]))
}

/// Takes a path, or the address of a file: `file:///a/b%20c.txt`.
fn path_in(given: String) -> String {
    let Some(address) = given.strip_prefix("file://") else { return given };
    let address = address.strip_prefix("localhost").unwrap_or(address);
    let path = model::percent_decoded(address);
    // A drive has a slash before it in an address and none in a path.
    match path.strip_prefix('/') {
        Some(drive) if drive.as_bytes().get(1) == Some(&b':') => drive.to_owned(),
        _ => path,
    }
}

/// Characters of a preview that are always given.
const MIN_PREVIEW_CHARS: usize = 100;

/// Writes a preview; pages before it have so many characters.
fn written(preview: Preview, n_page: usize, walk: &Walk) -> Answer {
    let mut value = json!(preview);
    if let Value::Object(members) = &mut value {
        members.remove("warnings");
        if let Some(prev) = preview.window.prev(n_page) {
            let prev = read_on::prev(walk, prev, preview.window.start);
            members.insert("prev".to_owned(), json!(prev));
        }
        if let Some(next) = preview.window.next() {
            members.insert("next".to_owned(), json!(read_on::next(walk, next)));
        }
    }
    versioned(value).with_warnings(&preview.warnings).with_around(preview.around)
}

#[cfg(test)]
mod tests {
    use super::path_in;

    #[test]
    fn addresses_of_files_are_paths() {
        let check = |given: &str, path: &str| assert_eq!(path_in(given.to_owned()), path);
        check("/a/b c.txt", "/a/b c.txt");
        check("file:///a/b%20c.txt", "/a/b c.txt");
        check("file://localhost/a/%E5%9B%B3.md", "/a/図.md");
        check("file:///C:/a.txt", "C:/a.txt");
        check("file:///a/100%.txt", "/a/100%.txt");
    }
}
