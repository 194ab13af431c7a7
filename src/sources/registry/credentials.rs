//! Credentials of the Docker configuration (`~/.docker/config.json`, `DOCKER_CONFIG`, credential helpers).

use crate::domain::text::sanitise;
use crate::sources::event::Problem;
use docker_credential::{CredentialRetrievalError, DockerCredential, get_credential_from_reader};
use oci_client::secrets::RegistryAuth;
use std::path::PathBuf;
use std::{env, io};

/// The name of Docker Hub in that configuration.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";

/// The credentials for a registry; anonymous if there are none.
///
/// # Errors
/// The configuration or its credential helper is broken. The text holds no secret.
pub async fn of(registry: &str) -> Result<RegistryAuth, Problem> {
    let Some(file) = config_file() else {
        return Ok(RegistryAuth::Anonymous);
    };
    let text = match std::fs::read(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(RegistryAuth::Anonymous),
        Err(error) => {
            return Err(Problem {
                what: format!(
                    "the Docker configuration {} could not be read: {error}",
                    file.display()
                ),
                next_step: "make it readable, or name the directory of another one with DOCKER_CONFIG"
                    .to_owned(),
            });
        }
    };
    let server = match registry {
        "docker.io" => DOCKER_HUB.to_owned(),
        other => other.to_owned(),
    };
    // A credential helper is a program of its own.
    let found = tokio::task::spawn_blocking(move || get_credential_from_reader(text.as_slice(), &server))
        .await
        .unwrap_or(Err(CredentialRetrievalError::HelperCommunicationError));
    match found {
        Ok(DockerCredential::UsernamePassword(user, password)) => Ok(RegistryAuth::Basic(user, password)),
        Ok(DockerCredential::IdentityToken(_)) => Err(unusable(
            registry,
            "an identity token, which only docker itself can use",
        )),
        Err(CredentialRetrievalError::NoCredentialConfigured) => Ok(RegistryAuth::Anonymous),
        // What a helper printed may hold secrets.
        Err(CredentialRetrievalError::HelperFailure { helper, .. }) => {
            let cause = format!("the credential helper {} failed", sanitise(&helper));
            Err(unusable(registry, &cause))
        }
        Err(error) => Err(unusable(registry, &error.to_string())),
    }
}

/// Where Docker keeps it.
fn config_file() -> Option<PathBuf> {
    let folder = env::var_os("DOCKER_CONFIG")
        .map(PathBuf::from)
        .or_else(|| Some(etcetera::home_dir().ok()?.join(".docker")))?;
    Some(folder.join("config.json"))
}

fn unusable(registry: &str, cause: &str) -> Problem {
    Problem {
        what: format!("no usable credentials for {registry} in the Docker configuration: {cause}"),
        next_step: format!("log in again with a user name and a password or token: docker login {registry}"),
    }
}
