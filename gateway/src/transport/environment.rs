//! The environment variables that a server inherits.
//!
//! Programs need to find their tools, their home, their locale and the proxy. Other variables are not
//! inherited: they hold credentials of other servers and of the user. A server that needs more lists it
//! in its `env`.
//!
//! Proxies and package indexes are inherited without a user name and password in their addresses, and
//! `PATH` without relative entries, which would name the working folder.

use std::ffi::{OsStr, OsString};

use url::Url;

const NAMES: [&str; 21] = [
    "CURL_CA_BUNDLE",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NODE_PATH",
    "NVM_DIR",
    "PIP_CONFIG_FILE",
    "PYENV_ROOT",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "UV_CACHE_DIR",
    "VIRTUAL_ENV",
    "npm_config_cache",
];
const PREFIXES: [&str; 2] = ["LC_", "XDG_"];
/// Variables with addresses, which may hold a password.
const ADDRESSES: [&str; 14] = [
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "PIP_EXTRA_INDEX_URL",
    "PIP_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "npm_config_registry",
];

/// The variables of `own` that a server inherits.
pub fn inherited(
    own: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    own.filter_map(|(name, value)| {
        let value = value_for_server(name.to_str()?, value)?;
        Some((name, value))
    })
}

/// The value that a server gets of the variable `name`; `None` if it gets none.
fn value_for_server(name: &str, value: OsString) -> Option<OsString> {
    if name == "PATH" {
        return pml_files::absolute_entries(&value);
    }
    if ADDRESSES.contains(&name) {
        return without_userinfo(&value);
    }
    let is_inherited =
        NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    is_inherited.then_some(value)
}

/// The addresses of a variable, without user names and passwords; `None` if they cannot be separated from
/// the rest.
fn without_userinfo(value: &OsStr) -> Option<OsString> {
    let value = value.to_str()?;
    if !value.contains('@') {
        return Some(value.into());
    }
    let words: Option<Vec<String>> = value.split_whitespace().map(bare_address).collect();
    Some(words?.join(" ").into())
}

/// One address: `https://user:password@host/`, `user:password@host:3128`, or `name=https://…`, as uv
/// writes a named index.
fn bare_address(word: &str) -> Option<String> {
    if !word.contains('@') {
        return Some(word.to_owned());
    }
    let (scheme, rest) = match word.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), word),
    };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    // A password with a slash in it is cut in the wrong place, and what is left has no valid port.
    let is_valid = Url::parse(&format!("http://{host}/"))
        .is_ok_and(|url| url.username().is_empty())
        && !path.contains('@');
    is_valid.then(|| format!("{scheme}{host}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str, value: &str) -> Option<String> {
        let value = value_for_server(name, value.into())?;
        Some(value.into_string().unwrap())
    }

    #[test]
    fn variables_that_programs_need_are_inherited_and_tokens_are_not() {
        for name in ["PATH", "HOME", "LC_ALL", "XDG_CACHE_HOME", "https_proxy"] {
            assert_eq!(given(name, "/x").as_deref(), Some("/x"), "{name}");
        }
        for name in [
            "GITHUB_TOKEN",
            "NODE_AUTH_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "SSH_AUTH_SOCK",
        ] {
            assert_eq!(given(name, "/x"), None, "{name}");
        }
    }

    #[test]
    fn a_server_does_not_read_the_password_of_a_proxy_or_an_index() {
        for (name, value, expected) in [
            (
                "HTTPS_PROXY",
                "http://jo:s3cret@proxy:3128",
                Some("http://proxy:3128"),
            ),
            ("http_proxy", "jo:s3cret@proxy:3128", Some("proxy:3128")),
            (
                "ALL_PROXY",
                "socks5h://t0ken@10.0.0.1:1080/",
                Some("socks5h://10.0.0.1:1080/"),
            ),
            (
                "PIP_INDEX_URL",
                "https://jo:p%40ss@pypi.example/simple/",
                Some("https://pypi.example/simple/"),
            ),
            (
                "UV_INDEX",
                "a=https://jo:pw@one.example/x https://two.example/y",
                Some("a=https://one.example/x https://two.example/y"),
            ),
            (
                "UV_DEFAULT_INDEX",
                "https://jo:p@ss@pypi.example",
                Some("https://pypi.example"),
            ),
            // The password cannot be separated, so the variable is not passed on.
            (
                "PIP_INDEX_URL",
                "https://jo:pa/ss@pypi.example/simple",
                None,
            ),
            ("HTTP_PROXY", "http://jo:pa#ss@proxy", None),
            (
                "npm_config_registry",
                "https://npm.example/",
                Some("https://npm.example/"),
            ),
            (
                "NO_PROXY",
                "localhost,.example.com",
                Some("localhost,.example.com"),
            ),
        ] {
            assert_eq!(given(name, value).as_deref(), expected, "{name}={value}");
        }
    }

    #[test]
    fn the_working_folder_is_not_on_the_path_of_a_server() {
        assert_eq!(given("PATH", ".:/usr/bin:").as_deref(), Some("/usr/bin"));
        assert_eq!(given("PATH", ".:"), None);
    }
}
