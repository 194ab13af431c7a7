//! Why a registry could not be asked, in words for the operator.

use crate::sources::event::Problem;
use crate::sources::transport::failure::{clean, innermost};
use oci_client::Reference;
use oci_client::errors::{OciDistributionError, OciErrorCode};
use std::time::Duration;

/// An error of the client.
pub fn problem(reference: &Reference, error: &OciDistributionError) -> Problem {
    use OciDistributionError as E;
    let registry = reference.registry();
    let login = format!("docker login {registry}, with an account that may pull it");
    match error {
        E::UnauthorizedError { .. } | E::AuthenticationFailure(_) => {
            told(reference, &format!("{registry} wants other credentials"), &login)
        }
        E::ImageManifestNotFoundError(_) | E::ServerError { code: 404, .. } => not_found(reference),
        E::RegistryError { envelope, .. } => {
            let code = envelope.errors.first().map(|error| &error.code);
            match code {
                Some(OciErrorCode::ManifestUnknown | OciErrorCode::NameUnknown | OciErrorCode::NotFound) => {
                    not_found(reference)
                }
                Some(OciErrorCode::Unauthorized | OciErrorCode::Denied) => told(
                    reference,
                    &format!("{registry} refuses it: no such image, or no right to it"),
                    &login,
                ),
                Some(OciErrorCode::Toomanyrequests) => told(
                    reference,
                    &format!("{registry} answers: too many requests"),
                    "try again later, or log in: limits for accounts are higher",
                ),
                _ => told(reference, &clean(&envelope.to_string()), ""),
            }
        }
        E::ServerError { code, message, .. } => told(
            reference,
            &format!("{registry} answers with status {code}: {}", clean(message)),
            "try again later",
        ),
        E::RequestError(error) => told(
            reference,
            &format!("{registry} cannot be reached: {}", innermost(error)),
            "check name, port, proxy (HTTPS_PROXY) and certificate of the registry",
        ),
        other => strange(reference, &clean(&other.to_string())),
    }
}

/// No answer in time.
pub fn silent(reference: &Reference, timeout: Duration) -> Problem {
    let seconds = timeout.as_secs_f32();
    told(
        reference,
        &format!("{} does not answer within {seconds} s", reference.registry()),
        "raise --request-timeout, or check the way to the registry",
    )
}

/// An answer that is none.
pub fn strange(reference: &Reference, what: &str) -> Problem {
    told(
        reference,
        what,
        "check that this address is a registry and the reference an image",
    )
}

fn not_found(reference: &Reference) -> Problem {
    told(
        reference,
        &format!("{} has no such image or tag", reference.registry()),
        "check repository and tag; a private image may also be hidden from whoever is not logged in",
    )
}

fn told(reference: &Reference, cause: &str, next_step: &str) -> Problem {
    Problem {
        what: format!("the image {} could not be read: {cause}", reference.whole()),
        next_step: next_step.to_owned(),
    }
}
