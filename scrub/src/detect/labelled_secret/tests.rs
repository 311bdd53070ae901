//! Cases of labelled secrets, and text that only looks alike.

use crate::{ScrubConfig, Scrubber, cases};

#[test]
fn labelled_passwords_are_found_and_code_about_them_is_not() {
    cases::check(
        "PASSWORD",
        &[
            ("password: Tr0ub4dor&3", "Tr0ub4dor&3"),
            ("DB_PASSWORD=hunter2hunter2", "hunter2hunter2"),
            (r#""password": "c0rrect-h0rse""#, "c0rrect-h0rse"),
            ("the password is hunter42!", "hunter42"),
            ("pwd='p4ssw0rd!'", "p4ssw0rd!"),
            ("contraseña: cl4veSecr3ta", "cl4veSecr3ta"),
            ("password: Pa$$w0rd", "Pa$$w0rd"),
            ("DB_PASSWORD=Xy$9kLm2", "Xy$9kLm2"),
            ("password: Password1", "Password1"),
            ("pwd=Passw0rd", "Passw0rd"),
            ("DB_PASS=s3cr3tpw1", "s3cr3tpw1"),
            ("SMTP_PASS=s3cr3tpw1", "s3cr3tpw1"),
            (r#"{"user":"x","pass":"hunter2"}"#, "hunter2"),
            ("mysql --password hunter22 db", "hunter22"),
            ("**Password:** hunter22", "hunter22"),
            ("username:jo pass:hunter2x1", "hunter2x1"),
            ("val password: String = \"exord13Paw64\",", "exord13Paw64"),
            ("define( 'PASSWORD' , '2Arh5dA1Sn0y' );", "2Arh5dA1Sn0y"),
            ("password: Xk9mQ2vLp77 or \"ask Bob\"", "Xk9mQ2vLp77"),
            ("password = Xk9mQ2vLp77 || \"none\"", "Xk9mQ2vLp77"),
            ("setPassword(\"hunter2Zq9\", \"x\")", "hunter2Zq9"),
            ("password: Xk9mQ2vLp77...", "Xk9mQ2vLp77"),
            ("password: 0xAb19D82E", "0xAb19D82E"),
            ("password = cfg.password || \"hunter22x\"", "hunter22x"),
        ],
        &[
            "DB_PASSWORD=$DB_PASS2",
            "password=$(pass show db1)",
            "password: prefix-${PASSWORD2}",
            "password = userInput2",
            "bypass: s3cr3tpw1",
            "user@pass:example2.com:1234",
            "pass_rate=s3cr3tpw1",
            "in the second pass: s3cr3tpw1",
            "mysql --password <password1>",
            "the option password hunter22",
            "Password*: required",
            "password: string",
            "password = getPassword()",
            "password: ${PASSWORD}",
            "const password = req.body.password;",
            "password is required",
            "Password: ********",
            "passwordField: 'input-2'",
            "type Password = Branded<string>",
        ],
    );
}

#[test]
fn the_name_in_a_pair_is_the_label_of_its_value() {
    cases::check(
        "PASSWORD",
        &[
            (
                "- name: DB_PASSWORD\n          value: hunter22x\n",
                "hunter22x",
            ),
            (r#"<input type="password" value="hunter22x">"#, "hunter22x"),
            (r#"{"name":"DB_PASSWORD","value":"hunter22x"}"#, "hunter22x"),
        ],
        &[
            "- name: DB_PASSWORD\n  valueFrom: secret2key",
            "the password values are hunter22x",
            "{label: 'Password', value: 'password'}",
            "name: DB_PASSWORD\nname: OTHER\nvalue: hunter22x",
        ],
    );
    cases::check(
        "CREDENTIAL",
        &[(
            r#"<add key="ApiKey" value="8f2b7c1d9e0a4b6c8d7e" />"#,
            "8f2b7c1d9e0a4b6c8d7e",
        )],
        &[r#"<add key="ApiKey" value="see-the-vault-2" />"#],
    );
}

#[test]
fn labelled_keys_are_found_and_names_are_not() {
    cases::check(
        "CREDENTIAL",
        &[
            ("api_key = 8f2b7c1d9e0a4b6c8d7e", "8f2b7c1d9e0a4b6c8d7e"),
            (
                "login.setApiKey(\"8f2b7c1d9e0a4b6c8d7e\", true)",
                "8f2b7c1d9e0a4b6c8d7e",
            ),
            (
                "token: ghx8f2b7c1d9e0a4b6c8d7e... and more",
                "ghx8f2b7c1d9e0a4b6c8d7e",
            ),
            ("Token::Xk9mQ2vLp77aa31", "Xk9mQ2vLp77aa31"),
            ("token: summer_holiday_2024", "summer_holiday_2024"),
            (
                "Authorization: Bearer rabbit_carrot_2291",
                "rabbit_carrot_2291",
            ),
            (
                "Authorization: Bearer a1B2c3D4e5F6g7H8i9J0",
                "a1B2c3D4e5F6g7H8i9J0",
            ),
            (
                r#"{"client_secret":"Zx9-qW3_eR7.tY1uI5oP"}"#,
                "Zx9-qW3_eR7.tY1uI5oP",
            ),
            (
                "AWS Secret Key: 8f2b7c1d9e0a4b6c8d7e",
                "8f2b7c1d9e0a4b6c8d7e",
            ),
            ("Access Key: 8f2b7c1d9e0a4b6c8d7e", "8f2b7c1d9e0a4b6c8d7e"),
            ("cli --token 8f2b7c1d9e0a4b6c8d7e", "8f2b7c1d9e0a4b6c8d7e"),
            ("**API Key**: 8f2b7c1d9e0a4b6c8d7e", "8f2b7c1d9e0a4b6c8d7e"),
            ("my API key is 8f2b7c1d9e0a4b6c8d7e", "8f2b7c1d9e0a4b6c8d7e"),
            (
                "Authorization: Token 9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b",
                "9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b",
            ),
            ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
            ("Cookie: PHPSESSID=298zf09hf012fh2", "298zf09hf012fh2"),
            (
                "Cookie: theme=light; session=f3a9c1d2e4b5a6978877",
                "f3a9c1d2e4b5a6978877",
            ),
            (
                "Set-Cookie: id=a3fWa1b2c3; Domain=s3.example.com; Path=/v1/users22",
                "a3fWa1b2c3",
            ),
        ],
        &[
            "token: 'eof'",
            "tokenizer: a1B2c3D4e5F6g7H8i9J0",
            "apiKey: options.apiKey",
            "secret: process.env.SECRET_1234567890ab",
            "access_token: null",
            "the API key is stored in 2 places",
            "Authorization: Basic realm",
            "Authorization: required since 2021",
            "basic data and usage: x",
            "Cookie: theme=light; lang=en; n=12345678",
            "cookie = getCookie('name1234')",
            "token = next_token_2_from_stream",
            r#"{"nextPageToken":"CAUQAA12aBcD34eFgH"}"#,
            "NextToken: CAUQAA12aBcD34eFgH",
            "sync_token=CAUQAA12aBcD34eFgH",
            "continuation-token: CAUQAA12aBcD34eFgH",
        ],
    );
}

#[test]
fn below_a_json_key_the_whole_value_is_the_secret() {
    let scrubber = Scrubber::new(&ScrubConfig::default()).expect("a valid configuration");
    for (key, value) in [
        ("password", "correct horse battery 9"),
        ("passwd", "correct horse battery staple"),
        ("userPassword", "letmein"),
        ("api_key", "8f2b7c1d9e0a4b6c8d7e"),
        ("access_token", "CAUQAA12aBcD34eFgH"),
        ("asyncToken", "CAUQAA12aBcD34eFgH"),
        ("password", "$tr0ngP@ss"),
        ("password", "@dmin1234"),
        ("password", "%k9Lq!2x"),
        ("password", "/S3cret!x"),
        ("pass", "hunter2"),
        (
            "Authorization",
            "Token 9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b",
        ),
        ("Authorization", "Basic dXNlcjpwYXNz"),
        ("Cookie", "theme=light; session=f3a9c1d2e4b5a6978877"),
    ] {
        assert_eq!(scrubber.find(value, Some(key)).len(), 1, "{key}");
    }
    for (key, value) in [
        ("password", "string"),
        ("password", "the one you chose"),
        ("token", "next"),
        ("nextPageToken", "CAUQAA12aBcD34eFgH"),
        ("NextToken", "q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4"),
        ("sync_token", "q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4"),
        ("continuation_token", "q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4"),
        ("secret", "it is not here"),
        ("password", "$DB_PASSWORD2"),
        ("password", "${password2}"),
        ("password", "%PASSWORD1%"),
        ("password", "%(password1)s"),
        ("password", "/run/secrets/db1"),
        ("password", "@password"),
        ("pass", "all of them"),
        ("pass", "string"),
        ("Cookie", "theme=light; lang=en"),
    ] {
        assert!(scrubber.find(value, Some(key)).is_empty(), "{key}");
    }
}

#[test]
fn a_strong_password_needs_no_separator() {
    cases::check(
        "PASSWORD",
        &[
            ("login jo, password xK9#mQ2pLw", "xK9#mQ2pLw"),
            ("password -> xK9#mQ2pLw", "xK9#mQ2pLw"),
            ("the password of the database is xK9#mQ2pLw.", "xK9#mQ2pLw"),
            ("id: jo pw: hunter22x", "hunter22x"),
            ("config.put(\"password\", \"hunter22x\")", "hunter22x"),
            ("setPassword(\"letmein\")", "letmein"),
        ],
        &[
            "the password policy of Windows2019",
            "password reset for user_Name-1",
            "[\"password\", \"hunter22x\"]",
            "password: list1[2]",
            "password: \"required\"",
            "the password must have 8 characters",
        ],
    );
}

#[test]
fn elements_cells_and_defaults_have_the_value_of_their_label() {
    let key = "8f2b7c1d9e0a4b6c8d7e";
    cases::check(
        "CREDENTIAL",
        &[
            (&format!("<apiToken>\n    {key}\n</apiToken>"), key),
            (&format!("<secret kind=\"x\">{key}</secret>"), key),
            (
                "<secret>{AQAAABAAAAAwq8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4=}</secret>",
                "{AQAAABAAAAAwq8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4=}",
            ),
            (&format!("| API key | {key} |"), key),
            (&format!("API token - '{key}'"), key),
            (&format!("API_TOKEN :::= \"{key}\""), key),
            (&format!("$apiToken .= \"{key}\""), key),
            (&format!("https://x.example/v1?key={key}&page=2"), key),
            (&format!("calls the API with key = {key}"), key),
            (
                "license_key: ZAQWS-XCDER-VBGTR-FRTGU",
                "ZAQWS-XCDER-VBGTR-FRTGU",
            ),
            ("secret: \"u@D7GXt)t>8d(LtH^(lvZ\"", "u@D7GXt)t>8d(LtH^(lvZ"),
            (
                "the token q8Zt1LmX0vRb7KpYc3Wd of jo",
                "q8Zt1LmX0vRb7KpYc3Wd",
            ),
        ],
        &[
            "<apiToken>${API_TOKEN_2}</apiToken>",
            "<secret>{{ vault.secret2value }}</secret>",
            "<token/>\n8f2b7c1d9e0a4b6c8d7e",
            "| API key | required since 2021 |",
            "the hash table has key = 8f2b7c1d9e0a4b6c8d7e",
            "Token::Decimal128Array",
            "\"Decimal256\" => Token::Decimal256,",
            "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
            "Authorization: Bearer OAUTH2_TOKEN",
            "token=access_token_123&token_type_hint=access_token",
            "private_key_id: \"key-id-123\"",
            "sealed token: test020_sealed.bc",
            "SERVICE_ACCOUNT_TOKEN=ops_eyJzaWduSW5BZGRyZXNzIjoi...",
            "SONAR_TOKEN=sqp_abcdef12345567890835",
            "api_key = 00000000111111112222222233333333",
            "the token kind_of_token_at_line_17 is new",
        ],
    );
    cases::check(
        "PASSWORD",
        &[
            ("<password name=\"a\">cackle!</password>", "cackle!"),
            ("<dbPassword>hunter22x</dbPassword>", "hunter22x"),
            (
                "p = os.environ.get(\"PASSWORD\") or \"hunter22x\"",
                "hunter22x",
            ),
            ("password: process.env.PW || 'hunter22x'", "hunter22x"),
            ("| Password | hunter22x |", "hunter22x"),
            ("password = \"MYPSWRD!@#$%^&*\"", "MYPSWRD!@#$%^&*"),
        ],
        &[
            "password = getpass(\"for %s\" % (host or \"hunter22x\"))",
            "MovedAttribute(\"HTTPPasswordMgrWithDefaultRealm\", \"urllib2\")",
            "<password>string</password>",
            "new_generic_password(\"service\", \"account9\")",
            "pub Password: super::super::Win32::UNICODE_STRING2,",
            "WPS_DEVICE_PASSWORD_ID = 65535i32;",
            "password = \"0xab19d82e7f546cc3\"",
            "| Password | Required |",
        ],
    );
}
