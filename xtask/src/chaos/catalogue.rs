//! Damage to the truth itself: it is noticed, or nobody can tell the difference, and a backup
//! brings everything back.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use testkit::Server;

use super::Random;
use super::faults::{COMMAND, changes};
use super::ledger::Ledger;
use super::site::Site;
use crate::process;

/// What happens to the catalogue.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Flip,
    Tear,
    Empty,
    Remove,
}

const DAMAGES: [Damage; 4] = [Damage::Flip, Damage::Tear, Damage::Empty, Damage::Remove];

/// Damages the catalogue or its write-ahead log while the server is down, looks whether that is
/// noticed, and restores a backup that was made just before.
pub(crate) fn damage(
    site: &mut Site,
    ledger: &mut Ledger,
    random: &mut Random,
) -> anyhow::Result<()> {
    changes(site, ledger, random)?;
    let name = format!("backup-{}", random.next());
    let mut command = site.command("backup");
    command.arg(site.disk_inside().join(&name));
    let made = process::read(command, COMMAND)?;
    ensure!(made.status.success(), "`backup` failed beside the server: {}", made.stderr);
    // After a kill the last changes are in the write-ahead log alone.
    let is_killed = random.below(2) == 0;
    if is_killed {
        site.kill()
    } else {
        site.stop()
    }
    let store = site.data().join("store");
    let log = store.join("catalogue.sqlite-wal");
    let has_log = fs_err::metadata(&log).is_ok_and(|log| log.len() > 0);
    let file = if has_log && random.below(2) == 0 { log } else { store.join("catalogue.sqlite") };
    let damage = DAMAGES[random.below(DAMAGES.len())];
    let what = format!("`{damage:?}` of `{}`", file.display());
    apply(damage, &file, random)?;
    let checked = process::read(site.command("check"), COMMAND)?;
    let is_said = !checked.status.success();
    if is_said {
        let said = checked.stderr + &checked.stdout;
        ensure!(said.contains("restore"), "`check` names no remedy after {what}: {said}");
    }
    is_harmless_or_refused(site, ledger, is_said).with_context(|| what.clone())?;
    // Whether it was harmless or not: the backup gives everything back.
    site.kill();
    fs_err::remove_dir_all(site.data())?;
    let mut command = site.command("restore");
    command.arg(site.disk_inside().join(&name));
    let restored = process::read(command, COMMAND)?;
    ensure!(restored.status.success(), "`restore` failed after {what}: {}", restored.stderr);
    fs_err::remove_file(site.disk().join(&name))?;
    site.start()
}

/// Starts the server over damaged data. It may refuse to; it may say that it cannot answer. When
/// it says that it is ready, everything is as it was acknowledged.
fn is_harmless_or_refused(
    site: &mut Site,
    ledger: &mut Ledger,
    is_said: bool,
) -> anyhow::Result<()> {
    let server = match Server::try_start(site.serve()) {
        Ok(server) => server,
        Err(printed) => {
            ensure!(is_said, "`check` found nothing, and the server does not start: {printed}");
            ensure!(printed.contains("restore"), "the error names no remedy: {printed}");
            return Ok(());
        }
    };
    if server.http().get("/readyz").status == 503 {
        ensure!(is_said, "`check` found nothing, and the server is not ready");
        return Ok(());
    }
    site.take(server);
    if !is_said {
        ledger.compare(site).context("nothing was noticed")?;
    }
    Ok(())
}

fn apply(damage: Damage, file: &PathBuf, random: &mut Random) -> anyhow::Result<()> {
    let mut bytes = fs_err::read(file)?;
    match damage {
        Damage::Flip => {
            // Not among the zeroes of a page that has room left.
            let at = (0..100).map(|_| random.below(bytes.len())).find(|at| bytes[*at] != 0);
            bytes[at.unwrap_or(0)] ^= 1 << random.below(8);
        }
        Damage::Tear => bytes.truncate(random.below(bytes.len())),
        Damage::Empty => bytes.clear(),
        Damage::Remove => return Ok(fs_err::remove_file(file)?),
    }
    Ok(fs_err::write(file, bytes)?)
}
