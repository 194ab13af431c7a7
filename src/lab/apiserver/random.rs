//! Identities: object UIDs, name suffixes, bearer tokens.

use std::hash::{BuildHasher, Hasher, RandomState};

/// 64 unpredictable bits; the standard library keys each `RandomState` differently.
fn bits() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A random (version 4) UUID.
pub fn uid() -> String {
    let (high, low) = (bits(), bits());
    let high = (high & 0xffff_ffff_ffff_0fff) | 0x4000;
    let low = (low & 0x3fff_ffff_ffff_ffff) | 0x8000_0000_0000_0000;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

/// Five characters after `generateName`, from the alphabet that Kubernetes uses (no vowels, no look-alikes).
pub fn name_suffix() -> String {
    const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut rest = bits();
    (0..5)
        .map(|_| {
            let letter = ALPHABET[usize::try_from(rest % 27).unwrap_or_default()];
            rest /= 27;
            char::from(letter)
        })
        .collect()
}

/// A bearer token that another user of this machine cannot guess.
pub fn token() -> String {
    format!("{:016x}{:016x}", bits(), bits())
}
