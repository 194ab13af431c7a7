use super::*;
use proptest::prelude::*;

#[test]
fn the_limits_of_the_article_are_read() {
    assert_eq!(millicores("500m"), Ok(500));
    assert_eq!(millicores("0.5"), Ok(500));
    assert_eq!(millicores("4"), Ok(4_000));
    assert_eq!(bytes("256Mi"), Ok(268_435_456));
    assert_eq!(bytes("16Gi"), Ok(17_179_869_184));
}

#[test]
fn every_suffix_has_its_power() {
    let powers = [
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
        ("P", 1_000_000_000_000_000),
        ("E", 1_000_000_000_000_000_000),
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("Ti", 1 << 40),
        ("Pi", 1 << 50),
        ("Ei", 1 << 60),
        ("", 1),
        ("e3", 1_000),
        ("E3", 1_000),
        ("e+3", 1_000),
    ];
    for (suffix, power) in powers {
        assert_eq!(bytes(&format!("3{suffix}")), Ok(3 * power), "{suffix}");
    }
    let thousandths = [("u", 1), ("n", 1), ("m", 3), ("E-3", 3), ("e-2", 30)];
    for (suffix, milli) in thousandths {
        assert_eq!(millicores(&format!("3{suffix}")), Ok(milli), "{suffix}");
    }
}

#[test]
fn forms_that_kubernetes_accepts_are_accepted() {
    let accepted = [
        ("+1", 1),
        ("1.", 1),
        (".5", 1),
        ("1.5e3", 1_500),
        ("1.5e-3", 1),
        ("000.5Ki", 512),
        ("0.1Ki", 103),
        ("0", 0),
        ("-0", 0),
        ("0e999", 0),
        ("1e-2000000000", 1),
    ];
    for (text, whole) in accepted {
        assert_eq!(bytes(text), Ok(whole), "{text}");
    }
}

#[test]
fn usage_finer_than_a_millicore_keeps_its_fraction() {
    let usage: Quantity = "5837n".parse().unwrap();
    assert!((usage.fraction() - 0.000_005_837).abs() < 1e-15);
    assert_eq!(usage.milli(), 1);
}

#[test]
fn an_error_names_the_text_and_what_is_wrong_with_it() {
    for text in ["", "-", "m", "abc", "1.2.3", " 1"] {
        let error = bytes(text).unwrap_err();
        assert!(matches!(error, QuantityError::Number(_)), "{text}: {error}");
        assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
    }
    for text in ["1K", "1mi", "1e", "1e1.5", "1 Gi", "1MiB", "1e99999999999", "1٣"] {
        let error = bytes(text).unwrap_err();
        assert!(matches!(error, QuantityError::Suffix(_)), "{text}: {error}");
        assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
    }
    assert_eq!(bytes("-1Mi"), Err(QuantityError::Negative("-1Mi".into())));
    for text in [
        "1e40",
        "1e2000000000",
        "99999999999999999999999999999999999999999",
    ] {
        assert_eq!(bytes(text), Err(QuantityError::TooLarge(text.into())));
    }
}

/// The reference: the number shifted as text, digit by digit, without binary arithmetic on scales.
/// Whole units of `digits` × 10^`power`, rounded up; the largest number for all that is larger.
fn shifted_up(digits: &str, power: i32) -> u64 {
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return 0;
    }
    if let Ok(zeros) = usize::try_from(power) {
        return format!("{digits}{}", "0".repeat(zeros))
            .parse()
            .unwrap_or(u64::MAX);
    }
    let dropped = usize::try_from(-power).unwrap();
    let kept = digits.len().saturating_sub(dropped);
    let whole: u64 = if kept == 0 {
        0
    } else {
        digits[..kept].parse().unwrap_or(u64::MAX)
    };
    let rest = digits[kept..].bytes().any(|digit| digit != b'0');
    whole.saturating_add(u64::from(rest))
}

proptest! {
    #[test]
    fn decimal_quantities_agree_with_the_reference(
        whole in "[0-9]{1,9}",
        fraction in "[0-9]{0,9}",
        suffix in prop::sample::select(vec![
            ("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("e2", 2), ("E-5", -5), ("e+1", 1),
        ]),
    ) {
        let text = format!("{whole}.{fraction}{}", suffix.0);
        let digits = format!("{whole}{fraction}");
        let power = suffix.1 - i32::try_from(fraction.len()).unwrap();
        prop_assert_eq!(bytes(&text), Ok(shifted_up(&digits, power)), "{}", text);
        prop_assert_eq!(millicores(&text), Ok(shifted_up(&digits, power + 3)), "{}", text);
    }

    #[test]
    fn binary_quantities_are_multiples_of_powers_of_1024(
        number in 0_u64..(1 << 13), power in 1_u32..=5, half in any::<bool>(),
    ) {
        let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi"][power as usize];
        let unit = 1024_u64.pow(power);
        let (text, expected) = if half {
            (format!("{number}.5{suffix}"), number * unit + unit / 2)
        } else {
            (format!("{number}{suffix}"), number * unit)
        };
        prop_assert_eq!(bytes(&text), Ok(expected));
    }

    #[test]
    fn any_text_is_answered_and_errors_name_it(text in "\\PC{0,24}") {
        if let Err(error) = bytes(&text) {
            prop_assert!(error.to_string().contains(&text));
        }
    }

    #[test]
    fn a_larger_number_is_never_a_smaller_quantity(a in 0_u64..1 << 40, b in 0_u64..1 << 40) {
        let quantity = |number: u64| format!("{number}u").parse::<Quantity>();
        prop_assert_eq!(quantity(a).unwrap().cmp(&quantity(b).unwrap()), a.cmp(&b));
    }
}
