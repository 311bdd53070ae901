//! `pml token`: capability tokens, which say which tools their holder may call.

mod inspect;

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use pml_policy::tool_glob::ToolGlob;
use pml_tokens::{
    CapabilityStore, Grant, Restriction, RootKey, SignedToken, TokenId, written_time,
};
use pml_units::HumanDuration;
use serde_json::{Value, json};

use crate::audit_setup::CommandAudit;
use crate::capability;
use crate::config::{self, Settings};
use crate::exit::{self, ExitCode};

/// Make and check tokens that permit some tools only
///
/// A token says who calls, which tools, until when and how many calls. `pml serve --http` takes it as a
/// bearer token, every other command with --capability or PML_CAPABILITY. What it does not permit cannot
/// be called, listed, searched or described. Its holder can make a token from it that may do less, and
/// give that to a sub-agent; no key is needed for that.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml token key                                            the root key; made on first use\n  \
    pml token mint --allow 'fs:read_*' --expires 1h          a token\n  \
    pml token attenuate \"$TOKEN\" --allow fs:read_file        one that may do less\n  \
    PML_CAPABILITY=\"$TOKEN\" pml run script.ts                a run with it\n  \
    pml token inspect \"$TOKEN\"                               what it says, and whether it is valid\n  \
    pml token revoke \"$TOKEN\"                                end it, and those made from it\n\n\
    Exit codes: 0 ok, 1 the token is not valid, 2 wrong usage or configuration.")]
pub struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Subcommand)]
enum TokenCommand {
    /// Print the public root key; make the key on first use
    ///
    /// The private key is in a file that only you can read. Every process with that file can make any token. Another
    /// machine accepts your tokens with the public key in `pml.tokens.trustedKeys`.
    #[command(after_help = "Examples:\n  pml token key\n  pml token key --json")]
    Key {
        /// Print the result as JSON on standard output
        #[arg(long)]
        json: bool,
    },
    /// Make a token
    #[command(after_help = "Examples:\n  \
        pml token mint --allow 'fs:read_*' --allow 'web:*' --expires 1h\n  \
        pml token mint --allow '*' --principal ci --tenant acme --budget calls=100 --expires 7d")]
    Mint {
        /// Whose data its runs work on
        #[arg(long, value_name = "NAME", default_value = "local")]
        tenant: String,
        /// Who its holder is, for policies and the audit log
        #[arg(long, value_name = "NAME", default_value = "agent")]
        principal: String,
        #[command(flatten)]
        limits: LimitArgs,
        /// Print the result as JSON on standard output
        #[arg(long)]
        json: bool,
    },
    /// Make a token that may do less than another one, without a key
    #[command(after_help = "Examples:\n  \
        pml token attenuate \"$TOKEN\" --allow fs:read_file --expires 5m\n  \
        pml token attenuate @token.txt --budget calls=3")]
    Attenuate {
        /// The token; @FILE reads it from a file, - from standard input
        #[arg(value_name = "TOKEN")]
        token: String,
        #[command(flatten)]
        limits: LimitArgs,
        /// Print the result as JSON on standard output
        #[arg(long)]
        json: bool,
    },
    /// Show what a token says, and whether it is valid here
    #[command(after_help = "Examples:\n  \
        pml token inspect \"$TOKEN\"\n  \
        pml token inspect @token.txt --json\n\n\
        Exit codes: 0 valid, 1 not valid, 2 wrong usage or configuration.")]
    Inspect {
        /// The token; @FILE reads it from a file, - from standard input
        #[arg(value_name = "TOKEN")]
        token: String,
        /// Print the result as JSON on standard output
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token and all that were made from it
    ///
    /// Servers that run refuse it within 100 ms. Tokens that it was made from stay valid.
    #[command(after_help = "Examples:\n  \
        pml token revoke \"$TOKEN\"\n  \
        pml token revoke 3f9a0c1b2d4e5f60718293a4b5c6d7e8    by the id that `inspect` prints")]
    Revoke {
        /// The token, @FILE, - for standard input, or the id of one of its blocks
        #[arg(value_name = "TOKEN | ID")]
        token: String,
        /// Print the result as JSON on standard output
        #[arg(long)]
        json: bool,
    },
}

/// What a token may do at most.
#[derive(Args)]
struct LimitArgs {
    /// A tool that may be called, as a pattern such as fs:read_* or *; can be repeated
    ///
    /// `fs:resources` and `fs:prompts` stand for the resources and prompts of a server.
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<ToolGlob>,

    /// How long the token is valid, such as 30m or 7d, or never [default for a new token: 1h]
    #[arg(long, value_name = "TIME")]
    expires: Option<Expiry>,

    /// How much may be used in all, such as calls=100
    #[arg(long, value_name = "calls=N")]
    budget: Option<Budget>,
}

#[derive(Debug, Clone, Copy)]
enum Expiry {
    Never,
    After(HumanDuration),
}

impl std::str::FromStr for Expiry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "never" => Ok(Self::Never),
            text => {
                let time: HumanDuration = text
                    .parse()
                    .map_err(|error: pml_units::UnitError| error.to_string())?;
                let time = time.non_zero().map_err(|error| error.to_string())?;
                Ok(Self::After(time))
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Budget {
    calls: u32,
}

impl std::str::FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let calls = text.strip_prefix("calls=");
        let calls = calls.and_then(|calls| calls.parse().ok());
        calls
            .map(|calls| Self { calls })
            .ok_or_else(|| format!("invalid budget `{text}`: write for example `calls=100`"))
    }
}

impl LimitArgs {
    fn restriction(&self, default: Expiry) -> anyhow::Result<Restriction> {
        let expires = match self.expires.unwrap_or(default) {
            Expiry::Never => None,
            Expiry::After(time) => {
                let at = SystemTime::now().checked_add(Duration::from_millis(time.as_millis()));
                let since = at.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
                let since = since.context("the time is too long: choose a shorter --expires")?;
                Some(since.as_secs())
            }
        };
        Ok(Restriction {
            tools: self.allow.clone(),
            expires,
            calls: self.budget.map(|budget| budget.calls),
        })
    }
}

pub fn run(args: &TokenArgs, config: Option<&Path>) -> ExitCode {
    let done = match &args.command {
        TokenCommand::Key { json } => key(*json),
        TokenCommand::Mint {
            tenant,
            principal,
            limits,
            json,
        } => mint(config, (tenant, principal), limits, *json),
        TokenCommand::Attenuate {
            token,
            limits,
            json,
        } => attenuate(token, limits, *json),
        TokenCommand::Inspect { token, json } => inspect::run(config, token, *json),
        TokenCommand::Revoke { token, json } => revoke(config, token, *json),
    };
    done.unwrap_or_else(exit::usage_error)
}

/// The token that an argument names.
fn token(argument: &str) -> anyhow::Result<SignedToken> {
    Ok(capability::read(argument)?.parse()?)
}

fn print(json: bool, value: &Value, text: &str) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let printed = match json {
        true => writeln!(out, "{value}"),
        false => writeln!(out, "{}", text.trim_end()),
    };
    exit::check_pipe(printed.and_then(|()| out.flush()))?;
    Ok(ExitCode::SUCCESS)
}

/// The root key of this user, which is made on first use.
fn root_key() -> anyhow::Result<RootKey> {
    let path = CapabilityStore::root_key(&capability::folder()?);
    if !path.exists() {
        match RootKey::generate().write_new(&path) {
            // Another process was faster: its key counts.
            Err(_) if path.exists() => {}
            written => written?,
        }
    }
    Ok(RootKey::read(&path)?)
}

fn key(json: bool) -> anyhow::Result<ExitCode> {
    let public = root_key()?.public();
    let file = CapabilityStore::root_key(&capability::folder()?);
    let value = json!({ "publicKey": public.to_string(), "file": file });
    print(json, &value, &public.to_string())
}

fn mint(
    config: Option<&Path>,
    (tenant, principal): (&str, &str),
    limits: &LimitArgs,
    json: bool,
) -> anyhow::Result<ExitCode> {
    let settings = config::load_settings(config)?;
    let default = Expiry::After(HumanDuration::from_secs(60 * 60));
    let grant = Grant::new(tenant, principal, limits.restriction(default)?)?;
    let token = SignedToken::mint(&root_key()?, &grant)?;
    let id = token.id()?;
    let said = json!({
        "tenant": tenant,
        "principal": principal,
        "allow": grant.restriction().tools,
        "expires": grant.restriction().expires.map(written_time),
        "calls": grant.restriction().calls,
    });
    record(&settings, "pml.token.minted", id, &said);
    let value = with_token(said, &token, id);
    print(json, &value, token.expose())
}

fn attenuate(argument: &str, limits: &LimitArgs, json: bool) -> anyhow::Result<ExitCode> {
    let restriction = limits.restriction(Expiry::Never)?;
    if matches!(limits.expires, Some(Expiry::Never)) {
        bail!(
            "a token that was made from another one cannot outlive it: leave out --expires never"
        );
    }
    ensure!(
        !restriction.is_empty(),
        "nothing is restricted: give --allow, --expires or --budget"
    );
    let weaker = token(argument)?.attenuate(&restriction)?;
    let id = weaker.id()?;
    let said = json!({
        "allow": restriction.tools,
        "expires": restriction.expires.map(written_time),
        "calls": restriction.calls,
    });
    print(json, &with_token(said, &weaker, id), weaker.expose())
}

fn with_token(mut said: Value, token: &SignedToken, id: TokenId) -> Value {
    said["token"] = json!(token.expose());
    said["id"] = json!(id.to_string());
    said
}

fn revoke(config: Option<&Path>, argument: &str, json: bool) -> anyhow::Result<ExitCode> {
    let settings = config::load_settings(config)?;
    let id = match argument.parse::<TokenId>() {
        Ok(id) => id,
        Err(_) => token(argument)?.id()?,
    };
    let store = capability::store(&settings.servers)?;
    let is_new = store.revocations().revoke(id)?;
    if is_new {
        record(&settings, "pml.token.revoked", id, &json!({}));
    }
    let value = json!({ "id": id.to_string(), "revoked": true, "wasRevoked": !is_new });
    let text = match is_new {
        true => format!("revoked {id}"),
        false => format!("{id} was revoked before"),
    };
    print(json, &value, &text)
}

/// Records what was done, never the token itself.
fn record(settings: &Settings, kind: &str, id: TokenId, data: &Value) {
    CommandAudit::of(settings).record(kind, &id.to_string(), data);
}
