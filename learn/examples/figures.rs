use pml_learn::Parameters;
use pml_learn::evaluate::{SampleSet, evaluate, fit_prior};
fn main() {
    let f = |x: Option<f64>| x.map_or("   - ".into(), |x| format!("{x:.3}"));
    let mut sums: Vec<Vec<f64>> = vec![vec![]; 12];
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mode = if args[0].starts_with("--") {
        args.remove(0)
    } else {
        String::new()
    };
    let sets: Vec<SampleSet> = args
        .iter()
        .map(|folder| SampleSet::read(folder.as_ref()).unwrap())
        .collect();
    if mode == "--fit-prior" {
        println!(
            "{}",
            fit_prior(&sets.iter().collect::<Vec<_>>(), 3).as_code()
        );
        return;
    }
    println!(
        "{:18} tools train test | nodeF1 edgeF1 exact | act prop list (ahead) | planECE taskECE stepECE | h1 h3 mk1 mk3 | us fit-ms",
        "set"
    );
    let mut act = (0.0, 0.0);
    for set in &sets {
        let prior = if mode == "--loso" {
            let others: Vec<&SampleSet> =
                sets.iter().filter(|other| other.name != set.name).collect();
            fit_prior(&others, 3)
        } else {
            Parameters::default()
        };
        let x = evaluate(set, &prior);
        let t = |i: usize| format!("{}:{}", x.tiers[i].0, f(x.tiers[i].1));
        let cells = [
            f(x.node_f1),
            f(x.edge_f1),
            f(x.exact),
            "|".into(),
            t(0),
            t(1),
            t(2),
            format!("({} {})", x.ahead.0, f(x.ahead.1)),
            "|".into(),
            f(x.plan_calibration),
            f(x.task_calibration),
            f(x.step_calibration),
            "|".into(),
            f(x.hit1),
            f(x.hit3),
            f(x.markov1),
            f(x.markov3),
        ];
        println!(
            "{:18} {:4} {:4} {:4} | {} | {:.0} {:.0}",
            x.name,
            x.tools,
            x.training,
            x.test,
            cells.join(" "),
            x.micros.unwrap_or(0.0),
            x.fit_millis
        );
        for (i, v) in [
            x.node_f1,
            x.edge_f1,
            x.exact,
            x.plan_calibration,
            x.task_calibration,
            x.step_calibration,
            x.hit1,
            x.hit3,
            x.markov1,
            x.markov3,
        ]
        .into_iter()
        .enumerate()
        {
            if let Some(v) = v {
                sums[i].push(v)
            }
        }
        act.0 += x.tiers[0].0 as f64;
        act.1 += x.tiers[0].0 as f64 * x.tiers[0].1.unwrap_or(0.0);
    }
    let names = [
        "nodeF1", "edgeF1", "exact", "planECE", "taskECE", "stepECE", "hit1", "hit3", "mk1", "mk3",
    ];
    for (n, s) in names.iter().zip(&sums) {
        print!("{n} {:.4}  ", s.iter().sum::<f64>() / s.len() as f64);
    }
    println!("act {} precision {:.4}", act.0, act.1 / act.0);
}
