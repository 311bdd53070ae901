//! Compresses entries that are old, and removes those that are older still. Hashes and checkpoints stay,
//! so that the rest of the log can be verified.

use std::fs;
use std::io::Write;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::bundle::{self, Bundle, archive_path};
use crate::error::AuditError;
use crate::files::LogFiles;
use crate::hash::Hash;
use crate::tile::{self, TILE_WIDTH};
use crate::timestamp::timestamp;

/// The type of the event about a compressed bundle.
pub const ARCHIVED: &str = "pml.audit.archived";
/// The type of the event about a removed bundle.
pub const PRUNED: &str = "pml.audit.pruned";

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long entries are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How long they are kept as they are.
    pub hot: Duration,
    /// How long they are kept compressed, from their time on.
    pub cold: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            hot: DAY * 90,
            cold: DAY * 365 * 7,
        }
    }
}

/// The time of the last entry of a bundle, as text: later times are greater.
fn last_time(bundle: &[u8]) -> Option<String> {
    let last: Value = serde_json::from_slice(bundle::entries(bundle).0.last()?).ok()?;
    Some(last["time"].as_str()?.to_owned())
}

/// Compresses and removes full bundles that a checkpoint covers. `note` appends an event to the log;
/// without it, a missing bundle is damage.
pub fn apply(
    files: &LogFiles,
    retention: &Retention,
    note: impl Fn(&str, &Value) -> Result<(), AuditError>,
) -> Result<(), AuditError> {
    let Some(checkpoint) = files.checkpoint(&files.verifying_key()?)? else {
        return Ok(());
    };
    let before = |age: Duration| {
        let time = SystemTime::now().checked_sub(age);
        timestamp(time.unwrap_or(SystemTime::UNIX_EPOCH))
    };
    let (hot, cold) = (before(retention.hot), before(retention.cold));
    for index in 0..checkpoint.size / TILE_WIDTH {
        let plain = tile::entry_bundle(&files.folder, index, TILE_WIDTH);
        let archive = archive_path(&files.folder, index);
        match bundle::read(&files.folder, index)? {
            Bundle::Full(bytes) => {
                if last_time(&bytes).is_none_or(|time| time >= hot) {
                    // Later bundles are younger.
                    return Ok(());
                }
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                let compressed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
                let compressed = compressed.map_err(AuditError::file(&archive))?;
                files.replace(&archive, &compressed)?;
                let digest = Hash::of(&compressed).to_string();
                note(ARCHIVED, &json!({ "bundle": index, "sha256": digest }))?;
                fs::remove_file(&plain).map_err(AuditError::file(&plain))?;
            }
            Bundle::Archived { bytes, .. } => {
                if last_time(&bytes).is_some_and(|time| time < cold) {
                    note(PRUNED, &json!({ "bundle": index }))?;
                    fs::remove_file(&archive).map_err(AuditError::file(&archive))?;
                }
            }
            Bundle::Partial { .. } | Bundle::Missing => {}
        }
    }
    Ok(())
}
