//! `dowse bench`: measurements that can be repeated anywhere.

use crate::cli::OverheadArgs;

pub(super) fn overhead(_args: &OverheadArgs) -> anyhow::Result<()> {
    anyhow::bail!("not here")
}
