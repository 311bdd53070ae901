//! Services with an OpenAPI document: what is sent, with which credentials, and what a hostile document
//! cannot do. The service answers with the request that it got.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use pml_gateway::{CallErrorKind, CallValue, Config, Gateway, RunLimits};
use pml_protocol::EffectClass;
use serde_json::{Value, json};

/// What the service knows.
#[derive(Default)]
struct Known {
    /// Documents by path.
    documents: Mutex<HashMap<String, String>>,
    tokens: AtomicUsize,
    requests: AtomicUsize,
}

struct Service {
    url: String,
    known: Arc<Known>,
}

impl Service {
    async fn start() -> Self {
        let known = Arc::new(Known::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new().fallback(answer).with_state(known.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, known }
    }

    fn serve(&self, path: &str, document: &Value) {
        let mut documents = self.known.documents.lock().unwrap();
        documents.insert(path.to_owned(), document.to_string());
    }

    /// A gateway over one service, called `api`.
    fn gateway(&self, entry: Value) -> Gateway {
        gateway(entry)
    }
}

fn gateway(entry: Value) -> Gateway {
    let file = json!({ "mcpServers": { "api": entry } }).to_string();
    Gateway::open(Config::parse("m.json".as_ref(), &file, &|_| None).unwrap()).unwrap()
}

async fn answer(
    State(known): State<Arc<Known>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path();
    if let Some(document) = known.documents.lock().unwrap().get(path) {
        return document.clone().into_response();
    }
    let header = |name: &str| headers.get(name).map(|it| it.to_str().unwrap().to_owned());
    match path {
        "/token" => {
            let n = known.tokens.fetch_add(1, Ordering::Relaxed);
            assert_eq!(
                header("authorization").unwrap(),
                "Basic Y2xpZW50OnMzY3JldC1vZi1jbGllbnQ="
            );
            assert!(
                std::str::from_utf8(&body)
                    .unwrap()
                    .contains("grant_type=client_credentials")
            );
            let answer =
                json!({ "access_token": format!("token-number-{n}-a8f3"), "expires_in": 3600 });
            return axum::Json(answer).into_response();
        }
        "/expired" if header("authorization").is_some_and(|it| it.contains("number-0")) => {
            return StatusCode::UNAUTHORIZED.into_response();
        }
        "/huge" => {
            let piece = Bytes::from(vec![b' '; 1 << 20]);
            let pieces =
                futures::stream::iter((0..100).map(move |_| Ok::<_, String>(piece.clone())));
            return Body::from_stream(pieces).into_response();
        }
        "/moved" => {
            let to = [("location", "http://169.254.169.254/latest/meta-data")];
            return (StatusCode::FOUND, to).into_response();
        }
        "/busy" if known.requests.fetch_add(1, Ordering::Relaxed) == 0 => {
            return (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "0")]).into_response();
        }
        "/missing" => {
            let problem = axum::Json(json!({ "detail": "no such pet" }));
            return (StatusCode::NOT_FOUND, problem).into_response();
        }
        "/lines" => {
            let media = [("content-type", "application/x-ndjson")];
            return (media, "{\"n\":1}\n{\"n\":2}\n").into_response();
        }
        _ => {}
    }
    axum::Json(json!({
        "method": method.as_str(),
        "uri": uri.to_string(),
        "authorization": header("authorization"),
        "key": header("x-key"),
        "cookie": header("cookie"),
        "contentType": header("content-type"),
        "idempotencyKey": header("idempotency-key"),
        "body": String::from_utf8_lossy(&body),
    }))
    .into_response()
}

fn document(paths: Value) -> Value {
    json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "paths": paths })
}

fn operation(id: &str) -> Value {
    json!({ "operationId": id, "responses": { "200": { "description": "ok" } } })
}

async fn call(
    gateway: &Gateway,
    id: &str,
    arguments: Value,
) -> Result<Value, pml_gateway::CallError> {
    let scope = gateway.run(RunLimits::default());
    let answer = gateway.call(&scope, id, arguments).await;
    answer.map(|CallValue { value, .. }| value)
}

async fn problem(gateway: &Gateway) -> String {
    let listing = gateway.list(None, Duration::from_secs(30)).await;
    assert!(listing.tools.is_empty());
    listing.problems[0].1.to_string()
}

#[tokio::test]
async fn parameters_and_bodies_arrive_where_they_belong() {
    let service = Service::start().await;
    service.serve("/d.json", &document(json!({
        "/pets/{id}": { "post": {
            "operationId": "feed",
            "parameters": [
                { "name": "id", "in": "path", "required": true, "schema": { "type": "string" } },
                { "name": "tag", "in": "query", "schema": { "type": "array", "items": { "type": "string" } } },
                { "name": "filter", "in": "query", "style": "deepObject", "schema": { "type": "object" } },
                { "name": "session", "in": "cookie", "schema": { "type": "string" } },
                { "name": "X-Key", "in": "header", "schema": { "type": "string" } }
            ],
            "requestBody": { "required": true, "content": { "application/json": { "schema": {
                "type": "object", "properties": { "food": { "type": "string" } }, "required": ["food"]
            } } } },
            "responses": { "200": { "description": "ok" } }
        } },
        "/form": { "post": {
            "operationId": "form",
            "requestBody": { "content": { "application/x-www-form-urlencoded": { "schema": { "type": "object" } } } },
            "responses": { "200": { "description": "ok" } }
        } },
        "/upload": { "post": {
            "operationId": "upload",
            "requestBody": { "content": { "multipart/form-data": { "schema": {
                "type": "object", "properties": { "file": { "type": "string", "format": "binary" } }
            } } } },
            "responses": { "200": { "description": "ok" } }
        } },
        "/lines": { "get": operation("lines") }
    })));
    let gateway = service.gateway(json!({ "openapi": format!("{}/d.json", service.url) }));
    let sent = call(
        &gateway,
        "api:feed",
        json!({
            "id": "a/b", "tag": ["x", "y z"], "filter": { "age": 3 }, "session": "s1", "X-Key": "k",
            "body": { "food": "fish" }
        }),
    )
    .await
    .unwrap();
    assert_eq!(sent["uri"], "/pets/a%2Fb?tag=x&tag=y%20z&filter%5Bage%5D=3");
    assert_eq!(sent["cookie"], "session=s1");
    assert_eq!(sent["key"], "k");
    assert_eq!(sent["contentType"], "application/json");
    assert_eq!(sent["body"], r#"{"food":"fish"}"#);

    let sent = call(&gateway, "api:form", json!({ "body": { "a": "1 2" } }))
        .await
        .unwrap();
    assert_eq!(sent["body"], "a=1+2");
    let file = json!({ "body": { "file": { "data": "aGk=", "filename": "a.txt" } } });
    let sent = call(&gateway, "api:upload", file).await.unwrap();
    assert!(
        sent["body"]
            .as_str()
            .unwrap()
            .contains("filename=\"a.txt\""),
        "{sent}"
    );
    let lines = call(&gateway, "api:lines", json!({})).await.unwrap();
    assert_eq!(lines, json!([{ "n": 1 }, { "n": 2 }]));

    for (arguments, reason) in [
        (json!({ "id": "a", "body": {} }), "do not fit its schema"),
        (
            json!({ "id": "a", "body": { "food": "f" }, "unknown": 1 }),
            "do not fit its schema",
        ),
        (
            json!({ "id": "", "body": { "food": "f" } }),
            "must not be empty",
        ),
        (
            json!({ "id": "..", "body": { "food": "f" } }),
            "would lead out of the path",
        ),
        (
            json!({ "id": "a", "X-Key": "a\r\nb: c", "body": { "food": "f" } }),
            "line breaks",
        ),
    ] {
        let error = call(&gateway, "api:feed", arguments).await.unwrap_err();
        assert_eq!(error.kind, CallErrorKind::Arguments);
        assert!(error.message.contains(reason), "{error}");
    }
    gateway.shutdown().await;
}

#[tokio::test]
async fn effects_come_from_methods_and_a_declared_key_makes_a_call_repeatable() {
    let service = Service::start().await;
    let with_key = json!({
        "operationId": "order",
        "parameters": [{ "name": "Idempotency-Key", "in": "header", "required": true, "schema": { "type": "string" } }],
        "responses": { "200": { "description": "ok" } }
    });
    service.serve("/d.json", &document(json!({
        "/pets": { "get": operation("list"), "post": operation("add"), "put": operation("set"), "delete": operation("clear") },
        "/orders": { "post": with_key },
        "/busy": { "get": operation("busy") },
        "/missing": { "get": operation("missing") }
    })));
    let gateway = service.gateway(json!({ "openapi": format!("{}/d.json", service.url) }));
    let listing = gateway.list(None, Duration::from_secs(10)).await;
    let class = |name: &str| {
        let tool = listing
            .tools
            .iter()
            .find(|tool| tool.id.tool() == name)
            .unwrap();
        gateway.effect(tool).class
    };
    assert_eq!(class("list"), EffectClass::Read);
    assert_eq!(class("set"), EffectClass::Idempotent);
    assert_eq!(class("clear"), EffectClass::Idempotent);
    assert_eq!(class("order"), EffectClass::Keyed);
    assert_eq!(class("add"), EffectClass::Guarded);
    assert!(gateway.is_keyed("api:order") && !gateway.is_keyed("api:add"));

    let scope = gateway.run(RunLimits::default());
    let arguments =
        pml_gateway::CallArguments::from(json!({})).with_idempotency_key("key-1".to_owned());
    let sent = gateway
        .call(&scope, "api:order", arguments)
        .await
        .unwrap()
        .value;
    assert_eq!(sent["idempotencyKey"], "key-1");

    let sent = call(&gateway, "api:busy", json!({})).await.unwrap();
    assert_eq!(sent["method"], "GET", "sent again after a 503");
    let error = call(&gateway, "api:missing", json!({})).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Tool);
    assert!(
        error.message.contains("HTTP 404") && error.message.contains("no such pet"),
        "{error}"
    );
    gateway.shutdown().await;
}

#[tokio::test]
async fn credentials_go_where_their_schemes_say_and_nowhere_else() {
    let service = Service::start().await;
    let other = Service::start().await;
    let with = |id: &str, schemes: Value| json!({ "operationId": id, "security": [schemes], "responses": { "200": { "description": "ok" } } });
    let mut root = document(json!({
        "/a": { "get": with("header", json!({ "key": [] })) },
        "/b": { "get": with("query", json!({ "query": [] })) },
        "/c": { "get": with("basic", json!({ "basic": [] })) },
        "/d": { "get": with("bearer", json!({ "bearer": [] })) },
        "/expired": { "get": with("client", json!({ "client": [] })) },
        "/e": { "get": { "operationId": "elsewhere", "servers": [{ "url": other.url }], "security": [{ "key": [] }], "responses": {} } },
        "/f": { "get": with("both", json!({ "key": [], "cookie": [] })) }
    }));
    root["servers"] = json!([{ "url": service.url }]);
    root["components"] = json!({ "securitySchemes": {
        "key": { "type": "apiKey", "in": "header", "name": "X-Key" },
        "query": { "type": "apiKey", "in": "query", "name": "k" },
        "cookie": { "type": "apiKey", "in": "cookie", "name": "sid" },
        "basic": { "type": "http", "scheme": "basic" },
        "bearer": { "type": "http", "scheme": "bearer" },
        "client": { "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": "/token", "scopes": {} } } }
    } });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d.json");
    std::fs::write(&file, root.to_string()).unwrap();
    let gateway = service.gateway(json!({
        "openapi": file,
        "auth": {
            "key": "k3y-of-header", "query": "k3y-of-query", "cookie": "k3y-of-cookie",
            "basic": { "username": "me", "password": "pa55-word" }, "bearer": "t0ken-of-bearer",
            "client": { "clientId": "client", "clientSecret": "s3cret-of-client" }
        },
        "origins": [service.url]
    }));
    let sent = async |id: &str| {
        call(&gateway, &format!("api:{id}"), json!({}))
            .await
            .unwrap()
    };
    // What a service repeats of a credential reaches no script.
    assert_eq!(sent("header").await["key"], "${auth.key.token}");
    assert_eq!(sent("query").await["uri"], "/b?k=${auth.query.token}");
    assert_eq!(
        sent("basic").await["authorization"],
        "Basic ${auth.basic.password}"
    );
    assert_eq!(
        sent("bearer").await["authorization"],
        "Bearer ${auth.bearer.token}"
    );
    let both = sent("both").await;
    assert_eq!(
        (&both["key"], &both["cookie"]),
        (
            &json!("${auth.key.token}"),
            &json!("sid=${auth.cookie.token}")
        )
    );
    // The first token is refused, another one is fetched.
    assert_eq!(
        sent("client").await["authorization"],
        "Bearer ${oauth.token}"
    );
    assert_eq!(service.known.tokens.load(Ordering::Relaxed), 2);
    gateway.shutdown().await;

    // Another origin that the document names gets requests, but no credentials. Both are on this
    // machine here, so the entry has to name it; `origins` gives it the credentials then.
    let gateway = gateway_of(&file, &[]);
    let doctor = gateway.doctor(Duration::from_secs(10)).await.remove(0);
    assert!(doctor.remarks[0].contains("GET /e"), "{:?}", doctor.remarks);
    assert!(
        doctor.remarks[0].contains("private address"),
        "{:?}",
        doctor.remarks
    );
    gateway.shutdown().await;
    let gateway = gateway_of(&file, &[&other.url]);
    assert_eq!(
        call(&gateway, "api:elsewhere", json!({})).await.unwrap()["key"],
        "${auth.key.token}"
    );
    gateway.shutdown().await;
}

fn gateway_of(file: &std::path::Path, origins: &[&str]) -> Gateway {
    gateway(json!({ "openapi": file, "auth": { "key": "k3y-of-header" }, "origins": origins }))
}

#[tokio::test]
async fn a_mistake_in_the_entry_is_one_sentence_with_the_remedy() {
    let service = Service::start().await;
    let mut root = document(json!({ "/a": { "get": operation("a") } }));
    root["components"] = json!({ "securitySchemes": { "apiKey": { "type": "apiKey", "in": "header", "name": "X-Key" } } });
    service.serve("/d.json", &root);
    service.serve("/none.json", &json!({ "hello": 1 }));
    let url = |path: &str| format!("{}{path}", service.url);
    for (entry, reason) in [
        (
            json!({ "openapi": url("/d.json"), "auth": { "apiKy": "x-y-z-1" } }),
            "did you mean `apiKey`?",
        ),
        (
            json!({ "openapi": url("/d.json"), "auth": { "apiKey": { "login": true } } }),
            "needs the key as a text",
        ),
        (
            json!({ "openapi": url("/none.json") }),
            "it is not an OpenAPI document",
        ),
        (json!({ "openapi": "/no/such/file.yaml" }), "cannot be read"),
        (
            json!({ "openapi": url("/moved") }),
            "it redirects to http://169.254.169.254, which is not followed",
        ),
        (json!({ "openapi": url("/missing") }), "HTTP 404"),
    ] {
        let gateway = gateway(entry);
        let text = problem(&gateway).await;
        assert!(text.contains(reason), "{text}");
        assert!(!text.contains('\n'));
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_document_from_the_network_cannot_make_requests_inside() {
    let service = Service::start().await;
    for (server, has_key, reason) in [
        (
            "http://10.0.0.1/",
            false,
            "write `\"baseUrl\": \"http://10.0.0.1/\"`",
        ),
        (
            "https://api.example/v1",
            true,
            "write `\"baseUrl\": \"https://api.example/v1\"`",
        ),
    ] {
        let mut root = document(json!({ "/a": { "get": operation("a") } }));
        root["servers"] = json!([{ "url": server }]);
        service.serve("/d.json", &root);
        let headers = if has_key {
            json!({ "X-Key": "k3y-of-header" })
        } else {
            json!({})
        };
        let gateway =
            gateway(json!({ "openapi": format!("{}/d.json", service.url), "headers": headers }));
        let text = problem(&gateway).await;
        assert!(text.contains(reason), "{text}");
        gateway.shutdown().await;
    }
}

#[tokio::test]
async fn references_stay_in_the_folder_and_the_origin_of_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("api");
    std::fs::create_dir_all(inside.join("models")).unwrap();
    std::fs::write(folder.path().join("secret.json"), r#"{"type":"string"}"#).unwrap();
    std::fs::write(
        inside.join("models/pet.yaml"),
        "Pet:\n  type: object\n  properties:\n    friend: { $ref: '#/Pet' }\n",
    )
    .unwrap();
    std::os::unix::fs::symlink(folder.path().join("secret.json"), inside.join("link.json"))
        .unwrap();
    let body = |reference: &str| {
        json!({
            "requestBody": { "content": { "application/json": { "schema": { "$ref": reference } } } },
            "responses": { "200": { "description": "ok" } }
        })
    };
    let service = Service::start().await;
    service.serve("/pet.json", &json!({ "type": "object" }));
    let root = document(json!({
        "/good": { "post": body("models/pet.yaml#/Pet") },
        "/up": { "post": body("../secret.json") },
        "/absolute": { "post": body("file:///etc/passwd") },
        "/link": { "post": body("link.json") },
        "/device": { "post": body("file:///dev/zero") },
        "/network": { "post": body(&format!("{}/pet.json", service.url)) },
        "/loop": { "post": body("#/components/schemas/Loop") }
    }));
    let mut root = root;
    root["components"] = json!({ "schemas": { "Loop": { "$ref": "#/components/schemas/Loop" } } });
    root["servers"] = json!([{ "url": service.url }]);
    std::fs::write(inside.join("root.json"), root.to_string()).unwrap();

    let gateway = gateway(json!({ "openapi": inside.join("root.json") }));
    let listing = gateway.list(None, Duration::from_secs(10)).await;
    let mut names: Vec<&str> = listing.tools.iter().map(|tool| tool.id.tool()).collect();
    names.sort_unstable();
    assert_eq!(names, ["post_good", "post_loop"]);
    let pet = &listing
        .tools
        .iter()
        .find(|it| it.id.tool() == "post_good")
        .unwrap()
        .input_schema;
    assert_eq!(
        pet["$defs"]["Pet"]["properties"]["friend"],
        json!({ "$ref": "#/$defs/Pet" })
    );
    let remarks = gateway
        .doctor(Duration::from_secs(10))
        .await
        .remove(0)
        .remarks
        .join("\n");
    for (path, reason) in [
        ("/up", "outside of the folder"),
        ("/absolute", "outside of the folder"),
        ("/link", "outside of the folder"),
        ("/device", "outside of the folder"),
        ("/network", "add \"http://127.0.0.1"),
    ] {
        let line = remarks
            .lines()
            .find(|line| line.contains(&format!("POST {path} ")))
            .unwrap();
        assert!(line.contains(reason), "{line}");
    }
    gateway.shutdown().await;

    let with_origin = json!({ "openapi": inside.join("root.json"), "origins": [service.url] });
    let gateway = self::gateway(with_origin);
    let listing = gateway.list(None, Duration::from_secs(10)).await;
    assert!(
        listing
            .tools
            .iter()
            .any(|tool| tool.id.tool() == "post_network")
    );
    gateway.shutdown().await;
}

#[tokio::test]
async fn hostile_documents_are_refused_or_cut_in_bounded_time() {
    let service = Service::start().await;
    let began = Instant::now();
    let gateway = gateway(json!({ "openapi": format!("{}/huge", service.url) }));
    let text = problem(&gateway).await;
    assert!(text.contains("more than 64 MiB"), "{text}");
    gateway.shutdown().await;

    // 60 levels of two references each have 2^60 paths.
    let mut schemas = json!({});
    for level in 0..60 {
        let next = json!({ "$ref": format!("#/components/schemas/L{}", level + 1) });
        schemas[format!("L{level}")] =
            json!({ "type": "object", "properties": { "a": next, "b": next } });
    }
    schemas["L60"] = json!({ "type": "string" });
    let with_body = |schema: Value| json!({ "requestBody": { "content": { "application/json": { "schema": schema } } }, "responses": {} });
    // A schema that refers to thousands of others.
    let mut wide = json!({});
    for n in 0..3_000 {
        schemas[format!("W{n}")] = json!({ "type": "object", "description": "x".repeat(300) });
        wide[format!("p{n}")] = json!({ "$ref": format!("#/components/schemas/W{n}") });
    }
    let mut deep = json!({ "type": "string" });
    for _ in 0..50 {
        deep = json!({ "not": deep });
    }
    let mut root = document(json!({
        "/bomb": { "post": with_body(json!({ "$ref": "#/components/schemas/L0" })) },
        "/wide": { "post": with_body(json!({ "type": "object", "properties": wide })) },
        "/deep": { "post": with_body(deep) },
        "/good": { "get": operation("good") }
    }));
    root["components"] = json!({ "schemas": schemas });
    service.serve("/d.json", &root);
    let gateway = self::gateway(json!({ "openapi": format!("{}/d.json", service.url) }));
    let listing = gateway.list(None, Duration::from_secs(60)).await;
    let names: Vec<&str> = listing.tools.iter().map(|tool| tool.id.tool()).collect();
    assert!(
        names.contains(&"good") && names.contains(&"post_bomb"),
        "{names:?} {:?}",
        listing.problems
    );
    for tool in &listing.tools {
        assert!(tool.input_schema.to_string().len() < 100_000, "{}", tool.id);
    }
    call(&gateway, "api:good", json!({})).await.unwrap();
    gateway.shutdown().await;
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn three_thousand_operations_are_listed_and_chosen_by_patterns() {
    let service = Service::start().await;
    let mut paths = json!({});
    for n in 0..1_000 {
        paths[format!("/group{}/item{n}", n % 10)] = json!({
            "get": { "operationId": format!("get_item_{n}"), "tags": [format!("g{}", n % 10)], "responses": {} },
            "post": { "operationId": format!("add_item_{n}"), "responses": {} },
            "delete": { "operationId": format!("remove_item_{n}"), "responses": {} }
        });
    }
    service.serve("/d.json", &document(paths));
    let count = async |operations: Value| {
        let gateway = gateway(json!({
            "openapi": format!("{}/d.json", service.url), "operations": operations
        }));
        let listing = gateway.list(None, Duration::from_secs(60)).await;
        gateway.shutdown().await;
        listing.tools.len()
    };
    assert_eq!(count(json!({})).await, 3_000);
    assert_eq!(count(json!({ "allow": ["get_item_*"] })).await, 1_000);
    assert_eq!(count(json!({ "allow": ["GET /group3/*"] })).await, 100);
    assert_eq!(count(json!({ "allow": ["#g4"] })).await, 100);
    assert_eq!(
        count(json!({ "deny": ["DELETE *", "POST *"] })).await,
        1_000
    );
}
