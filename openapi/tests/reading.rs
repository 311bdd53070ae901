//! Whole documents of every version: their tools, and the requests of calls.

use pml_openapi::{
    Documents, HttpRequest, Operation, OperationEffect, ReadOptions, Service, parse,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn read_with(document: Value, options: &ReadOptions) -> Service {
    let address = "https://api.example/docs/openapi.json".parse().unwrap();
    Service::read(&Documents::new(address, document), options, &|_| true).unwrap()
}

fn read(document: Value) -> Service {
    read_with(document, &ReadOptions::default())
}

fn operation<'a>(service: &'a Service, name: &str) -> &'a Operation {
    let found = service.operations.iter().find(|it| it.name == name);
    found.unwrap_or_else(|| {
        let names: Vec<&str> = service
            .operations
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        panic!("there is no {name} in {names:?}, {:?}", service.skipped)
    })
}

fn request(service: &Service, name: &str, arguments: Value) -> HttpRequest {
    let arguments = arguments.as_object().unwrap();
    operation(service, name).request(arguments).unwrap()
}

fn body(request: &HttpRequest) -> (&str, &str) {
    let (media, bytes) = request.body.as_ref().unwrap();
    (media, std::str::from_utf8(bytes).unwrap())
}

#[test]
fn swagger_2_is_read_as_it_is() {
    let document = parse(
        r##"
swagger: "2.0"
info: { title: Old, version: 1 }
host: old.example
basePath: /v2
schemes: [http, https]
consumes: [application/json]
produces: [application/json]
securityDefinitions:
  key: { type: apiKey, in: header, name: X-Key }
security: [{ key: [] }]
parameters:
  Limit: { name: limit, in: query, type: integer, maximum: 10 }
definitions:
  Pet: { type: object, required: [name], properties: { name: { type: string }, next: { $ref: "#/definitions/Pet" } } }
paths:
  /pets:
    parameters: [{ $ref: "#/parameters/Limit" }]
    get:
      operationId: list
      parameters:
        - { name: tags, in: query, type: array, items: { type: string }, collectionFormat: pipes }
        - { name: ids, in: query, type: array, items: { type: integer }, collectionFormat: multi }
        - { name: csv, in: query, type: array, items: { type: string } }
      responses: { 200: { description: ok, schema: { type: array, items: { $ref: "#/definitions/Pet" } } } }
    post:
      operationId: add
      parameters: [{ name: pet, in: body, required: true, schema: { $ref: "#/definitions/Pet" } }]
      responses: { 201: { description: ok } }
  /upload:
    post:
      operationId: upload
      consumes: [multipart/form-data]
      parameters:
        - { name: file, in: formData, type: file, required: true }
        - { name: note, in: formData, type: string }
      responses: { 204: { description: ok } }
  /form:
    post:
      operationId: form
      consumes: [application/x-www-form-urlencoded]
      parameters: [{ name: a, in: formData, type: array, items: { type: string } }]
      responses: { 204: { description: ok } }
"##,
    )
    .unwrap();
    let service = read(document);
    assert_eq!(service.format, "Swagger 2.0");
    assert_eq!(service.server.as_deref(), Some("https://old.example/v2"));
    assert!(service.skipped.is_empty());
    let list = operation(&service, "list").tool();
    assert_eq!(list["inputSchema"]["properties"]["limit"]["maximum"], 10);
    assert_eq!(list["outputSchema"]["items"]["$ref"], "#/$defs/Pet");
    let sent = request(
        &service,
        "list",
        json!({ "limit": 3, "tags": ["a", "b"], "ids": [1, 2], "csv": ["x", "y"] }),
    );
    assert_eq!(sent.query, "limit=3&tags=a%7Cb&ids=1&ids=2&csv=x,y");
    let add = operation(&service, "add").tool();
    assert_eq!(add["inputSchema"]["required"], json!(["body"]));
    assert_eq!(
        body(&request(
            &service,
            "add",
            json!({ "body": { "name": "n" } })
        )),
        ("application/json", r#"{"name":"n"}"#)
    );
    let sent = request(
        &service,
        "upload",
        json!({ "body": { "file": "aGk=", "note": "n" } }),
    );
    assert!(body(&sent).0.starts_with("multipart/form-data; boundary="));
    assert!(body(&sent).1.contains("\r\n\r\nhi\r\n"));
    assert_eq!(
        body(&request(
            &service,
            "form",
            json!({ "body": { "a": ["x", "y"] } })
        ))
        .1,
        "a=x,y"
    );
}

#[test]
fn what_is_new_in_3_2_is_read() {
    let service = read(json!({
        "openapi": "3.2.0",
        "info": { "title": "New", "version": "1" },
        "paths": { "/search": {
            "query": {
                "operationId": "search",
                "requestBody": { "content": { "application/jsonl": { "itemSchema": { "type": "object" } } } },
                "responses": { "200": { "description": "ok", "content": { "application/jsonl": { "itemSchema": { "type": "integer" } } } } }
            },
            "additionalOperations": { "LINK": { "operationId": "link", "responses": {} } },
            "get": {
                "operationId": "whole",
                "parameters": [
                    { "name": "q", "in": "querystring", "content": { "application/x-www-form-urlencoded": { "schema": { "type": "object" } } } },
                    { "name": "sid", "in": "cookie", "style": "cookie", "schema": { "type": "string" } }
                ],
                "responses": {}
            }
        } }
    }));
    let search = operation(&service, "search");
    assert_eq!(search.effect, OperationEffect::Read);
    assert_eq!(
        search.tool()["outputSchema"],
        json!({ "type": "array", "items": { "type": "integer" } })
    );
    let sent = request(
        &service,
        "search",
        json!({ "body": [{ "a": 1 }, { "b": 2 }] }),
    );
    assert_eq!(
        (sent.method.as_str(), body(&sent).1),
        ("QUERY", "{\"a\":1}\n{\"b\":2}\n")
    );
    assert_eq!(request(&service, "link", json!({})).method, "LINK");
    let sent = request(
        &service,
        "whole",
        json!({ "q": { "a": "1 2" }, "sid": "a=b" }),
    );
    assert_eq!(sent.query, "a=1+2");
    assert_eq!(sent.headers, [("cookie".to_owned(), "sid=a=b".to_owned())]);
}

#[test]
fn names_do_not_collide_and_a_bad_operation_is_skipped_alone() {
    let parameter = |name: &str, place: &str| json!({ "name": name, "in": place, "required": place == "path", "schema": { "type": "string" } });
    let service = read(json!({
        "openapi": "3.0.3",
        "info": { "title": "Names", "version": "1" },
        "paths": {
            "/a/{id}": {
                "get": { "operationId": "same", "parameters": [parameter("id", "query"), parameter("id", "path"), parameter("body", "query")], "responses": {} },
                "put": { "operationId": "same", "requestBody": { "content": { "text/plain": {} } }, "parameters": [parameter("id", "path"), parameter("body", "header")], "responses": {} }
            },
            "/b": { "get": { "operationId": "bad", "parameters": [{ "$ref": "#/components/parameters/none" }] }, "post": { "responses": {} } },
            "/c/{forgotten}": { "get": { "responses": {} } }
        }
    }));
    let sent = request(
        &service,
        "same",
        json!({ "id": "p", "id_query": "q", "body": "b" }),
    );
    assert_eq!(
        (sent.path.as_str(), sent.query.as_str()),
        ("/a/p", "id=q&body=b")
    );
    let sent = request(
        &service,
        "same_put",
        json!({ "id": "p", "body": "h", "request_body": "text" }),
    );
    assert_eq!(body(&sent), ("text/plain", "text"));
    assert_eq!(sent.headers, [("body".to_owned(), "h".to_owned())]);
    assert_eq!(
        request(&service, "get_c_forgotten", json!({ "forgotten": "x" })).path,
        "/c/x"
    );
    operation(&service, "post_b");
    assert_eq!(service.skipped.len(), 1);
    assert_eq!(service.skipped[0].operation, "GET /b");
}

#[test]
fn texts_pages_examples_and_hints_are_in_the_description() {
    let service = read(json!({
        "openapi": "3.1.0",
        "info": { "title": "Texts", "version": "1" },
        "paths": {
            "/list": { "get": {
                "operationId": "internal.name.of.list",
                "summary": "List all",
                "description": "Lists everything.",
                "parameters": [
                    { "name": "cursor", "in": "query", "schema": { "type": "string" } },
                    { "name": "limit", "in": "query", "schema": { "type": "integer" } }
                ],
                "responses": { "200": { "description": "ok", "content": { "application/json": { "schema": {
                    "type": "object",
                    "properties": { "meta": { "type": "object", "properties": { "next_cursor": { "type": "string" } } } }
                } } } } },
                "x-mcp-tool": {
                    "name": "list",
                    "capabilities": ["inventory"],
                    "examples": ["what is in stock?"],
                    "error_patterns": [{ "status_code": 409, "hint": "wait for the count to end" }]
                }
            } },
            "/hidden": { "get": { "x-mcp-tool": { "enabled": false }, "responses": {} } }
        }
    }));
    let list = operation(&service, "list");
    let tool = list.tool();
    assert_eq!(tool["title"], "List all");
    let text = tool["description"].as_str().unwrap();
    for part in [
        "Lists everything.",
        "Pages: pass `meta.next_cursor` of the result as `cursor` to get the next page; `limit` is the size of a page.",
        "inventory",
        "what is in stock?",
        "GET /list",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(list.error_patterns[0].pattern, "409");
    assert_eq!((service.operations.len(), service.skipped.len()), (1, 0));
}

#[test]
fn servers_have_variables_and_headers_of_the_entry_are_no_arguments() {
    let options = ReadOptions {
        fixed_headers: vec!["x-tenant".to_owned()],
        variables: [("region".to_owned(), "eu".to_owned())].into(),
    };
    let document = json!({
        "openapi": "3.0.0",
        "info": { "title": "Servers", "version": "1" },
        "servers": [{ "url": "https://{region}.example/{base}", "variables": { "region": { "default": "us" }, "base": { "default": "v1" } } }],
        "paths": { "/a": { "get": {
            "operationId": "a",
            "parameters": [{ "name": "X-Tenant", "in": "header", "required": true, "schema": {} }],
            "responses": {}
        } } }
    });
    let service = read_with(document.clone(), &options);
    assert_eq!(service.server.as_deref(), Some("https://eu.example/v1"));
    assert_eq!(
        operation(&service, "a").tool()["inputSchema"]["properties"],
        json!({})
    );
    assert_eq!(
        read(document).server.as_deref(),
        Some("https://us.example/v1")
    );
    let without = read(json!({ "openapi": "3.1.0", "paths": {} }));
    assert_eq!(without.server.as_deref(), Some("https://api.example/"));
}

#[test]
fn other_documents_are_refused_with_what_they_have() {
    for (document, reason) in [
        (json!({ "openapi": "4.0.0" }), "`\"openapi\": \"4.0.0\"`"),
        (json!({ "swagger": "1.2" }), "`\"swagger\": \"1.2\"`"),
        (json!({ "asyncapi": "2.0" }), "neither"),
        (json!([]), "neither"),
    ] {
        let documents = Documents::new("https://a.example/".parse().unwrap(), document);
        let error = Service::read(&documents, &ReadOptions::default(), &|_| true).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// Any JSON with the keys of OpenAPI.
fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop_oneof![
            Just("#/a"),
            Just("#/components/schemas/A"),
            Just("object"),
            Just("path"),
            Just("query"),
            Just("id"),
            Just("deepObject"),
            Just("../x.json"),
            Just("string"),
            Just("https://x.example/{a}")
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 120, 6, |inner| {
        let key = prop_oneof![
            Just("get"),
            Just("post"),
            Just("parameters"),
            Just("schema"),
            Just("$ref"),
            Just("in"),
            Just("name"),
            Just("type"),
            Just("properties"),
            Just("allOf"),
            Just("items"),
            Just("enum"),
            Just("requestBody"),
            Just("content"),
            Just("application/json"),
            Just("multipart/form-data"),
            Just("responses"),
            Just("200"),
            Just("required"),
            Just("servers"),
            Just("url"),
            Just("style"),
            Just("/a/{id}"),
            Just("nullable"),
            Just("security"),
            Just("x-mcp-tool"),
            Just("encoding")
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..7).prop_map(|fields| {
                let fields = fields
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value));
                Value::Object(fields.collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_document_and_no_arguments_panic(item in documents(), shared in documents(), arguments in documents()) {
        let document = json!({
            "openapi": "3.0.0",
            "paths": { "/a/{id}": item.clone(), "/b": { "post": item } },
            "components": { "schemas": { "A": shared.clone() } },
            "a": shared
        });
        let service = read(document);
        let none = serde_json::Map::new();
        for operation in &service.operations {
            let all: serde_json::Map<String, Value> =
                operation.parameters.iter().map(|it| (it.argument.clone(), arguments.clone())).collect();
            for arguments in [&none, arguments.as_object().unwrap_or(&none), &all] {
                if let Ok(request) = operation.request(arguments) {
                    prop_assert!(request.path.starts_with('/'));
                    prop_assert!(!request.path.split('/').any(|it| it == ".." || it == "."));
                }
            }
        }
    }
}
