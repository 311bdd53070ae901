//! Every kind of change is found.

use std::fs;

use pml_audit::{AuditFolder, AuditLog, verify_folder};

use crate::fixture::{files, is_whole, options, write_events};

/// A generator of positions: the same ones in every run.
fn next(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn every_changed_byte_of_a_sample_of_1000_is_found() {
    let folder = tempfile::tempdir().unwrap();
    write_events(folder.path(), 700);
    write_events(folder.path(), 100);
    assert!(is_whole(folder.path()));
    let (files, mut state) = (files(folder.path()), 7);
    for _ in 0..1000 {
        let file = &files[next(&mut state) as usize % files.len()];
        let whole = fs::read(file).unwrap();
        let mut changed = whole.clone();
        let at = next(&mut state) as usize % changed.len();
        changed[at] ^= 1 << (next(&mut state) % 8);
        fs::write(file, &changed).unwrap();
        let verified = verify_folder(folder.path(), &[]);
        assert!(
            !verified.is_ok_and(|verified| verified.is_whole()),
            "byte {at} of {}",
            file.display()
        );
        fs::write(file, &whole).unwrap();
    }
    assert!(is_whole(folder.path()));
}

#[test]
fn truncated_and_removed_files_are_found() {
    let folder = tempfile::tempdir().unwrap();
    write_events(folder.path(), 700);
    for file in files(folder.path()) {
        let whole = fs::read(&file).unwrap();
        for length in [0, 1, whole.len() / 2, whole.len() - 1] {
            fs::write(&file, &whole[..length]).unwrap();
            assert!(
                !is_whole(folder.path()),
                "{length} bytes of {}",
                file.display()
            );
        }
        fs::remove_file(&file).unwrap();
        // Only the writer needs the secret key.
        let may_be_absent = file.ends_with("key");
        assert_eq!(
            is_whole(folder.path()),
            may_be_absent,
            "{} is removed",
            file.display()
        );
        fs::write(&file, &whole).unwrap();
    }
    assert!(is_whole(folder.path()));
}

#[test]
fn swapped_and_removed_entries_are_found() {
    let folder = tempfile::tempdir().unwrap();
    write_events(folder.path(), 300);
    let bundle = folder.path().join("log-0/tile/entries/000");
    let whole = fs::read(&bundle).unwrap();
    let mut entries = Vec::new();
    let mut rest = &whole[..];
    while let [high, low, after @ ..] = rest {
        let (entry, after) = after.split_at(usize::from(u16::from_be_bytes([*high, *low])));
        entries.push([&[*high, *low], entry].concat());
        rest = after;
    }
    assert_eq!(entries.len(), 256);
    for (one, other) in [(0, 1), (17, 200), (254, 255)] {
        let mut swapped = entries.clone();
        swapped.swap(one, other);
        fs::write(&bundle, swapped.concat()).unwrap();
        let verified = verify_folder(folder.path(), &[]).unwrap();
        let first = verified.all_damage().next().unwrap();
        assert!(first.what.contains(&format!("entry {one} ")), "{first:?}");
    }
    for removed in [0, 100, 255] {
        let mut fewer = entries.clone();
        fewer.remove(removed);
        fs::write(&bundle, fewer.concat()).unwrap();
        assert!(!is_whole(folder.path()));
    }
    fs::write(&bundle, &whole).unwrap();
    fs::rename(&bundle, folder.path().join("moved")).unwrap();
    let verified = verify_folder(folder.path(), &[]).unwrap();
    assert!(
        verified
            .all_damage()
            .any(|damage| damage.what.contains("was removed")),
        "{verified:?}"
    );
}

#[test]
fn a_rebuilt_log_and_one_that_was_cut_back_are_found_with_a_checkpoint_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    write_events(folder.path(), 300);
    let kept = AuditFolder::open(folder.path())
        .unwrap()
        .checkpoints()
        .unwrap();
    write_events(folder.path(), 50);
    assert!(verify_folder(folder.path(), &kept).unwrap().is_whole());
    // Somebody with the key begins the log anew, with one event less.
    let key = fs::read(folder.path().join("log-0/key")).unwrap();
    let public = fs::read(folder.path().join("log-0/key.pub")).unwrap();
    fs::remove_dir_all(folder.path().join("log-0")).unwrap();
    assert!(!verify_folder(folder.path(), &kept).unwrap().is_whole());
    fs::create_dir(folder.path().join("log-0")).unwrap();
    fs::write(folder.path().join("log-0/key"), key).unwrap();
    fs::write(folder.path().join("log-0/key.pub"), public).unwrap();
    write_events(folder.path(), 299);
    assert!(
        verify_folder(folder.path(), &[]).unwrap().is_whole(),
        "a new log is whole"
    );
    assert!(
        !verify_folder(folder.path(), &kept).unwrap().is_whole(),
        "cut back"
    );
    write_events(folder.path(), 60);
    assert!(
        !verify_folder(folder.path(), &kept).unwrap().is_whole(),
        "another prefix"
    );
}

#[test]
fn a_log_that_vanished_is_missed_by_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let first = AuditLog::open(folder.path(), options()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    let second = AuditLog::open(folder.path(), options()).unwrap();
    assert_ne!(
        first.folder(),
        second.folder(),
        "two processes do not write one log"
    );
    let gone = first.folder().to_owned();
    first.close();
    second.close();
    assert!(is_whole(folder.path()));
    fs::remove_dir_all(gone).unwrap();
    assert!(!is_whole(folder.path()));
}
