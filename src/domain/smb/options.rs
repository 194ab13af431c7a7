//! Mount options: those of the Linux cifs module, which the Windows client has none of.

use crate::domain::Name;

/// The options that Windows ignores: all but the marks that the driver itself reads.
pub fn ignored_on_windows(options: &[Name]) -> Vec<Name> {
    options
        .iter()
        .flat_map(|option| option.split(','))
        .map(str::trim)
        .filter(|option| !option.is_empty() && *option != "guest")
        .map(Name::from)
        .collect()
}

/// Whether byte-range locks of Linux pods stay on their node.
pub fn locks_stay_local(options: &[Name]) -> bool {
    options
        .iter()
        .flat_map(|option| option.split(','))
        .any(|option| option.trim() == "nobrl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_may_be_a_list_or_one_text_with_commas() {
        let options = [
            Name::from("vers=3.1.1,nobrl"),
            Name::from("hard"),
            Name::from("guest"),
        ];
        assert_eq!(
            ignored_on_windows(&options),
            ["vers=3.1.1", "nobrl", "hard"].map(Name::from)
        );
        assert!(locks_stay_local(&options));
        assert!(!locks_stay_local(&["seal".into()]));
    }
}
