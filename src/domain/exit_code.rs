//! Exit codes of Windows containers in words.
//!
//! The API shows exit codes as signed 32 bits, so that NTSTATUS and HRESULT codes come out negative and cannot
//! be looked up as they stand. Names are those of the Windows SDK (`ntstatus.h`, `winerror.h`).

use super::object::Os;

/// What is known of an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode {
    /// The code as Windows writes it.
    pub code: u32,
    /// Its name.
    pub name: &'static str,
    /// What it means for the operator.
    pub meaning: &'static str,
}

const fn known(code: u32, name: &'static str, meaning: &'static str) -> ExitCode {
    ExitCode { code, name, meaning }
}

/// The codes that operators of Windows containers meet.
const KNOWN: [ExitCode; 19] = [
    known(
        0xC000_013A,
        "STATUS_CONTROL_C_EXIT",
        "stopped by the kubelet: how a console program normally ends",
    ),
    known(
        0xC000_0409,
        "STATUS_STACK_BUFFER_OVERRUN",
        "fail-fast: the program ended itself on an internal error",
    ),
    known(
        0xC000_0005,
        "STATUS_ACCESS_VIOLATION",
        "the program touched memory that is not its own: it crashed",
    ),
    known(
        0xC000_0135,
        "STATUS_DLL_NOT_FOUND",
        "a DLL is missing in the image",
    ),
    known(
        0xC000_0142,
        "STATUS_DLL_INIT_FAILED",
        "a DLL could not start: desktop heap or commit used up",
    ),
    known(
        0xC000_012D,
        "STATUS_COMMITMENT_LIMIT",
        "the commit limit was reached: raise the memory limit",
    ),
    known(
        0xC000_0017,
        "STATUS_NO_MEMORY",
        "an allocation failed: probably the commit limit",
    ),
    known(
        0x8007_05AF,
        "HRESULT of ERROR_COMMITMENT_LIMIT",
        "the commit limit was reached: raise the memory limit",
    ),
    known(
        0xE043_4352,
        "unhandled .NET exception",
        "the log's last lines name it; OutOfMemoryException is the commit limit",
    ),
    known(
        2,
        "Go fatal error",
        "a Go program gave up: look for `out of memory` or errno=1455 in the log",
    ),
    known(
        1455,
        "ERROR_COMMITMENT_LIMIT",
        "the commit limit was reached: raise the memory limit",
    ),
    known(
        0x803B_0015,
        "HCN_E_REQUEST_UNSUPPORTED",
        "the host network service refused: drain and restart the node",
    ),
    known(
        0x8007_0490,
        "HRESULT of ERROR_NOT_FOUND",
        "element not found: often an HNS endpoint that is gone",
    ),
    known(
        1168,
        "ERROR_NOT_FOUND",
        "element not found: often an HNS endpoint that is gone",
    ),
    known(
        5010,
        "ERROR_OBJECT_ALREADY_EXISTS",
        "the object exists already: left over from an earlier attempt",
    ),
    known(
        0xC037_0101,
        "HCS_E_IMAGE_MISMATCH",
        "the image is for another Windows build than the node's",
    ),
    known(
        0xC037_0105,
        "HCS_E_INVALID_STATE",
        "the container is not in a state that allows this",
    ),
    known(
        0xC037_0106,
        "HCS_E_UNEXPECTED_EXIT",
        "the container ended while starting: image newer than the node's revision?",
    ),
    known(
        0xC037_0112,
        "HCS_E_INVALID_LAYER",
        "a layer of the image is not usable here",
    ),
];

/// What is known of the exit code of a container on Windows.
pub fn lookup(exit_code: i32) -> Option<ExitCode> {
    let code = exit_code.cast_unsigned();
    KNOWN.into_iter().find(|known| known.code == code)
}

/// An exit code for the operator: `-1073741510 = 0xC000013A STATUS_CONTROL_C_EXIT · stopped by the kubelet…`.
/// On Linux, and where nothing is known, the number; a negative number with its hexadecimal form.
pub fn text(exit_code: i32, os: Option<Os>) -> String {
    if os == Some(Os::Linux) {
        return exit_code.to_string();
    }
    let number = if exit_code < 0 {
        format!("{exit_code} = 0x{:08X}", exit_code.cast_unsigned())
    } else {
        exit_code.to_string()
    };
    match lookup(exit_code) {
        Some(ExitCode { name, meaning, .. }) => format!("{number} {name} · {meaning}"),
        None => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_stopped_console_program_is_no_crash() {
        assert!(
            text(-1_073_741_510, Some(Os::Windows))
                .starts_with("-1073741510 = 0xC000013A STATUS_CONTROL_C_EXIT · stopped by the kubelet")
        );
    }

    #[test]
    fn the_signed_codes_that_the_api_shows_are_found() {
        let shown: [(i32, &str); 9] = [
            (-1_073_740_791, "STATUS_STACK_BUFFER_OVERRUN"),
            (-1_073_741_819, "STATUS_ACCESS_VIOLATION"),
            (-1_073_741_515, "STATUS_DLL_NOT_FOUND"),
            (-1_073_741_502, "STATUS_DLL_INIT_FAILED"),
            (-1_073_741_523, "STATUS_COMMITMENT_LIMIT"),
            (-1_073_741_801, "STATUS_NO_MEMORY"),
            (-2_147_023_441, "HRESULT of ERROR_COMMITMENT_LIMIT"),
            (-532_462_766, "unhandled .NET exception"),
            (1455, "ERROR_COMMITMENT_LIMIT"),
        ];
        for (code, name) in shown {
            assert_eq!(lookup(code).map(|known| known.name), Some(name), "{code}");
        }
    }

    #[test]
    fn a_code_stands_once_in_the_table() {
        let codes: std::collections::BTreeSet<u32> = KNOWN.iter().map(|known| known.code).collect();
        assert_eq!(codes.len(), KNOWN.len());
    }

    #[test]
    fn on_linux_a_2_is_just_a_2() {
        assert_eq!(text(2, Some(Os::Linux)), "2");
        assert!(text(2, Some(Os::Windows)).starts_with("2 Go fatal error"));
    }

    proptest! {
        #[test]
        fn every_negative_code_can_be_looked_up_by_its_hexadecimal_form(code in i32::MIN..0) {
            let text = text(code, Some(Os::Windows));
            let hexadecimal = text.split("0x").nth(1).unwrap().get(..8).unwrap().to_owned();
            prop_assert_eq!(u32::from_str_radix(&hexadecimal, 16).unwrap().cast_signed(), code);
        }
    }
}
