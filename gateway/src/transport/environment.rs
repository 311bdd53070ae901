//! The environment variables that a server inherits.
//!
//! Programs need to find their tools, their home, their locale and the proxy. Other variables are not
//! inherited: they hold credentials of other servers and of the user. A server that needs more lists it
//! in its `env`.

const NAMES: [&str; 34] = [
    "ALL_PROXY",
    "CURL_CA_BUNDLE",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NODE_PATH",
    "NO_PROXY",
    "NVM_DIR",
    "PATH",
    "PIP_CONFIG_FILE",
    "PIP_INDEX_URL",
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
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "VIRTUAL_ENV",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "npm_config_cache",
    "npm_config_registry",
];
const PREFIXES: [&str; 2] = ["LC_", "XDG_"];

/// Whether a server inherits the variable `name`.
pub fn is_inherited(name: &str) -> bool {
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_programs_need_are_inherited_and_tokens_are_not() {
        for name in ["PATH", "HOME", "LC_ALL", "XDG_CACHE_HOME", "https_proxy"] {
            assert!(is_inherited(name), "{name}");
        }
        for name in [
            "GITHUB_TOKEN",
            "NODE_AUTH_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "SSH_AUTH_SOCK",
        ] {
            assert!(!is_inherited(name), "{name}");
        }
    }
}
