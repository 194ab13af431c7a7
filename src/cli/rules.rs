//! `drainboard rules`: alert rules for Prometheus. The rules are a file, so that Prometheus's own tool can check it.

use super::args::RulesFormat;
use super::exit::{CliError, Outcome};
use super::output;
use std::fmt::Write as _;

/// The rules as `rule_files` of Prometheus takes them.
const RULES: &str = include_str!("rules/drainboard.rules.yaml");

/// What stands around them for the Prometheus operator; `spec` is what the plain file holds.
const OBJECT: &str = "\
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: drainboard-windows
  labels:
    # kube-prometheus-stack takes objects with the name of its release: change it to yours.
    release: kps
spec:
";

/// Prints the rules.
///
/// # Errors
/// The output is gone.
pub fn run(format: RulesFormat) -> Result<Outcome, CliError> {
    match format {
        RulesFormat::Plain => output::print(RULES)?,
        RulesFormat::PrometheusRule => output::print(&prometheus_rule())?,
    }
    Ok(Outcome::Fine)
}

fn prometheus_rule() -> String {
    let mut text = OBJECT.to_owned();
    for line in RULES.lines() {
        let indent = if line.is_empty() { "" } else { "  " };
        let _ = writeln!(text, "{indent}{line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn parsed(text: &str) -> Value {
        serde_yaml_ng::from_str(text).unwrap()
    }

    #[test]
    fn both_forms_hold_the_same_rules() {
        let object = parsed(&prometheus_rule());
        assert_eq!(object["kind"], "PrometheusRule");
        assert_eq!(object["spec"], parsed(RULES));
    }

    #[test]
    fn the_articles_two_alerts_keep_their_threshold() {
        let rules = parsed(RULES);
        let alerts = rules["groups"][0]["rules"].as_array().unwrap();
        for name in ["WindowsNodeCommitHigh", "WindowsContainerCommitHigh"] {
            let alert = alerts.iter().find(|rule| rule["alert"] == name).unwrap();
            let expression = alert["expr"].as_str().unwrap().trim_end();
            assert!(expression.ends_with("> 0.9"), "{expression}");
        }
    }

    #[test]
    fn each_alert_says_how_bad_it_is_what_it_is_and_what_to_do() {
        for rule in parsed(RULES)["groups"][0]["rules"].as_array().unwrap() {
            promql_parser::parser::parse(rule["expr"].as_str().unwrap()).unwrap();
            if rule["alert"].is_string() {
                assert!(matches!(
                    rule["labels"]["severity"].as_str(),
                    Some("warning" | "critical")
                ));
                assert!(
                    rule["annotations"]["summary"]
                        .as_str()
                        .unwrap()
                        .contains("$labels")
                );
                assert!(rule["annotations"]["description"].as_str().unwrap().len() > 40);
            }
        }
    }
}
