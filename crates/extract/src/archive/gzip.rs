//! A gzip file: one packed file, often a tar.

use crate::archive::{Wrapping, inflate};
use crate::error::{Error, Result};
use crate::extract::read_inner;
use crate::output::Output;
use crate::{Format, warning};

pub(crate) fn read_gzip(bytes: &[u8], name: &str, output: &mut Output) -> Result<()> {
    let inflated = inflate(bytes, Wrapping::Gzip, output)?;
    if inflated.bytes.is_empty() {
        return Err(Error::broken(Format::Gzip, "nothing can be unpacked"));
    }
    if inflated.is_damaged {
        output.warn(warning::REPAIRED, "the gzip stream is damaged: read as far as it goes");
    }
    read_inner(&inflated.bytes, &inner_name(name), output)
}

fn inner_name(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let lower = name.to_ascii_lowercase();
    if let Some(stem) = lower.strip_suffix(".tgz") {
        return format!("{}.tar", name.get(..stem.len()).unwrap_or(name));
    }
    match lower.strip_suffix(".gz") {
        Some(stem) if !stem.is_empty() => name.get(..stem.len()).unwrap_or(name).to_owned(),
        _ => format!("{name}.content"),
    }
}
