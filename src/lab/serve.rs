//! `demo --serve`: the lab alone, for other programs, until it is stopped.

use super::embedded::{Lab, LabOptions};
use super::error::LabError;
use serde_json::json;
use std::io::{ErrorKind, Write};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// First line of every kubeconfig that the lab writes. A file without it is somebody else's.
const MARKER: &str = "# written by drainboard demo --serve: may be overwritten";

/// Starts the lab, writes `kubeconfig`, prints one JSON line with the URLs to `out`, and runs until `cancel` fires.
/// The file is left behind: the next lab may overwrite it.
///
/// # Errors
/// When the file is not the lab's, cannot be written, or the lab does not start.
pub async fn serve(
    options: LabOptions,
    kubeconfig: &Path,
    out: &mut (impl Write + Send),
    cancel: CancellationToken,
) -> Result<(), LabError> {
    refuse_foreign(kubeconfig)?;
    let lab = Lab::start(options).await?;
    let file_error = |verb| {
        move |source| LabError::File {
            verb,
            path: kubeconfig.to_owned(),
            source,
        }
    };
    write_private(kubeconfig, &format!("{MARKER}\n{}\n", lab.kubeconfig())).map_err(file_error("write"))?;
    let api = lab.api_url();
    let proxy = |service: &str| format!("{api}/api/v1/namespaces/monitoring/services/{service}/proxy");
    let line = json!({
        "api": api,
        "kubeconfig": kubeconfig,
        "prometheus": proxy("kps-prometheus:http-web"),
        "exporter": format!("{api}/api/v1/namespaces/monitoring/pods/kps-prometheus-windows-exporter-l45kh:9182/proxy/metrics"),
        "loki": lab.loki_url(),
        "metrics": format!("{api}/apis/metrics.k8s.io/v1beta1"),
    });
    // whoever started the lab may have closed its end; the lab runs all the same
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        tracing::debug!("nobody reads the lab's URLs");
    }
    cancel.cancelled().await;
    lab.stop().await;
    Ok(())
}

fn refuse_foreign(path: &Path) -> Result<(), LabError> {
    match std::fs::read_to_string(path) {
        Ok(text) if text.lines().next() == Some(MARKER) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        // unreadable, or not text: in any case not the lab's
        Ok(_) | Err(_) => Err(LabError::ForeignFile {
            path: path.to_owned(),
        }),
    }
}

/// Writes a file that only its owner may read, as it holds a token.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kubeconfig_of_somebody_else_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config");
        std::fs::write(&path, "apiVersion: v1\nkind: Config\n").unwrap();
        let error = refuse_foreign(&path).unwrap_err();
        assert!(
            error.to_string().contains("was not written by drainboard"),
            "{error}"
        );
    }

    #[test]
    fn the_labs_own_file_and_a_new_one_may_be_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config");
        refuse_foreign(&path).unwrap();
        write_private(&path, &format!("{MARKER}\n{{}}\n")).unwrap();
        refuse_foreign(&path).unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_lab_says_in_one_line_where_it_is_and_stops_when_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config");
        let cancel = CancellationToken::new();
        cancel.cancel();
        let mut out = Vec::new();
        let options = LabOptions {
            speed: 20.0,
            ..LabOptions::default()
        };
        serve(options, &path, &mut out, cancel).await.unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 1);
        let line: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(line["api"].as_str().unwrap().starts_with("https://127.0.0.1:"));
        assert!(std::fs::read_to_string(&path).unwrap().starts_with(MARKER));
    }
}
