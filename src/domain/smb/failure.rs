//! Why a mapping failed, in words: Win32 codes as New-SmbGlobalMapping reports them, and what else the plugin says.

use super::DEFAULT_DOMAIN;
use crate::domain::severity::Severity;
use std::borrow::Cow;

/// Longest text of a failure that is kept, bytes.
const LONGEST: usize = 2000;

/// A failure as it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What it comes down to.
    pub cause: Cause,
    /// The text, as logged: sanitise before showing.
    pub text: Box<str>,
}

/// What a failure comes down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A Win32 error code (`Windows System Error N`).
    Win32(u32),
    /// PowerShell itself ended with this NTSTATUS code.
    PowerShell(u32),
    /// No answer within the plugin's 110 s.
    Timeout,
    /// An earlier attempt for the same volume still runs.
    StillRunning,
    /// The Secret has no user name or no password.
    NoCredentials,
    /// Something else: the text says what.
    Other,
}

/// Texts of Windows that stand for a code where the code itself is not told.
const TEXTS: [(&str, u32); 9] = [
    ("network path was not found", 53),
    ("network access is denied", 65),
    ("network name cannot be found", 67),
    ("specified network password is not correct", 86),
    ("parameter is incorrect", 87),
    ("file when that file already exists", 183),
    ("multiple connections to a server or shared resource", 1219),
    ("user name or password is incorrect", 1326),
    ("access is denied", 5),
];

impl Failure {
    /// Reads the text of an error.
    pub fn read(text: &str) -> Self {
        let end = (0..=LONGEST.min(text.len()))
            .rev()
            .find(|end| text.is_char_boundary(*end));
        Self {
            cause: Cause::read(text),
            text: text[..end.unwrap_or(0)].into(),
        }
    }
}

impl Cause {
    fn read(text: &str) -> Self {
        // Output of PowerShell is quoted, and wrapped at the width of a console that nobody sees.
        let text = text.replace("\\r", " ").replace("\\n", " ").to_lowercase();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(code) = number_after(&text, "system error ") {
            return Self::Win32(code);
        }
        if let Some(code) = powershell_status(&text) {
            return Self::PowerShell(code);
        }
        if text.contains("empty mountoptions(") {
            return Self::NoCredentials;
        }
        if let Some((_, code)) = TEXTS.iter().find(|(words, _)| text.contains(words)) {
            return Self::Win32(*code);
        }
        if text.contains("timeout after") || text.contains("deadlineexceeded") {
            return Self::Timeout;
        }
        if text.contains("operation with the given volume") && text.contains("already exists") {
            return Self::StillRunning;
        }
        Self::Other
    }

    /// `1326: user name or password is wrong`.
    pub fn words(self) -> Cow<'static, str> {
        match self {
            Self::Win32(code) => match win32(code) {
                Some(words) => format!("{code}: {words}").into(),
                None => format!("Win32 error {code}").into(),
            },
            Self::PowerShell(code) => format!("0x{code:08x}: PowerShell could not start on the node").into(),
            Self::Timeout => "no answer from the server within 110 s".into(),
            Self::StillRunning => "an earlier attempt still runs".into(),
            Self::NoCredentials => "the Secret has no username or no password".into(),
            Self::Other => "failed".into(),
        }
    }

    /// What to do about it. `node` is the node that maps, `server` the server of the share.
    pub fn remedy(self, node: &str, server: &str) -> String {
        match self {
            Self::Win32(53 | 67 | 121) => format!(
                "on {node}: Resolve-DnsName {server}; Test-NetConnection {server} -Port 445. The plugin runs on the host: \
                 cluster DNS names do not resolve there. Check that the share exists and that hosts allow and the \
                 firewall of {server} know the addresses of {node}"
            ),
            Self::Win32(5 | 65) => format!(
                "check on {server} that hosts allow and the firewall know the addresses of {node}, and that the \
                 account may use the share"
            ),
            Self::Win32(87) => {
                "look for a trailing slash in `source` (StorageClass or volume attributes), and remove it"
                    .to_owned()
            }
            Self::Win32(183) => format!(
                "the link of an earlier mount is in the way: on {node} compare Get-SmbGlobalMapping with the globalmount \
                 link, remove the link and the disconnected mapping, and let the pod start again"
            ),
            Self::Win32(1219) => format!(
                "{node} already has a connection to {server} under another account: Get-SmbGlobalMapping and \
                 Get-SmbConnection there; remove the one that is left over (after a restart: Remove-SmbGlobalMapping). \
                 Use one account per server, or another name of the server for each"
            ),
            Self::Win32(86 | 1326) => format!(
                "check user name and password in the Secret; a server in a domain also wants the field `domain` there, \
                 or the plugin fills in {DEFAULT_DOMAIN}"
            ),
            Self::Win32(1327 | 1330 | 1331 | 1907 | 1909) => {
                format!("look at the account on {server} or in its domain")
            }
            Self::Win32(1311 | 1355) => format!(
                "the domain of the account cannot be asked: check the field `domain` of the Secret, and that {node} \
                 and {server} reach a domain controller"
            ),
            Self::PowerShell(_) => {
                format!("{node} is short of commit or of desktop heap: see its commit, and end what holds it")
            }
            Self::Timeout => format!(
                "on {node}: Test-NetConnection {server} -Port 445; a firewall that drops instead of refusing looks like this"
            ),
            Self::StillRunning => {
                "wait until the earlier attempt ends; if it never does, restart the node plugin's pod"
                    .to_owned()
            }
            Self::NoCredentials => {
                "put `username` and `password` into the Secret that the StorageClass names".to_owned()
            }
            Self::Win32(_) | Self::Other => {
                format!("read the log of the node plugin on {node}, and the log of {server}")
            }
        }
    }

    /// How bad it is: a wait for an earlier attempt passes by itself.
    pub const fn severity(self) -> Severity {
        match self {
            Self::StillRunning => Severity::Warning,
            _ => Severity::Critical,
        }
    }

    /// The Win32 code, where there is one.
    pub const fn win32_code(self) -> Option<u32> {
        match self {
            Self::Win32(code) => Some(code),
            _ => None,
        }
    }
}

/// Words for the codes that mapping a share ends with.
const fn win32(code: u32) -> Option<&'static str> {
    Some(match code {
        5 => "access is denied",
        53 => "the network path was not found",
        64 => "the server broke the connection off",
        65 => "network access is denied",
        67 => "the server has no such share",
        86 => "the password is wrong",
        87 => "a parameter is incorrect",
        121 => "the server did not answer in time",
        183 => "the link on the node exists already",
        1219 => "the node is connected to the server under another account",
        1311 => "no domain controller answers",
        1326 => "user name or password is wrong",
        1327 => "the account is restricted",
        1330 => "the password has expired",
        1331 => "the account is disabled",
        1355 => "there is no such domain",
        1907 => "the password must be changed first",
        1909 => "the account is locked",
        _ => return None,
    })
}

fn number_after(text: &str, words: &str) -> Option<u32> {
    let rest = &text[text.find(words)? + words.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// `exit status 0xc0000142`: a process that never came to run.
fn powershell_status(text: &str) -> Option<u32> {
    let rest = &text[text.find("exit status 0xc")? + "exit status 0x".len()..];
    let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
    u32::from_str_radix(&rest[..end], 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_powershell(code: u32, words: &str) -> String {
        format!(
            r#"NewSmbGlobalMapping failed. output: "New-SmbGlobalMapping : {words}\r\nAt line:1 char:190\r\n+ ... \r\n    + CategoryInfo          : NotSpecified: (MSFT_SmbGlobalMapping:ROOT/Microsoft/...mbGlobalMapping) [New-SmbGlobalMapping], CimException\r\n    + FullyQualifiedErrorId : Windows System Error {code},New-SmbGlobalMapping\r\n \r\n", err: exit status 1"#
        )
    }

    #[test]
    fn the_codes_of_the_public_reports_are_read_and_said_in_words() {
        for (code, told, words) in [
            (53, "The network path was not found. ", "network path"),
            (65, "Network access is denied. ", "access is denied"),
            (87, "The parameter is incorrect. ", "parameter"),
            (1219, "Multiple connections to a server …", "another account"),
            (
                1326,
                "The user name or password is incorrect. ",
                "password is wrong",
            ),
        ] {
            let failure = Failure::read(&of_powershell(code, told));
            assert_eq!(failure.cause, Cause::Win32(code));
            assert!(failure.cause.words().contains(words), "{}", failure.cause.words());
        }
    }

    #[test]
    fn a_refusal_of_the_network_names_the_servers_doors() {
        for code in [53, 65] {
            let remedy = Cause::Win32(code).remedy("k8s-lab-win-1", "files.example.com");
            assert!(
                remedy.contains("hosts allow") && remedy.contains("firewall"),
                "{remedy}"
            );
        }
        assert!(Cause::Win32(1326).remedy("n", "s").contains("AZURE"));
        assert!(Cause::Win32(87).remedy("n", "s").contains("trailing slash"));
    }

    #[test]
    fn without_a_code_the_words_of_windows_count_however_they_are_wrapped() {
        let text = r"output: New-SmbGlobalMapping : The user name or password\r\nis incorrect.";
        assert_eq!(Failure::read(text).cause, Cause::Win32(1326));
        let link = r"os.Symlink(\\s\a, c:\x) failed with symlink \\s\a c:\x: Cannot create a file when that file already exists.";
        assert_eq!(Failure::read(link).cause, Cause::Win32(183));
    }

    #[test]
    fn what_is_no_code_of_windows_is_told_apart() {
        for (text, cause) in [
            ("err: exit status 0xc0000142", Cause::PowerShell(0xc000_0142)),
            (
                r#"volume(a) mount "b" on "c" timeout after 1m50s"#,
                Cause::Timeout,
            ),
            (
                "An operation with the given Volume ID a already exists",
                Cause::StillRunning,
            ),
            (
                "empty mountOptions(len: 0) or sensitiveMountOptions(len: 0) is not allowed",
                Cause::NoCredentials,
            ),
            ("something new", Cause::Other),
        ] {
            assert_eq!(Failure::read(text).cause, cause, "{text}");
        }
    }

    #[test]
    fn a_text_of_a_megabyte_is_kept_in_part() {
        let failure = Failure::read(&"ü".repeat(1 << 20));
        assert!(failure.text.len() <= LONGEST);
    }
}
