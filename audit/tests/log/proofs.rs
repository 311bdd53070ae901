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

/// The reference data of the Certificate Transparency project (`transparency-dev/merkle`, `testonly`):
/// eight leaves, the roots of the trees of their beginnings, and proofs.
#[test]
fn the_proofs_of_the_reference_data_verify_and_no_others() {
    const ROOTS: [&str; 8] = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];
    const A: &str = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7";
    const B: &str = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e";
    const C: &str = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4";
    const D: &str = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b";
    const E: &str = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0";
    const F: &str = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a";
    let decoded = |text: &str| -> Vec<u8> {
        let digits = (0..text.len()).step_by(2);
        digits
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
            .collect()
    };
    let hash = |text: &str| Hash(decoded(text).try_into().unwrap());
    let root = |size: u64| hash(ROOTS[usize::try_from(size).unwrap() - 1]);
    assert_eq!(leaf_hash(b""), root(1));
    for (index, leaf, size, proof) in [
        (0, "", 8, &[A, B, C][..]),
        (5, "40414243", 8, &[D, E, ROOTS[3]]),
        (2, "10", 3, &[ROOTS[1]]),
        (1, "00", 5, &[ROOTS[0], B, D]),
    ] {
        let proof: Vec<Hash> = proof.iter().map(|text| hash(text)).collect();
        let leaf = leaf_hash(&decoded(leaf));
        assert_eq!(
            verify_inclusion(leaf, index, size, &proof, root(size)),
            Ok(())
        );
        assert!(verify_inclusion(leaf, index, size, &proof, root(size - 1)).is_err());
        assert!(verify_inclusion(root(2), index, size, &proof, root(size)).is_err());
    }
    for (earlier, size, proof) in [
        (1, 8, &[A, B, C][..]),
        (6, 8, &[F, E, ROOTS[3]]),
        (2, 5, &[B, D]),
    ] {
        let proof: Vec<Hash> = proof.iter().map(|text| hash(text)).collect();
        let verify = |earlier, now| verify_consistency(earlier, now, &proof);
        assert_eq!(
            verify((earlier, root(earlier)), (size, root(size))),
            Ok(()),
            "{earlier} to {size}"
        );
        assert!(verify((earlier, root(earlier + 1)), (size, root(size))).is_err());
        assert!(verify((earlier, root(earlier)), (size, root(size - 1))).is_err());
    }
}
