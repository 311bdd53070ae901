//! Proofs of inclusion and of growth.

use pml_audit::{
    AuditFolder, Hash, leaf_hash, verify_consistency, verify_folder, verify_inclusion,
};

use crate::fixture::write_events;

fn hash(text: &str) -> Hash {
    Hash::from_base64(text).unwrap()
}

#[test]
fn every_entry_has_a_proof_that_no_other_entry_has() {
    let folder = tempfile::tempdir().unwrap();
    write_events(folder.path(), 600);
    let origin = verify_folder(folder.path(), &[]).unwrap().logs[0]
        .origin
        .clone();
    let logs = AuditFolder::open(folder.path()).unwrap();
    for id in (0..601).step_by(13).chain([255, 256, 600]) {
        let proof = logs.prove(&origin, id).unwrap();
        let path: Vec<Hash> = proof.proof.iter().map(|text| hash(text)).collect();
        let leaf = leaf_hash(proof.entry.as_ref().unwrap().as_bytes());
        let root = hash(&proof.root);
        assert_eq!(verify_inclusion(leaf, id, proof.size, &path, root), Ok(()));
        assert!(verify_inclusion(leaf_hash(b"x"), id, proof.size, &path, root).is_err());
        assert!(verify_inclusion(leaf, id + 1, proof.size, &path, root).is_err());
        assert!(verify_inclusion(leaf, id, proof.size, &path[1..], root).is_err());
    }
    assert!(logs.prove(&origin, 601).is_err());
}

#[test]
fn growth_is_proved_from_every_size() {
    let folder = tempfile::tempdir().unwrap();
    write_events(folder.path(), 520);
    let origin = verify_folder(folder.path(), &[]).unwrap().logs[0]
        .origin
        .clone();
    let logs = AuditFolder::open(folder.path()).unwrap();
    for earlier in (1..=521).step_by(7).chain([256, 512, 521]) {
        let proof = logs.prove_growth(&origin, earlier).unwrap();
        let path: Vec<Hash> = proof.proof.iter().map(|text| hash(text)).collect();
        let (before, now) = (
            (earlier, hash(&proof.hash)),
            (proof.size, hash(&proof.root)),
        );
        assert_eq!(verify_consistency(before, now, &path), Ok(()), "{earlier}");
        assert!(verify_consistency((earlier, leaf_hash(b"x")), now, &path).is_err());
    }
    assert!(logs.prove_growth(&origin, 0).is_err());
    assert!(logs.prove_growth(&origin, 522).is_err());
}

/// The proofs verify with `ct-merkle`, an implementation of RFC 6962 that is not ours.
#[test]
fn another_implementation_verifies_the_proofs() {
    use ct_merkle::{ConsistencyProof, InclusionProof, RootHash};
    use sha2_11::Sha256;
    let folder = tempfile::tempdir().unwrap();
    write_events(folder.path(), 700);
    let origin = verify_folder(folder.path(), &[]).unwrap().logs[0]
        .origin
        .clone();
    let logs = AuditFolder::open(folder.path()).unwrap();
    let bytes =
        |hashes: &[String]| -> Vec<u8> { hashes.iter().flat_map(|text| hash(text).0).collect() };
    let root = |text: &str, size: u64| RootHash::<Sha256>::new(hash(text).0.into(), size);
    for id in (0..701).step_by(11).chain([255, 256, 511, 512, 700]) {
        let proof = logs.prove(&origin, id).unwrap();
        let path = InclusionProof::<Sha256>::try_from_bytes(bytes(&proof.proof)).unwrap();
        let entry = proof.entry.clone().unwrap();
        let root = root(&proof.root, proof.size);
        root.verify_inclusion(&entry, id, &path).unwrap();
        assert!(root.verify_inclusion(&"another", id, &path).is_err());
    }
    for earlier in (1..701).step_by(13).chain([256, 512, 700]) {
        let proof = logs.prove_growth(&origin, earlier).unwrap();
        let path = ConsistencyProof::<Sha256>::try_from_bytes(bytes(&proof.proof)).unwrap();
        let now = root(&proof.root, proof.size);
        now.verify_consistency(&root(&proof.hash, earlier), &path)
            .unwrap();
    }
}
