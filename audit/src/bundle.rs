//! Entry bundles: entries behind each other, each after its length as two bytes, highest first.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use crate::error::AuditError;
use crate::tile::{self, TILE_WIDTH};

/// The largest entry.
pub const MAX_ENTRY: usize = u16::MAX as usize;

/// Splits the first entry off a bundle. `None` if it is not whole.
pub fn split_entry(bundle: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bundle.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))
}

/// The whole entries at the beginning of a bundle, and the bytes that they occupy.
pub fn entries(bundle: &[u8]) -> (Vec<&[u8]>, usize) {
    let (mut found, mut rest) = (Vec::new(), bundle);
    while let Some((entry, after)) = split_entry(rest) {
        found.push(entry);
        rest = after;
    }
    (found, bundle.len() - rest.len())
}

/// Where a bundle is, and its bytes.
pub enum Bundle {
    /// A full bundle.
    Full(Vec<u8>),
    /// A full bundle that is compressed: the bytes of the file, too.
    Archived { file: Vec<u8>, bytes: Vec<u8> },
    /// The last one of the log.
    Partial { path: PathBuf, bytes: Vec<u8> },
    /// There is none.
    Missing,
}

/// The path of a compressed bundle.
pub fn archive_path(log: &Path, index: u64) -> PathBuf {
    let mut path = tile::entry_bundle(log, index, TILE_WIDTH).into_os_string();
    path.push(".gz");
    path.into()
}

/// Reads a file; `None` if there is none.
pub fn read_optional(path: &Path) -> Result<Option<Vec<u8>>, AuditError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(AuditError::file(path)(error)),
    }
}

/// Finds and reads a bundle. A writer may be renaming it meanwhile.
pub fn read(log: &Path, index: u64) -> Result<Bundle, AuditError> {
    for _ in 0..8 {
        if let Some(bytes) = read_optional(&tile::entry_bundle(log, index, TILE_WIDTH))? {
            return Ok(Bundle::Full(bytes));
        }
        let path = archive_path(log, index);
        if let Some(file) = read_optional(&path)? {
            let bytes =
                decompress(&file).map_err(|error| AuditError::damaged(&path, error.to_string()))?;
            return Ok(Bundle::Archived { file, bytes });
        }
        let Some(path) = partial_path(log, index)? else {
            return Ok(Bundle::Missing);
        };
        if let Some(bytes) = read_optional(&path)? {
            return Ok(Bundle::Partial { path, bytes });
        }
    }
    Ok(Bundle::Missing)
}

/// The file of the partial bundle `index`, if there is one.
pub fn partial_path(log: &Path, index: u64) -> Result<Option<PathBuf>, AuditError> {
    let folder = tile::partial_bundles(log, index);
    let names = match fs::read_dir(&folder) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(AuditError::file(&folder)(error)),
    };
    let mut paths = Vec::new();
    for name in names {
        paths.push(name.map_err(AuditError::file(&folder))?.path());
    }
    match &paths[..] {
        [] => Ok(None),
        [path] => Ok(Some(path.clone())),
        _ => Err(AuditError::damaged(
            &folder,
            "there are two partial bundles",
        )),
    }
}

fn decompress(file: &[u8]) -> io::Result<Vec<u8>> {
    let most = (MAX_ENTRY + 2) as u64 * TILE_WIDTH;
    let mut bytes = Vec::new();
    let read = GzDecoder::new(file)
        .take(most + 1)
        .read_to_end(&mut bytes)?;
    match read as u64 > most {
        true => Err(io::Error::other("it is larger than a bundle can be")),
        false => Ok(bytes),
    }
}
