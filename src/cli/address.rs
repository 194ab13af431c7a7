//! The flags that say how a backend is reached at an address of its own, whichever backend it is.

use super::exit::CliError;
use crate::sources::transport::direct::Credentials;
use secrecy::SecretString;
use std::path::Path;

/// `--NAME URL` with its companions `--NAME-user`, `--NAME-password-file`, …
pub struct AddressFlags<'a> {
    /// What their names begin with.
    pub name: &'static str,
    /// The address.
    pub url: Option<&'a str>,
    /// User of basic authentication.
    pub user: Option<&'a str>,
    /// File with its password.
    pub password_file: Option<&'a Path>,
    /// File with a bearer token.
    pub token_file: Option<&'a Path>,
    /// Headers, `Name: value` or `Name: @FILE`.
    pub headers: &'a [String],
    /// File with authorities.
    pub ca: Option<&'a Path>,
    /// File with the client certificate.
    pub cert: Option<&'a Path>,
    /// File with its key.
    pub key: Option<&'a Path>,
}

impl AddressFlags<'_> {
    /// Flags that make no sense alone.
    pub fn check(&self) -> Result<(), CliError> {
        let name = self.name;
        let needs = |there: bool, flag: &str, other: &str| {
            if there {
                Err(CliError::Usage(format!("--{name}{flag} needs --{name}{other}")))
            } else {
                Ok(())
            }
        };
        let (url, user) = (self.url.is_some(), self.user.is_some());
        let password = self.password_file.is_some();
        needs(user && !password, "-user", "-password-file")?;
        needs(password && !user, "-password-file", "-user")?;
        let (cert, key) = (self.cert.is_some(), self.key.is_some());
        needs(cert && !key, "-cert", "-key")?;
        needs(key && !cert, "-key", "-cert")?;
        // Through the API server's proxy the server's own credentials are used; others do not get through.
        needs(!url && user, "-user", "")?;
        needs(!url && self.token_file.is_some(), "-token-file", "")?;
        needs(!url && !self.headers.is_empty(), "-header", "")?;
        needs(!url && self.ca.is_some(), "-ca", "")?;
        needs(!url && cert, "-cert", "")?;
        if user && self.token_file.is_some() {
            return Err(CliError::Usage(format!(
                "--{name}-user and --{name}-token-file exclude each other"
            )));
        }
        Ok(())
    }

    /// What is shown at the address; reads the files with secrets.
    ///
    /// # Errors
    /// A file cannot be read, a header has no name, the URL is none.
    pub fn credentials(&self) -> Result<Credentials, CliError> {
        if let Some(url) = self.url {
            self.check_url(url)?;
        }
        let password = self.password_file.map(secret_line).transpose()?;
        Ok(Credentials {
            basic: self
                .user
                .zip(password)
                .map(|(user, password)| format!("{user}:{password}").into()),
            bearer: self
                .token_file
                .map(secret_line)
                .transpose()?
                .map(SecretString::from),
            headers: self
                .headers
                .iter()
                .map(|text| self.header(text))
                .collect::<Result<_, _>>()?,
            ca_file: self.ca.map(Path::to_owned),
            client_cert: self.cert.map(Path::to_owned),
            client_key: self.key.map(Path::to_owned),
        })
    }

    fn check_url(&self, text: &str) -> Result<(), CliError> {
        let url = text.parse::<http::Uri>().ok();
        let usable = url.is_some_and(|url| {
            matches!(url.scheme_str(), Some("http" | "https"))
                && url.host().is_some_and(|host| !host.is_empty())
        });
        if usable {
            Ok(())
        } else {
            // The text is not repeated: it may hold a password.
            let name = self.name;
            Err(CliError::Usage(format!(
                "--{name} is no URL: expected for example https://{name}.example.com"
            )))
        }
    }

    /// `Name: value`, or `Name: @FILE`.
    fn header(&self, text: &str) -> Result<(String, SecretString), CliError> {
        let wrong = || {
            let name = self.name;
            CliError::Usage(format!(
                "--{name}-header: expected `Name: value` or `Name: @FILE`"
            ))
        };
        let (name, value) = text.split_once(':').ok_or_else(wrong)?;
        let name: http::HeaderName = name.trim().parse().map_err(|_| wrong())?;
        let value = match value.trim().strip_prefix('@') {
            Some(file) => secret_line(Path::new(file))?,
            None => value.trim().to_owned(),
        };
        if http::HeaderValue::from_str(&value).is_err() {
            return Err(wrong());
        }
        Ok((name.to_string(), value.into()))
    }
}

/// Content of a file with one secret, without the line end.
fn secret_line(path: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| CliError::Usage(format!("{} cannot be read: {error}", path.display())))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
