//! Retrieval quality and latency of search on sets of tools and queries.
//!
//! Compares four rankings of the same tools: words alone, vectors alone, LanceDB's own fusion of both,
//! and the ranking that ships.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Parser;
use pml_bench::retrieval::{LanceIndex, Quality, RetrievalSet};
use pml_bench::{Sample, describe_machine, millis, resident_memory};
use pml_search::{
    Cosines, Filter, Hit, IndexedTools, ModelChoice, Search, SearchOptions, SearchPaths,
    SearchState,
};
use serde_json::json;

/// Hits of each ranking.
const DEPTH: usize = 10;
/// Queries that are not timed.
const WARM_UP: usize = 20;
const INDEX_TIMEOUT: Duration = Duration::from_secs(1800);

/// Measure search on a folder with tools.jsonl and queries.jsonl
#[derive(Parser)]
struct Args {
    /// The set
    folder: PathBuf,

    /// The file with the queries [default: the first queries*.jsonl]
    #[arg(long, value_name = "NAME")]
    queries: Option<String>,

    /// Mix in the tools of another set
    #[arg(long, value_name = "FOLDER")]
    distractors: Vec<PathBuf>,

    /// Learn from every second query of each tool, and measure the others
    #[arg(long)]
    learn: bool,

    /// Write a line {"query", "ids"} for each query: the top ten of what ships
    #[arg(long, value_name = "FILE")]
    rankings: Option<PathBuf>,

    /// Write a line for each query with the scores of the top ten, and which of them are right
    #[arg(long, value_name = "FILE")]
    scores: Option<PathBuf>,

    /// Keep the index in this folder, and use what is in it
    #[arg(long, value_name = "FOLDER")]
    index: Option<PathBuf>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut set = RetrievalSet::read(&args.folder, args.queries.as_deref())?;
    for folder in &args.distractors {
        set.add_distractors(folder)?;
    }
    if args.learn {
        set.train_feedback();
    }
    println!("{}", describe_machine());
    println!("{} tools, {} queries\n", set.tools.len(), set.queries.len());

    let scratch = std::env::temp_dir().join(format!("pml-retrieval-{}", std::process::id()));
    let index = args.index.clone().unwrap_or_else(|| scratch.clone());
    let measured = measure(&args, &set, index).await;
    let _ = std::fs::remove_dir_all(scratch);
    measured
}

async fn measure(args: &Args, set: &RetrievalSet, index: PathBuf) -> anyhow::Result<()> {
    let memory = resident_memory();
    let paths = SearchPaths::for_user().context("the home folder is unknown: set HOME")?;
    // The ONNX library is the user's; the index belongs to this run.
    let search = Search::new(SearchOptions {
        paths: Some(paths.with_indexes(index)),
        configuration: Some(args.folder.clone()),
        model: ModelChoice::default(),
        on_status: Some(std::sync::Arc::new(|text| eprintln!("{text}"))),
    });
    let began = Instant::now();
    search.set_tools(1, || set.tools.clone());
    let words_ready = began.elapsed();
    if let SearchState::WordsOnly(reason) = search.wait_until_indexed(INDEX_TIMEOUT).await {
        bail!("the vectors could not be computed: {reason}");
    }
    let indexed = began.elapsed();
    let grown = resident_memory().saturating_sub(memory);
    let stats = search.stats().await.context("nothing was kept")??;
    let lance = LanceIndex::open(&stats.folder).await?;

    let tools = search.tools();
    let embedder = search.embedder().context("the model is not loaded")?;
    let mut rankings = open(args.rankings.as_ref())?;
    let mut scores = open(args.scores.as_ref())?;
    let (mut words, mut vectors, mut ships) = <(Quality, Quality, Quality)>::default();
    let mut fused = Quality::default();
    let (mut times, mut rank_times, mut lance_times) = <(Sample, Sample, Sample)>::default();
    for (position, query) in set.queries.iter().enumerate() {
        let began = Instant::now();
        let embedded = embedder
            .embed(IndexedTools::texts_to_embed(&query.query))
            .await?;
        let began_ranking = Instant::now();
        let cosines = tools.cosines(&query.query, &embedded);
        let hits = tools.find(
            &query.query,
            cosines.as_ref(),
            &Filter::default(),
            DEPTH,
            0.0,
        );
        if position >= WARM_UP {
            times.push(began.elapsed());
            rank_times.push(began_ranking.elapsed());
        }
        let whole = embedder.embed(vec![query.query.clone()]).await?;
        let began = Instant::now();
        let by_lance = lance.find(&query.query, &whole[0], DEPTH).await?;
        if position >= WARM_UP {
            lance_times.push(began.elapsed());
        }
        let by_lance: Vec<&str> = by_lance.iter().map(String::as_str).collect();
        fused.add(&by_lance, &query.gold);
        ships.add(&ids(&hits), &query.gold);
        words.add(
            &ids(&tools.find(&query.query, None, &Filter::default(), DEPTH, 0.0)),
            &query.gold,
        );
        vectors.add(&by_vectors(&tools, cosines.as_ref()), &query.gold);
        if let Some(file) = &mut rankings {
            writeln!(
                file,
                "{}",
                json!({ "query": query.query, "ids": ids(&hits) })
            )?;
        }
        if let Some(file) = &mut scores {
            let scored: Vec<_> = hits
                .iter()
                .map(|hit| json!([hit.score, query.gold.contains(&hit.id)]))
                .collect();
            writeln!(file, "{}", json!(scored))?;
        }
    }

    println!("| ranking | {} |", Quality::COLUMNS);
    println!("|---|---|---|---|---|---|---|");
    println!("| words alone (BM25F) | {} |", words.row());
    println!("| vectors alone | {} |", vectors.row());
    println!("| LanceDB: both, fused by rank | {} |", fused.row());
    println!("| what ships | {} |\n", ships.row());
    for (what, times) in [
        ("query with its embedding", &times),
        ("of it the ranking, in memory", &rank_times),
        ("LanceDB's ranking, from its files", &lance_times),
    ] {
        println!(
            "{what}: p50 {}, p99 {}",
            millis(times.quantile(0.5)),
            millis(times.quantile(0.99))
        );
    }
    println!(
        "index: {:.1} s, of which the words {}; memory added: {:.0} MB",
        indexed.as_secs_f64(),
        millis(words_ready),
        grown as f64 / 1e6
    );
    Ok(())
}

fn ids(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.id.as_str()).collect()
}

fn by_vectors<'a>(tools: &'a IndexedTools, cosines: Option<&Cosines>) -> Vec<&'a str> {
    let Some(cosines) = cosines else {
        return Vec::new();
    };
    let mut order: Vec<usize> = (0..cosines.whole.len()).collect();
    order.sort_by(|&a, &b| cosines.whole[b].total_cmp(&cosines.whole[a]));
    let first = order.into_iter().take(DEPTH);
    first
        .map(|index| tools.documents()[index].id.as_str())
        .collect()
}

fn open(path: Option<&PathBuf>) -> anyhow::Result<Option<BufWriter<File>>> {
    let create = |path: &PathBuf| {
        File::create(path)
            .map(BufWriter::new)
            .with_context(|| format!("{} cannot be written", path.display()))
    };
    path.map(create).transpose()
}
