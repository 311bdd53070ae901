//! What a model suggests, from past runs and without any.

use std::io::Write;

use pml_learn::confidence::{Outcome, calibration_error, lower_bound};
use pml_learn::evaluate::{SampleSet, evaluate, read_sets};
use pml_learn::{Argument, Episode, Field, Filled, Model, Parameters, Source, Step, Tier, Tool};

fn tool(id: &str, description: &str, inputs: &[&str], outputs: &[&str], read: bool) -> Tool {
    let (server, name) = id.split_once(':').unwrap();
    let field = |path: &&str| Field {
        path: (*path).to_owned(),
        kind: "string".to_owned(),
        required: true,
        description: String::new(),
    };
    Tool {
        id: id.to_owned(),
        server: server.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        inputs: inputs.iter().map(field).collect(),
        outputs: outputs.iter().map(field).collect(),
        read,
    }
}

fn tools() -> Vec<Tool> {
    vec![
        tool(
            "fs:list_folder",
            "List the files of a folder",
            &["folder"],
            &["file_path"],
            true,
        ),
        tool(
            "fs:read_file",
            "Read the text of a file",
            &["file_path"],
            &["text"],
            true,
        ),
        tool(
            "mail:send",
            "Send a mail to somebody",
            &["to", "text"],
            &[],
            false,
        ),
        tool(
            "web:weather",
            "The weather of a city",
            &["city"],
            &["temperature"],
            true,
        ),
        tool(
            "db:query",
            "Query the table of customers",
            &["sql"],
            &["rows"],
            true,
        ),
    ]
}

fn step(tool: &str, path: &str, source: Source) -> Step {
    Step {
        tool: tool.to_owned(),
        arguments: vec![Argument {
            path: path.to_owned(),
            source,
        }],
    }
}

/// Runs of three kinds.
fn episodes(count: usize) -> Vec<Episode> {
    let names = ["alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa"];
    (0..count)
        .map(|n| {
            let name = names[n % names.len()];
            let from = Source::Result {
                step: 0,
                path: "files[*]".to_owned(),
            };
            match n % 3 {
                0 => Episode {
                    intent: format!("show all files of the folder {name} number {n}"),
                    steps: vec![
                        step("fs:list_folder", "folder", Source::Intent),
                        step("fs:read_file", "file_path", from),
                    ],
                    edges: vec![(0, 1)],
                },
                1 => Episode {
                    intent: format!("is it warm in the city {name} on day {n}"),
                    steps: vec![step("web:weather", "city", Source::Intent)],
                    edges: vec![],
                },
                _ => Episode {
                    intent: format!("mail the customers about {name} and {n}"),
                    steps: vec![
                        step(
                            "db:query",
                            "sql",
                            Source::Constant("\"select 1\"".to_owned()),
                        ),
                        step("mail:send", "to", Source::Other),
                    ],
                    edges: vec![(0, 1)],
                },
            }
        })
        .collect()
}

fn model(episodes: &[Episode]) -> Model {
    Model::new(&tools(), episodes, &Parameters::default())
}

#[test]
fn a_plan_of_similar_runs_comes_with_its_arguments() {
    let model = model(&episodes(240));
    let plan = model
        .suggest("show all files of the folder \"tau\"")
        .unwrap();
    let names: Vec<&str> = plan.tasks.iter().map(|task| task.tool.as_str()).collect();
    assert_eq!(names, ["fs:list_folder", "fs:read_file"]);
    assert_eq!(plan.edges, [(0, 1)]);
    assert_eq!(
        plan.tasks[0].arguments[0].value,
        Filled::Value("tau".into())
    );
    let from = Filled::Result {
        task: 0,
        path: "files[*]".to_owned(),
    };
    assert_eq!(plan.tasks[1].arguments[0].value, from);
    assert_eq!(plan.tier, Tier::Act);
    assert!(plan.confidence > 0.8, "{}", plan.confidence);
    let workflow = plan.workflow();
    assert_eq!(
        workflow["tasks"][1]["args"]["file_path"],
        "$OUTPUT[t1].files[0]"
    );
}

#[test]
fn a_task_with_an_effect_never_runs_ahead() {
    let model = model(&episodes(240));
    let plan = model.suggest("mail the customers about the sale").unwrap();
    assert_eq!(plan.tasks.len(), 2);
    assert!(plan.tasks[0].ahead, "a read that is sure");
    assert_eq!(plan.tasks[1].tool, "mail:send");
    assert!(plan.tasks[1].confidence > 0.8);
    assert!(!plan.tasks[1].ahead);
}

#[test]
fn the_next_tool_depends_on_the_calls_so_far() {
    let model = model(&episodes(90));
    let next = |done: &[&str]| model.next("show all files of the folder", done, 1)[0].clone();
    assert_eq!(next(&[]).tool, "fs:list_folder");
    assert_eq!(next(&["fs:list_folder"]).tool, "fs:read_file");
    // A tool that is not known any more says nothing.
    assert_eq!(next(&["gone:tool"]).tool, "fs:list_folder");
}

#[test]
fn without_past_runs_descriptions_and_schemas_make_a_plan() {
    let model = model(&[]);
    let plan = model
        .suggest("list the files of the folder src and read the text of a file")
        .unwrap();
    let names: Vec<&str> = plan.tasks.iter().map(|task| task.tool.as_str()).collect();
    assert!(
        names.starts_with(&["fs:list_folder", "fs:read_file"]),
        "{names:?}"
    );
    let from = Filled::Result {
        task: 0,
        path: "file_path".to_owned(),
    };
    assert_eq!(plan.tasks[1].arguments[0].value, from);
    // Nothing was predicted yet, so nothing is sure.
    assert_ne!(plan.tier, Tier::Act);
}

#[test]
fn a_few_runs_with_one_intent_are_repeated() {
    for count in [1, 2, 3, 12] {
        let runs: Vec<Episode> = (0..count).map(|_| episodes(1)[0].clone()).collect();
        let plan = model(&runs).suggest(&runs[0].intent).unwrap();
        let names: Vec<&str> = plan.tasks.iter().map(|task| task.tool.as_str()).collect();
        assert_eq!(names, ["fs:list_folder", "fs:read_file"], "{count} runs");
        // A few runs are no proof.
        assert!(plan.confidence <= (count + 1) as f64 / (count + 2) as f64);
    }
}

#[test]
fn the_same_runs_make_the_same_suggestion() {
    let (first, second) = (model(&episodes(60)), model(&episodes(60)));
    for intent in ["show the files", "weather", "", "漢字の意図", "????"] {
        assert_eq!(first.suggest(intent), second.suggest(intent));
    }
}

#[test]
fn odd_sets_of_tools_make_no_trouble() {
    let none = Model::new(&[], &[], &Parameters::default());
    assert_eq!(none.suggest("anything"), None);
    assert!(none.next("anything", &[], 3).is_empty());
    let one = [
        tool("a:b", "", &[], &[], true),
        tool("a:b", "again", &[], &[], true),
    ];
    let runs = [Episode {
        intent: String::new(),
        steps: vec![Step {
            tool: "a:b".to_owned(),
            arguments: vec![],
        }],
        edges: vec![(0, 7), (3, 1)],
    }];
    let model = Model::new(&one, &runs, &Parameters::default());
    assert_eq!(model.suggest("").unwrap().tasks[0].tool, "a:b");
}

#[test]
fn calibration_is_the_distance_of_what_was_said_from_what_was() {
    let outcomes = |confidence: f64, right: usize, total: usize| {
        (0..total).map(move |n| Outcome {
            confidence,
            right: n < right,
        })
    };
    assert_eq!(calibration_error(&[]), None);
    let honest: Vec<Outcome> = outcomes(0.2, 20, 100)
        .chain(outcomes(0.9, 90, 100))
        .collect();
    assert!(calibration_error(&honest).unwrap() < 1e-9);
    let said: Vec<Outcome> = outcomes(0.9, 50, 100).collect();
    assert!((calibration_error(&said).unwrap() - 0.4).abs() < 1e-9);
    assert!(lower_bound(95, 100) < 0.95);
    assert!(lower_bound(1000, 1000) > 0.99);
    assert_eq!(lower_bound(0, 0), 0.0);
}

fn set(tools: &str, samples: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set");
    std::fs::create_dir(&path).unwrap();
    for (name, text) in [("tools.jsonl", tools), ("samples.jsonl", samples)] {
        std::fs::File::create(path.join(name))
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    }
    (folder, path)
}

#[test]
fn a_malformed_line_is_named_with_its_file() {
    let error = |tools: &str, samples: &str| {
        let (_folder, path) = set(tools, samples);
        SampleSet::read(&path).unwrap_err().to_string()
    };
    let message = error("{\"id\":\"a\"}\n\n{\"id\":", "");
    assert!(
        message.contains("tools.jsonl, line 3: invalid JSON"),
        "{message}"
    );
    let message = error("{\"name\":\"a\"}", "");
    assert!(message.contains("line 1: a tool needs `id`"), "{message}");
    let message = error("", "{\"intent\":\"x\",\"nodes\":[{\"id\":1}]}");
    assert!(
        message.contains("samples.jsonl, line 1: node 1 of the sample needs `tool`"),
        "{message}"
    );
    let (folder, path) = set("", "");
    std::fs::remove_dir_all(path).unwrap();
    let message = read_sets(folder.path()).unwrap_err().to_string();
    assert!(message.contains("no set in"), "{message}");
}

#[test]
fn sets_with_gaps_are_measured() {
    let (_folder, path) = set("", "");
    let figures = evaluate(&SampleSet::read(&path).unwrap(), &Parameters::default());
    assert_eq!((figures.suggestions, figures.hit1), (0, None));
    let samples: String = (0..40)
        .map(|n| format!("{{\"intent\":\"do {n}\",\"nodes\":[{{\"tool\":\"a\"}}],\"edges\":[[\"x\",\"y\"],3]}}\n"))
        .collect();
    // No list of tools, no ids of nodes, edges to nowhere, samples without nodes.
    let (_folder, path) = set("", &(samples + "{\"intent\":\"nothing\"}\n"));
    let figures = evaluate(&SampleSet::read(&path).unwrap(), &Parameters::default());
    assert!(figures.suggestions > 40, "{}", figures.suggestions);
    assert_eq!(figures.hit1, Some(1.0));
    assert_eq!(figures.node_f1, Some(1.0));
}
