//! Identifiers that look random and never change from run to run.

/// FNV-1a over the text: the same on every machine and in every release.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A number in `0.0..1.0` that belongs to the text.
pub fn unit(text: &str) -> f64 {
    let mixed = hash(text).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    f64::from(u32::try_from(mixed).unwrap_or(0)) / 4_294_967_296.0
}

/// 64 hexadecimal digits that belong to the text: container ids, image digests.
pub fn hex64(text: &str) -> String {
    let part = |part: u8| {
        let mixed = hash(&format!("{part}/{text}")).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    };
    format!("{:016x}{:016x}{:016x}{:016x}", part(0), part(1), part(2), part(3))
}

/// A UUID that belongs to the text.
pub fn uuid(text: &str) -> String {
    let hex = hex64(text);
    let part = |from, to| hex.get(from..to).unwrap_or_default();
    format!(
        "{}-{}-{}-{}-{}",
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32)
    )
}

/// A suffix of `length` characters in the alphabet of generated Kubernetes names, which avoids words.
pub fn name_suffix(text: &str, length: usize) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let digits = hex64(text);
    digits
        .as_bytes()
        .chunks(2)
        .take(length)
        .map(|pair| {
            let number = pair
                .iter()
                .fold(0usize, |sum, byte| sum * 31 + usize::from(*byte));
            char::from(ALPHABET.get(number % ALPHABET.len()).copied().unwrap_or(b'x'))
        })
        .collect()
}

/// A point in time as the Kubernetes API writes it: whole seconds, UTC.
pub fn api_time(at: crate::domain::Timestamp) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}

/// A point in time as a Lease has it: microseconds.
pub fn api_micro_time(at: crate::domain::Timestamp) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Micros, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_have_their_length_and_belong_to_their_text() {
        assert_eq!(hex64("a").len(), 64);
        assert_ne!(hex64("a"), hex64("b"));
        assert_eq!(hex64("a"), hex64("a"));
        assert_eq!(name_suffix("a", 5).len(), 5);
        assert!((0.0..1.0).contains(&unit("a")));
    }
}
