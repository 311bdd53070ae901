//! Services with an OpenAPI document through the binary, with the service of the example.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::gateway::Place;
use crate::support::{pml, repository};

/// The service of the example on a free port.
struct Library {
    child: Child,
    port: String,
}

impl Library {
    fn start() -> Self {
        let mut child = Command::new("python3")
            .arg(repository().join("examples/openapi/library.py"))
            .arg("0")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut port).unwrap();
        let port = port.trim().to_owned();
        Self { child, port }
    }

    /// `pml` with the configuration of the example.
    fn pml(&self, args: &[&str]) -> Output {
        let home = tempfile::tempdir().unwrap();
        let config = repository().join("examples/openapi/servers.json");
        pml()
            .args(args)
            .arg("--config")
            .arg(config)
            .current_dir(home.path())
            .env("HOME", home.path())
            .env("LIBRARY_PORT", &self.port)
            .output()
            .unwrap()
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn stdout(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_script_reads_all_pages_and_a_lost_answer_adds_nothing_twice() {
    let library = Library::start();
    let script = repository().join("examples/openapi/shelf.ts");
    let printed = stdout(&library.pml(&["run", script.to_str().unwrap()]));
    let result: Value = serde_json::from_str(&printed).unwrap();
    let volumes = [12, 15, 18, 21, 24].map(|n| json!(format!("Volume {n}")));
    let titles: Vec<Value> = volumes.into_iter().chain([json!("Notes")]).collect();
    assert_eq!(result, json!({ "added": "Notes", "titles": titles }));
}

#[test]
fn operations_are_tools_with_classes_types_and_the_credentials_of_their_scheme() {
    let library = Library::start();
    let effects = stdout(&library.pml(&["tools", "--effects"]));
    let classes: Vec<Vec<&str>> = effects
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    for expected in [
        ["library:addBook", "keyed", "HTTP", "method"],
        ["library:getBook", "read", "HTTP", "method"],
        ["library:listBooks", "read", "HTTP", "method"],
    ] {
        assert!(
            classes.iter().any(|line| line.starts_with(&expected[..2])),
            "{effects}"
        );
    }
    assert!(!effects.contains("removeBook"), "{effects}");

    let found = stdout(&library.pml(&["search", "add a book"]));
    assert!(found.contains("library:addBook"), "{found}");
    let types = stdout(&library.pml(&["types"]));
    assert!(types.contains("next_cursor"), "{types}");

    let book = stdout(&library.pml(&["call", "library:getBook", "{ \"id\": 3 }"]));
    assert!(book.contains("Volume 3"), "{book}");
    let missing = library.pml(&["call", "library:getBook", "{ \"id\": 99 }"]);
    let error = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(
        error.contains("HTTP 404") && error.contains("there is no such book"),
        "{error}"
    );
}

#[test]
fn add_writes_an_entry_and_doctor_names_the_operations_that_cannot_be_used() {
    let place = Place::with(&json!({ "mcpServers": {} }));
    let document = place.folder().join("pets.yaml");
    let text = "swagger: '2.0'\ninfo: { title: Pets, version: '1' }\nhost: api.example\npaths:\n  /pets:\n    get: { operationId: listPets, responses: { 200: { description: ok } } }\n    post: { parameters: [{ $ref: '#/parameters/none' }], responses: {} }\n";
    fs::write(&document, text).unwrap();
    let added = place.run(&["add", "pets", "--openapi", document.to_str().unwrap()]);
    assert!(stdout(&added).contains("Added `pets`"));
    let written: Value = serde_json::from_str(&fs::read_to_string(place.file()).unwrap()).unwrap();
    assert_eq!(written["mcpServers"]["pets"]["openapi"], json!(document));

    let doctor = stdout(&place.run(&["doctor"]));
    assert!(doctor.contains("Swagger 2.0"), "{doctor}");
    assert!(
        doctor.contains("the operation POST /pets cannot be used: the reference `#/parameters/none` leads nowhere"),
        "{doctor}"
    );
    assert!(stdout(&place.run(&["tools"])).contains("pets:listPets"));

    let missing = place.run(&["add", "more", "--openapi", "none.yaml"]);
    assert_eq!(missing.status.code(), Some(2));
    let error = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(error.contains("there is no file `none.yaml`"), "{error}");
}
