//! The paths of tiles and entry bundles (C2SP `tlog-tiles`).

use std::path::{Path, PathBuf};

/// Hashes or entries in a full tile.
pub const TILE_WIDTH: u64 = 256;

/// The path of the tile `index` of a level below the folder of a log; `width` for a partial one.
pub fn hash_tile(log: &Path, level: u8, index: u64, width: u64) -> PathBuf {
    with_width(log.join("tile").join(level.to_string()), index, width)
}

/// The path of a bundle of entries; `width` for a partial one.
pub fn entry_bundle(log: &Path, index: u64, width: u64) -> PathBuf {
    with_width(log.join("tile/entries"), index, width)
}

/// The folder of the partial bundles `index`.
pub fn partial_bundles(log: &Path, index: u64) -> PathBuf {
    log.join("tile/entries")
        .join(format!("{}.p", number(index)))
}

fn with_width(folder: PathBuf, index: u64, width: u64) -> PathBuf {
    match width {
        TILE_WIDTH => folder.join(number(index)),
        _ => folder.join(format!("{}.p/{width}", number(index))),
    }
}

/// `x001/x234/067` for 1,234,067: at most 1,000 names in a folder.
fn number(mut index: u64) -> String {
    let mut path = format!("{:03}", index % 1000);
    while index >= 1000 {
        index /= 1000;
        path = format!("x{:03}/{path}", index % 1000);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_specification() {
        let log = Path::new("log");
        let text = |path: PathBuf| path.display().to_string();
        assert_eq!(
            text(hash_tile(log, 0, 1_234_067, 256)),
            "log/tile/0/x001/x234/067"
        );
        assert_eq!(text(hash_tile(log, 1, 0, 8)), "log/tile/1/000.p/8");
        assert_eq!(text(entry_bundle(log, 999, 256)), "log/tile/entries/999");
        assert_eq!(
            text(entry_bundle(log, 1000, 1)),
            "log/tile/entries/x001/000.p/1"
        );
    }
}
