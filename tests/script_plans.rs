//! `runWorkflow` and `callToolsBatch`: many calls of one script.

use std::path::Path;

use serde_json::{Value, json};

use crate::gateway::{Place, demo};

fn place() -> Place {
    Place::with_servers(json!({ "demo": demo(Path::new(".")) }))
}

#[test]
fn a_plan_of_a_script_runs_its_calls_and_code_and_gives_states() {
    let script = r#"
        const plan = { tasks: [
          { id: "a", tool: "demo:count_text", args: { text: "$INPUT.text" } },
          { id: "b", code: "return $OUTPUT[a].words * 2" },
          { id: "bad", tool: "demo:count_text", args: { text: 7 }, optional: true },
          { id: "each", tool: "demo:count_text", for_each: ["x y", "z"], args: { text: "$ITEM" } },
        ], output: { twice: "$OUTPUT[b]", each: "$OUTPUT[each]" } };
        const first = await runWorkflow(plan, { text: "one two three" });
        const text = await runWorkflow("tasks:\n  - id: a\n    code: return 6 * 7\n");
        return { first, text };
    "#;
    let result = place().result(script);
    let first = &result["first"];
    assert_eq!(first["ok"], true, "{result:#}");
    assert_eq!(first["output"]["twice"], 6);
    assert_eq!(first["output"]["each"][1]["words"], 1);
    assert_eq!(first["tasks"]["bad"]["state"], "failed");
    assert_eq!(first["tasks"]["bad"]["error"]["kind"], "arguments");
    assert_eq!(
        first["tasks"]["each"]["items"],
        json!({ "done": 2, "all": 2 })
    );
    assert_eq!(result["text"]["output"], 42);
}

#[test]
fn mistakes_of_a_plan_are_thrown_and_the_code_of_a_plan_runs_no_plans() {
    let script = r#"
        const message = (promise) => promise.then(() => "none", (error) => `${error.kind}: ${error.message}`);
        const inner = "return await runWorkflow({ tasks: [{ id: 'x', code: 'return 1' }] })";
        const nested = await runWorkflow({ tasks: [{ id: "a", code: inner }] });
        return [
          await message(runWorkflow({ tasks: [{ id: "a", tool: "demo:x", args: { v: "$OUTPUT[b]" } }] })),
          await message(runWorkflow({ tasks: [{ id: "a", tool: "demo:count_text", args: { text: "$INPUT.x" } }] })),
          await message(runWorkflow(3)),
          nested.tasks.a.error.message,
        ];
    "#;
    let result = place().result(script);
    assert!(
        result[0].as_str().unwrap().contains("there is no task `b`"),
        "{result:#}"
    );
    assert!(
        result[1].as_str().unwrap().contains("input `x` is missing; pass it in the second argument, `runWorkflow(plan, { \"x\": … })`"),
        "{result:#}"
    );
    assert!(
        result[2].as_str().unwrap().contains("needs a plan"),
        "{result:#}"
    );
    assert!(
        result[3]
            .as_str()
            .unwrap()
            .contains("no plan can be run here"),
        "{result:#}"
    );
}

#[test]
fn the_calls_of_a_plan_count_as_calls_of_its_script() {
    let script = r#"
        const tasks = Array.from({ length: 8 }, (_, n) =>
          ({ id: `t${n}`, tool: "demo:count_text", args: { text: "x" }, optional: true }));
        const { tasks: states } = await runWorkflow({ tasks });
        return Object.values(states).map((task) => task.state);
    "#;
    let place = place();
    let output = place.run(&["run", "--json", "--max-calls", "5", "-e", script]);
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    let states = outcome["result"]
        .as_array()
        .unwrap_or_else(|| panic!("{outcome:#}"));
    let done = states.iter().filter(|state| **state == "done").count();
    assert_eq!(done, 5, "{outcome:#}");
}

#[test]
fn the_calls_of_plans_and_streams_are_in_the_outcome() {
    let script = r#"
        await tools.demo.count_text({ text: "own" });
        await runWorkflow({ tasks: [
          { id: "a", tool: "demo:count_text", args: { text: "x" } },
          { id: "bad", tool: "demo:count_text", args: { text: 7 }, optional: true },
          { id: "code", code: "return (await tools.demo.count_text({ text: 'y' })).words" },
        ] });
        for await (const part of streamTool("demo:count_text", { text: "z" })) void part;
        return "done";
    "#;
    let output = place().run(&["run", "--json", "-e", script]);
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    let calls = outcome["calls"]
        .as_array()
        .unwrap_or_else(|| panic!("{outcome:#}"));
    assert_eq!(calls.len(), 5, "{outcome:#}");
    assert!(
        calls.iter().all(|call| call["tool"] == "demo:count_text"),
        "{outcome:#}"
    );
    let failed = calls.iter().filter(|call| call["ok"] == false);
    assert_eq!(failed.count(), 1, "{outcome:#}");
}

#[test]
fn a_recorded_script_with_a_plan_replays_without_its_server() {
    let script = "const { output } = await runWorkflow({ tasks: [{ id: 'a', tool: 'demo:count_text', args: { text: 'x y' } }, { id: 'b', code: 'return [$OUTPUT[a].words, Math.random()]' }] }); return output";
    let place = place();
    let file = place.folder().join("recording.json");
    let file = file.to_str().unwrap();
    let first = place.run(&["run", "--json", "--record", file, "-e", script]);
    let replayed = place.run(&["run", "--json", "--replay", file, "-e", script]);
    let [first, replayed] = [first, replayed].map(|output| {
        let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(outcome["ok"], true, "{outcome:#}");
        outcome["result"].clone()
    });
    assert_eq!(first[0], 2);
    assert_eq!(first, replayed, "time and randomness are the recording's");
}

#[test]
fn results_of_a_batch_come_one_by_one_and_slow_callbacks_hold_back_calls() {
    let script = r#"
        let open = 0, most = 0;
        const order = [], progress = [];
        const calls = Array.from({ length: 300 }, (_, n) => ({ tool: "demo:count_text", args: { text: "w ".repeat(n) } }));
        const results = await callToolsBatch(calls, {
          concurrency: 8,
          chunk: 50,
          onResult: async (result, index, call) => {
            most = Math.max(most, ++open);
            order.push(index);
            await new Promise((wake) => setTimeout(wake, 1));
            open--;
            if (call.args.text !== calls[index].args.text) throw new Error("another call");
          },
          onProgress: ({ done, failed, total }) => { progress.push([done, failed, total]); },
        });
        const isChunked = order.every((index, at) => Math.floor(index / 50) === Math.floor(at / 50));
        return { words: results.map((it) => it.result.words), most, isChunked, last: progress.at(-1), seen: new Set(order).size };
    "#;
    let place = place();
    let output = place.run(&["run", "--json", "--max-calls", "400", "-e", script]);
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    let result = &outcome["result"];
    assert_eq!(result["isChunked"], true, "{outcome:#}");
    assert_eq!(result["words"][299], 299);
    assert_eq!(
        (&result["seen"], &result["last"]),
        (&json!(300), &json!([300, 0, 300]))
    );
    assert!(result["most"].as_u64().unwrap() <= 8, "{result}");
}

#[test]
fn a_batch_takes_calls_of_a_generator_when_there_is_room() {
    let script = r#"
        let made = 0, ended = 0, ahead = 0;
        async function* calls() {
          for (let n = 0; n < 40; n++) {
            made++;
            ahead = Math.max(ahead, made - ended);
            yield { tool: n === 7 ? "demo:none" : "demo:count_text", args: { text: "a" } };
          }
        }
        const results = await callToolsBatch(calls(), { concurrency: 4, onResult: () => { ended++; } });
        const most = ahead;
        const stopped = await callToolsBatch(calls(), { concurrency: 1, stopOnError: true });
        const wrong = await callToolsBatch([], { onResult: 3 }).catch((error) => error.message);
        const unknown = await callToolsBatch([], { chunks: 3 }).catch((error) => error.message);
        const thrown = await callToolsBatch(calls(), { onResult: () => { throw new Error("mine"); } })
          .catch((error) => error.message);
        const bad = await callToolsBatch((function* () { yield { tool: "demo:count_text", arguments: {} }; })())
          .catch((error) => error.message);
        return { count: results.length, failed: results.filter((it) => !it.success).length, most,
          stopped: stopped.length, wrong, unknown, thrown, bad };
    "#;
    let place = place();
    let output = place.run(&["run", "--json", "--max-calls", "400", "-e", script]);
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    let result = &outcome["result"];
    assert_eq!(
        (&result["count"], &result["failed"]),
        (&json!(40), &json!(1)),
        "{outcome:#}"
    );
    assert!(result["most"].as_u64().unwrap() <= 5, "{result}");
    assert_eq!(result["stopped"], 8);
    assert!(
        result["wrong"]
            .as_str()
            .unwrap()
            .contains("a function as `onResult`"),
        "{result}"
    );
    assert!(
        result["unknown"]
            .as_str()
            .unwrap()
            .contains("no option `chunks`"),
        "{result}"
    );
    assert_eq!(result["thrown"], "mine");
    assert!(
        result["bad"].as_str().unwrap().contains("`args`"),
        "{result}"
    );
}
