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
    ("Amazon client", "amzn1.oa2-cs.v1.{64h}"),
    ("Zoho", "1000.{32h}.{32h}"),
    ("Inngest", "signkey-prod-{64h}"),
    ("Trigger.dev", "tr_prod_{24w}"),
    ("Xata", "xau_{43w}"),
    ("CockroachDB", "CCDB1_{22w}_{40w}"),
    ("MongoDB Atlas", "mdb_sa_sk_{40w}"),
    ("Honeybadger", "hbp_{36w}"),
    ("Cartesia", "sk_car_{24w}"),
    ("RunPod", "rpa_{42w}"),
    ("Daytona", "dtn_{64h}"),
    ("Vercel gateway", "vck_{56w}"),
    ("Builder", "bpk-{32h}"),
    ("Bannerbear", "bb_pr_{30h}"),
    ("Spectral", "spu-{32h}"),
    ("Telnyx", "KEY{32x}_{22w}"),
    ("Yandex", "y0_Ag{55w}"),
    ("Teamwork", "tkn.v1_{70w}"),
    (
        "Teams",
        "https://x.webhook.office.com/webhookb2/{8h}-{4h}-{4h}-{4h}-{12h}@{8h}-{4h}-{4h}-{4h}-{12h}/IncomingWebhook/{32h}/{8h}-{4h}-{4h}-{4h}-{12h}",
    ),
];

fn provider(r: &mut Random) -> (String, &'static str) {
    let (name, shape) = r.pick(SHAPES);
    (r.shape(shape), name)
}

/// Public values that look random: digests, ids, versions, paths, code, files in base64, public keys and
/// samples of documentation.
fn harmless(r: &mut Random) -> String {
    match r.below(15) {
        0 => r.many('h', 40),
        1 => r.many('h', 64),
        2 => r.shape("{8h}-{4h}-4{3h}-a{3h}-{12h}"),
        3 => format!("sha512-{}", r.many('w', 86)),
        4 => format!("/usr/lib/node_modules/pkg{}/index.js", r.below(99)),
        5 => format!("getElementsByClassName{}", r.below(99)),
        6 => format!("20{}.{}.{}", r.below(30), r.below(12), r.below(99)),
        7 => format!("ghp_{}", "x".repeat(36)),
        8 => {
            let lines: Vec<String> = (0..5).map(|_| r.many('w', 76)).collect();
            format!("\n{}\n", lines.join("\n"))
        }
        9 => format!("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE{}", r.many('w', 80)),
        10 => format!("pk_live_{}", r.many('w', 24)),
        11 => r.shape("glpat-12345678{12w}"),
        12 => r.shape("sk_live_abcdef{18w}"),
        13 => "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9".to_owned(),
        _ => r.shape("dop_v1_{28h}xxxxxxxx{28h}"),
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
    match r.below(24) {
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
        13 => (
            format!("<apiToken>\n  {key}\n</apiToken>"),
            "XML, two lines",
        ),
        14 => (
            format!("<secret type=\"text\">{secret}X9</secret>"),
            "XML with an attribute",
        ),
        15 => (format!("<secret>{{AQAAABAAA {key}}}</secret>"), "Jenkins"),
        16 => (format!("| API key | {key} | open |"), "table"),
        17 => (format!("the access token - '{key}'"), "dash"),
        18 => (format!("https://x.example/v1?key={key}"), "query"),
        19 => (
            format!("p = os.environ.get(\"DB_PASSWORD\") or \"{secret}\""),
            "default",
        ),
        20 => (format!("API_TOKEN :::= \"{key}\""), "make"),
        21 => (format!("calls the API with key = {key}"), "bare key"),
        22 => (r.shape("license_key: {5u}-{5u}-{5u}-{5u}"), "licence"),
        _ => (format!("CREATE USER jo IDENTIFIED BY '{secret}'"), "SQL"),
    }
}

/// The same places with something that is no secret.
fn placeholder(r: &mut Random) -> String {
    if r.below(3) == 0 {
        return key_placeholder(r);
    }
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
        "<apiToken>{}</apiToken>",
        "| API key | {} |",
    ]);
    place.replace("{}", value)
}

/// Names and samples in the place of a key, where a password could be such a word.
fn key_placeholder(r: &mut Random) -> String {
    let value = r.pick(&[
        "access_token_123",
        "OAUTH2_TOKEN",
        "12345678abcdef12345678abcdef",
        "ops_eyJzaWduSW5BZGRyZXNz...",
        "test020_sealed.bc",
        "00000000111111112222222233333333",
    ]);
    let place = r.pick(&[
        "\"api_key\": \"{}\"",
        "client_secret = {}",
        "Authorization: Bearer {}",
        "<apiToken>{}</apiToken>",
        "| API key | {} |",
        "API_TOKEN={}",
    ]);
    match r.below(8) {
        0 => "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".to_owned(),
        1 => "kind => Token::Decimal128,".to_owned(),
        _ => place.replace("{}", value),
    }
}
