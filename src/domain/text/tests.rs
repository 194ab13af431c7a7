use super::*;
use proptest::prelude::*;

#[test]
fn clean_text_is_not_copied() {
    for text in [
        "",
        "k8s-lab-win-1",
        "\\\\files.example.com\\k8s",
        "Grüße, 世界 · ▲",
    ] {
        assert!(matches!(sanitise(text), Cow::Borrowed(same) if same == text));
    }
}

#[test]
fn a_log_line_cannot_steer_the_terminal() {
    let lines = [
        ("\u{1b}[31mred\u{1b}[0m", "red"),
        ("\u{1b}[2J\u{1b}[1;1Hgone", "gone"),
        ("\u{9b}31mred", "red"),
        ("\u{1b}]0;title\u{7}text", "text"),
        ("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
        ("\u{1b}]52;c;aGk=\u{7}clipboard", "clipboard"),
        ("\u{1b}Pq#0\u{1b}\\picture", "picture"),
        ("\u{1b}(0lines", "lines"),
        ("\u{1b}creset", "reset"),
        ("a\u{8}\u{8}b\u{7f}c\u{0}", "abc"),
    ];
    for (sent, shown) in lines {
        assert_eq!(sanitise(sent), shown, "{sent:?}");
    }
}

#[test]
fn an_unfinished_sequence_hides_nothing() {
    assert_eq!(sanitise("\u{1b}]0;all that follows"), "]0;all that follows");
    assert_eq!(sanitise("\u{1b}[12"), "[12");
    assert_eq!(sanitise("end\u{1b}"), "end");
}

#[test]
fn a_name_cannot_pretend_to_be_another() {
    assert_eq!(sanitise("pod-\u{202e}tset\u{202c}"), "pod-tset");
    assert_eq!(sanitise("pro\u{200b}d\u{feff}\u{2066}"), "prod");
    assert_eq!(sanitise("\u{e0041}a\u{ad}b\u{200d}c\u{fe0f}"), "abc");
}

#[test]
fn several_lines_become_one() {
    assert_eq!(
        sanitise("one\r\ntwo\tthree\nfour\rfive\u{2028}six"),
        "one two three four five six"
    );
}

#[test]
fn a_cut_falls_between_graphemes_and_shows() {
    assert_eq!(truncate("k8s-lab-win-1", 13), "k8s-lab-win-1");
    assert_eq!(truncate("k8s-lab-win-1", 8), "k8s-lab…");
    assert_eq!(truncate("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
    assert_eq!(
        truncate("世界世界", 4),
        "世…",
        "half of a wide character does not fit"
    );
    assert_eq!(truncate("ab", 1), "…");
    assert_eq!(truncate("ab", 0), "");
}

proptest! {
    #[test]
    fn whatever_comes_no_control_character_stays(text in "(\\PC|[\\x00-\\x1f\\x7f-\\x9f]|\u{1b}[\\[\\]P(])*") {
        let clean = sanitise(&text);
        prop_assert!(!clean.chars().any(|c| c.is_control() || misleads(c)), "{clean:?}");
        let again = sanitise(&clean);
        prop_assert_eq!(&again, &clean, "cleaning twice changes nothing more");
    }

    #[test]
    fn letters_outside_of_sequences_stay(words in "[a-z ]{0,20}") {
        let coloured = format!("\u{1b}[1;31m{words}\u{1b}[0m");
        prop_assert_eq!(sanitise(&coloured), words);
    }

    #[test]
    fn a_cut_text_fits_and_is_a_beginning(text in "\\PC{0,30}", cells in 0_usize..20) {
        let cut = truncate(&text, cells);
        prop_assert!(width(&cut) <= cells);
        prop_assert!(text.starts_with(cut.trim_end_matches('…')) || cut == text);
    }
}
