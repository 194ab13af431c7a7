//! Programs that a container, a probe or a hook starts and that do not exist there.

use super::image_name::{Base, ImageName};
use super::place::Place;
use super::remark::Remark;
use super::template::{Action, Container, PodTemplate};
use crate::domain::Name;
use crate::findings::Severity;

/// Words that only `cmd.exe` understands: no program has these names.
const BUILT_IN: [&str; 22] = [
    "call", "cd", "chdir", "cls", "copy", "del", "dir", "echo", "erase", "exit", "for", "if", "md", "mkdir",
    "move", "rd", "ren", "rmdir", "set", "start", "type", "ver",
];

/// Programs of a Unix shell that no image of Microsoft's has.
const UNIX: [&str; 16] = [
    "ash", "bash", "cat", "chmod", "chown", "cp", "env", "grep", "kill", "ls", "mv", "rm", "sh", "sleep",
    "touch", "wget",
];

/// Programs that servercore has and nanoserver has not.
const NOT_ON_NANOSERVER: [&str; 2] = ["powershell", "timeout"];

/// The rules.
pub fn judge(template: &PodTemplate) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for container in &template.containers {
        let exec = |action: Option<&Action>| match action {
            Some(Action::Exec(words)) => words.clone(),
            _ => Vec::new(),
        };
        let probe = |probe: &Option<super::template::Probe>| exec(probe.as_ref().map(|probe| &probe.action));
        // The arguments belong to the command only where there is one; else to the image's entry point.
        let command = match container.command.as_slice() {
            [] => Vec::new(),
            command => [command, &container.args].concat(),
        };
        for (field, words) in [
            ("command", command),
            ("startupProbe.exec.command", probe(&container.startup)),
            ("livenessProbe.exec.command", probe(&container.liveness)),
            ("readinessProbe.exec.command", probe(&container.readiness)),
            (
                "lifecycle.postStart.exec.command",
                exec(container.post_start.as_ref()),
            ),
            (
                "lifecycle.preStop.exec.command",
                exec(container.pre_stop.as_ref()),
            ),
        ] {
            if let Some(fault) = fault(&words, ImageName::of(&container.image).base()) {
                let place = container.place().field(field);
                remarks.push(no_such_program(template, container, place, field, &words, &fault));
            }
        }
    }
    remarks
}

/// What is wrong with a command line.
struct Fault {
    /// The program that does not exist.
    program: String,
    kind: FaultKind,
    /// Whether the base of the image is known, so that it certainly is not there.
    certain: bool,
}

#[derive(Clone, Copy)]
enum FaultKind {
    BuiltIn,
    Unix,
    NotOnNanoserver,
}

fn fault(words: &[Name], base: Option<Base>) -> Option<Fault> {
    let first = words.first()?;
    let found = |kind, program: &str, certain| {
        Some(Fault {
            program: program.to_owned(),
            kind,
            certain,
        })
    };
    let program = program_name(first);
    if BUILT_IN.contains(&program.as_str()) {
        return found(FaultKind::BuiltIn, first, base.is_some());
    }
    let unix_path = ["/bin/", "/usr/", "/sbin/"]
        .iter()
        .any(|folder| first.starts_with(folder));
    if unix_path || UNIX.contains(&program.as_str()) {
        return found(FaultKind::Unix, first, base.is_some());
    }
    if base != Some(Base::NanoServer) {
        return None;
    }
    let behind_cmd = if program == "cmd" { &words[1..] } else { &[] };
    let inner = behind_cmd
        .iter()
        .flat_map(|word| word.split(|c: char| c.is_whitespace() || "&|()\"".contains(c)));
    std::iter::once(&**first)
        .chain(inner)
        .find(|word| NOT_ON_NANOSERVER.contains(&program_name(word).as_str()))
        .and_then(|word| found(FaultKind::NotOnNanoserver, word, true))
}

/// `C:\Windows\System32\cmd.exe` is `cmd`.
fn program_name(word: &str) -> String {
    let file = word.rsplit(['\\', '/']).next().unwrap_or(word);
    let name = file.to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

fn no_such_program(
    template: &PodTemplate,
    container: &Container,
    place: Place,
    field: &str,
    words: &[Name],
    fault: &Fault,
) -> Remark {
    let severity = if fault.certain {
        Severity::Critical
    } else {
        Severity::Warning
    };
    let program = &fault.program;
    let (what, why, remedy) = match fault.kind {
        FaultKind::BuiltIn => (
            "is no program, only cmd.exe knows it",
            "The command is started without a shell, so Windows looks for a file of that name: The system cannot find the file \
             specified (0x2).",
            "put cmd /c before it: [\"cmd\", \"/c\", …]".to_owned(),
        ),
        FaultKind::Unix => (
            "is a program of Unix",
            "Windows images have neither /bin nor a Unix shell: The system cannot find the file specified (0x2).",
            "use cmd /c, powershell on servercore, or a program of the image; for a pause in preStop the action sleep needs no \
             program at all"
                .to_owned(),
        ),
        FaultKind::NotOnNanoserver => (
            "is not on nanoserver",
            "nanoserver has cmd.exe, curl.exe and tar.exe, and neither PowerShell nor timeout.exe.",
            "use cmd /c (for a pause: ping -n SECONDS 127.0.0.1, in preStop the action sleep), or servercore as the base"
                .to_owned(),
        ),
    };
    let line: Vec<&str> = words.iter().map(|word| &**word).collect();
    Remark::about_container(
        template,
        container,
        (severity, "no-such-program"),
        place,
        &format!("{program} {what}"),
    )
    .seen(format!("{field}: {}", line.join(" ")))
    .seen(format!("image: {}", container.image))
    .why(why)
    .remedy(remedy)
}
