//! A description of the machine, without which figures mean little.

use std::fs;

/// CPU, cores, memory and kernel, on one line.
pub fn describe_machine() -> String {
    let cpu = first_value("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown CPU".into());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = first_value("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(0, |kib| kib / 1024 / 1024);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{cpu}, {cores} cores, {memory} GiB, Linux {}",
        kernel.trim()
    )
}

/// The resident set size of this process, in bytes.
pub fn resident_memory() -> u64 {
    let resident = first_value("/proc/self/status", "VmRSS");
    let kib = resident.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

fn first_value(path: &str, key: &str) -> Option<String> {
    fs::read_to_string(path).ok()?.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}
