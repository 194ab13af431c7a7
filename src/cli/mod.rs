//! The command line: what may be typed ([`args`]), and one file per command. Commands collect what the sources
//! say once ([`collect`]), print it ([`output`]) and end with an [`exit::Outcome`].

pub mod address;
pub mod args;
pub mod check;
pub mod collect;
pub mod demo;
pub mod exit;
pub mod image;
pub mod json;
pub mod lab;
pub mod lint;
pub mod logging;
pub mod logs;
pub mod loki_args;
pub mod maintain;
pub mod nodes;
pub mod output;
pub mod pods;
pub mod probe;
pub mod progress;
pub mod prometheus_args;
pub mod reboot_args;
pub mod rules;
pub mod run;
pub mod screens;
pub mod signals;
pub mod smb;
pub mod snapshot;
pub mod values;
