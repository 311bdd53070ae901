//! Keys, tokens and passwords.

use super::{Kind, Random};

pub fn kinds() -> Vec<Kind> {
    vec![
        Kind {
            // Any kind of secret counts.
            name: "SECRET",
            value: provider,
            near_miss: harmless,
            labels: &[],
        },
        Kind {
            name: "LABELLED",
            value: labelled,
            near_miss: placeholder,
            labels: &[],
        },
    ]
}

const SHAPES: &[(&str, &str)] = &[
    ("AWS", "AKIA{16u}"),
    ("GitHub", "ghp_{36w}"),
    ("GitLab", "glpat-{20w}"),
    ("Slack bot", "xoxb-{12d}-{12d}-{24w}"),
    (
        "Slack webhook",
        "https://hooks.slack.com/services/T{9u}/B{9u}/{24w}",
    ),
    ("Stripe", "sk_live_{24w}"),
    ("SendGrid", "SG.{22w}.{43w}"),
    ("Azure AD", "{3w}8Q~{34w}"),
    ("Discord", "M{23w}.{6w}.{27w}"),
    ("Telegram", "1{8d}:AA{33w}"),
    ("Vault", "s.{24w}"),
    ("Mailchimp", "{32h}-us12"),
    ("npm", "npm_{36w}"),
    ("1Password", "A3-{6u}-{6u}-{5u}-{5u}-{5u}-{5u}"),
    ("Dynatrace", "dt0c01.{24l}.{64l}"),
    ("Shopify, mixed case", "shpat_{32x}"),
    ("Harness", "pat.{22w}.{24w}.{20w}"),
    ("Square", "EAAA{60w}"),
    ("Twilio", "SK{32h}"),
    ("Sourcegraph", "sgp_{40x}"),
    ("42", "s-s4t2ud-{64h}"),
    ("Artifactory", "AKCp{69w}"),
    ("Flutterwave", "FLWSECK_TEST-{32h}-X"),
    ("Hugging Face", "hf_{34w}"),
    ("Bedrock", "ABSK{110w}"),
    ("Terraform", "{14w}.atlasv1.{67w}"),
    (
        "Teams",
        "https://x.webhook.office.com/webhookb2/{8h}-{4h}-{4h}-{4h}-{12h}@{8h}-{4h}-{4h}-{4h}-{12h}/IncomingWebhook/{32h}/{8h}-{4h}-{4h}-{4h}-{12h}",
    ),
];

fn provider(r: &mut Random) -> (String, &'static str) {
    let (name, shape) = r.pick(SHAPES);
    (r.shape(shape), name)
}

/// Public values that look random: digests, ids, versions, paths and code.
fn harmless(r: &mut Random) -> String {
    match r.below(8) {
        0 => r.many('h', 40),
        1 => r.many('h', 64),
        2 => r.shape("{8h}-{4h}-4{3h}-a{3h}-{12h}"),
        3 => format!("sha512-{}", r.many('w', 86)),
        4 => format!("/usr/lib/node_modules/pkg{}/index.js", r.below(99)),
        5 => format!("getElementsByClassName{}", r.below(99)),
        6 => format!("20{}.{}.{}", r.below(30), r.below(12), r.below(99)),
        _ => format!("ghp_{}", "x".repeat(36)),
    }
}

fn password(r: &mut Random) -> String {
    let word = r.pick(&["Tiger", "Winter", "Rocket", "Purple", "Bridge", "Falcon"]);
    let sign = r.pick(&["!", "#", "@", "&", "-"]);
    match r.below(3) {
        0 => format!("{word}{sign}{}", r.range(10, 9999)),
        1 => r.shape("{4w}7{3w}2{3w}"),
        _ => format!("{}{}{sign}", word.to_lowercase(), r.range(100, 999)),
    }
}

fn labelled(r: &mut Random) -> (String, &'static str) {
    let key = match r.below(3) {
        0 => r.many('h', 32),
        1 => r.many('l', 40),
        _ => r.many('w', 24),
    };
    let secret = password(r);
    match r.below(14) {
        0 => (format!("DB_PASSWORD={secret}"), "environment"),
        1 => (format!("password: \"{secret}\""), "YAML"),
        2 => (format!("\"api_key\": \"{key}\""), "JSON"),
        3 => (format!("client_secret = '{key}'"), "assignment"),
        4 => (format!("curl -u jo:{secret} https://x.example"), "curl -u"),
        5 => (
            format!("curl -H \"Authorization: Bearer {key}\" https://x.example"),
            "curl -H",
        ),
        6 => (format!("X-Api-Key: {key}"), "header"),
        7 => (
            format!("postgres://app:{secret}@db.example/app").replace('#', "1"),
            "URL",
        ),
        8 => (format!("mysql -u root -p{secret} app"), "mysql -p"),
        9 => (format!("Cookie: theme=light; sessionid={key}"), "cookie"),
        10 => (format!("setPassword(\"{secret}\")"), "call"),
        11 => (format!("config.put(\"auth_token\", \"{key}\")"), "argument"),
        12 => (format!("accessToken := \"{key}\""), "Go"),
        _ => (format!("CREATE USER jo IDENTIFIED BY '{secret}'"), "SQL"),
    }
}

/// The same places with something that is no secret.
fn placeholder(r: &mut Random) -> String {
    let value = r.pick(&[
        "xxxxxxxx",
        "changeme",
        "${DB_PASSWORD}",
        "<your-password>",
        "YOUR_API_KEY",
        "********",
        "example-token",
        "process.env.TOKEN",
        "{{ password }}",
        "null",
        "required",
        "getPassword()",
    ]);
    let place = r.pick(&[
        "DB_PASSWORD={}",
        "password: {}",
        "\"api_key\": \"{}\"",
        "client_secret = {}",
        "curl -u user:{} x",
        "Authorization: Bearer {}",
    ]);
    place.replace("{}", value)
}
