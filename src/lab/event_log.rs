//! The System channel of the Windows nodes' event logs: the records of levels 1 to 3, which the article's Alloy
//! collects.

use super::kubelet::restart::{Course, Restart};
use super::machine::Machine;
use crate::domain::Timestamp;
use crate::domain::object::Os;
use chrono::TimeDelta;
use serde::Serialize;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it was written.
    pub at: Timestamp,
    /// Which program wrote it.
    pub source: &'static str,
    /// Its event id.
    pub id: u32,
    /// 1 critical, 2 error, 3 warning.
    pub level: u8,
    /// Its text.
    pub message: String,
}

const SERVICES: &str = "Service Control Manager";

/// What a restart of this machine, which booted it at `booted_at`, leaves in its System log. An orderly restart on a
/// fast disk leaves nothing of these levels.
pub fn of_restart(machine: &Machine, restart: Restart, course: Course, booted_at: Timestamp) -> Vec<Record> {
    if machine.os != Os::Windows {
        return Vec::new();
    }
    let after = |time: std::time::Duration| booted_at + TimeDelta::from_std(time).unwrap_or_default();
    let mut records = Vec::new();
    if restart == Restart::PowerCut {
        let lost_at = booted_at - TimeDelta::from_std(course.down).unwrap_or_default();
        records.push(Record {
            at: booted_at,
            source: "Microsoft-Windows-Kernel-Power",
            id: 41,
            level: 1,
            message: "The system has rebooted without cleanly shutting down first. This error could be caused if the \
                      system stopped responding, crashed, or lost power unexpectedly."
                .to_owned(),
        });
        records.push(Record {
            at: booted_at,
            source: "EventLog",
            id: 6008,
            level: 2,
            message: format!(
                "The previous system shutdown at {} on {} was unexpected.",
                lost_at.format("%H:%M:%S"),
                lost_at.format("%-m/%-d/%Y")
            ),
        });
    }
    if machine.armed.slow_disk {
        // 45 s of the quarter of an hour that the disk takes.
        let timeout = course.containerd / 20;
        let error = |at: Timestamp, id: u32, message: &str| Record {
            at,
            source: SERVICES,
            id,
            level: 2,
            message: message.to_owned(),
        };
        records.extend([
            error(
                after(timeout),
                7009,
                "A timeout was reached (45000 milliseconds) while waiting for the containerd service to connect.",
            ),
            error(
                after(timeout),
                7000,
                "The containerd service failed to start due to the following error: \r\nThe service did not respond to \
                 the start or control request in a timely fashion.",
            ),
            error(
                after(timeout),
                7001,
                "The kubelet service depends on the containerd service which failed to start because of the following \
                 error: \r\nThe operation completed successfully.",
            ),
        ]);
    }
    records
}

#[derive(Serialize)]
struct Line<'a> {
    source: &'a str,
    channel: &'a str,
    computer: &'a str,
    event_id: u32,
    level: u8,
    #[serde(rename = "levelText")]
    level_text: &'a str,
    keywords: &'a str,
    #[serde(rename = "timeCreated")]
    time_created: String,
    #[serde(rename = "eventRecordID")]
    event_record_id: usize,
    execution: Execution<'a>,
    message: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Execution<'a> {
    process_id: u32,
    thread_id: u32,
    process_name: &'a str,
}

/// A record as Alloy writes it: `number` counts the records of this node.
pub fn line(record: &Record, node: &str, number: usize) -> String {
    let line = Line {
        source: record.source,
        channel: "System",
        // The computer's name is in capitals, unlike the node's.
        computer: &node.to_uppercase(),
        event_id: record.id,
        level: record.level,
        level_text: match record.level {
            1 => "Critical",
            2 => "Error",
            _ => "Warning",
        },
        keywords: "Classic",
        time_created: record.at.format("%Y-%m-%dT%H:%M:%S%.6f0Z").to_string(),
        event_record_id: 41_001 + number,
        execution: Execution {
            process_id: 700,
            thread_id: 4120,
            process_name: "services.exe",
        },
        message: &record.message,
    };
    // A struct of texts and numbers can always be written.
    serde_json::to_string(&line).unwrap_or_default()
}
