//! Reading with a limit, and writing in one piece.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::ReplayError;

/// What is read at most; a recording is kept in a repository and looked at by people.
const LIMIT_MIB: u64 = 64;

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

/// Writes beside the file and moves the result over it: a run that is killed meanwhile leaves the
/// old recording whole.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = Path::new(&beside);
    let written = File::create(beside)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(beside, path));
    if written.is_err() {
        // It may not even be there.
        let _ = fs::remove_file(beside);
    }
    written
}
