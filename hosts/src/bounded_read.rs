//! Reading files of bounded size.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::ReplayError;

/// The largest file that is read: recordings are kept in repositories and read by people.
const LIMIT_MIB: u64 = 64;

/// Reads a file of at most 64 MiB.
pub fn read(path: &Path) -> Result<Vec<u8>, ReplayError> {
    let failed = |error| ReplayError::Read {
        path: path.to_owned(),
        error,
    };
    let limit = LIMIT_MIB << 20;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    if read.map_err(failed)? as u64 > limit {
        return Err(ReplayError::TooLarge {
            path: path.to_owned(),
            limit: LIMIT_MIB,
        });
    }
    Ok(bytes)
}
