//! What a script answered: one line of JSON in its log. Everything else in there is not read.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The line of the script that is named `script`.
///
/// # Errors
/// There is none, or it is not understood.
pub fn answer<T: DeserializeOwned>(log: &str, script: &str) -> Result<T, String> {
    #[derive(Deserialize)]
    struct Which<'a> {
        drainboard: &'a str,
    }
    let is_it =
        |line: &&str| serde_json::from_str::<Which<'_>>(line).is_ok_and(|which| which.drainboard == script);
    let lines = log.lines().map(|line| line.trim_start_matches('\u{feff}').trim());
    let line = lines
        .filter(|line| line.starts_with('{'))
        .rfind(is_it)
        .ok_or_else(|| "its log has no answer".to_owned())?;
    serde_json::from_str(line).map_err(|error| format!("its answer is not understood: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Said {
        number: u32,
    }

    #[test]
    fn the_answer_is_found_between_other_lines() {
        let log = "Access is denied.(5)\r\n{\"drainboard\":\"other\",\"number\":1}\n\u{feff}{\"drainboard\":\"this\",\"number\":7}\r\n#< CLIXML\n";
        assert_eq!(answer::<Said>(log, "this"), Ok(Said { number: 7 }));
    }

    #[test]
    fn what_is_cut_off_or_missing_or_strange_is_no_answer() {
        let cut = answer::<Said>("{\"drainboard\":\"this\",\"numb", "this");
        assert_eq!(cut, Err("its log has no answer".to_owned()));
        let strange = answer::<Said>("{\"drainboard\":\"this\",\"number\":\"x\"}", "this").unwrap_err();
        assert!(strange.starts_with("its answer is not understood"), "{strange}");
    }
}
