// Writes a changelog from the history of a repository, grouped by the first word of the subject.
//
//   pml run --config examples/changelog/servers.json examples/changelog/changelog.ts -- /path/to/repository 20
//
// The server is mcp-server-git from PyPI (`pip install mcp-server-git`). The test replays a
// recording and needs neither the server nor a repository.

interface Commit {
  hash: string;
  date: string;
  subject: string;
}

const SECTIONS: [title: string, first: RegExp][] = [
  ["Added", /^(add|new|support|introduce|allow)\b/i],
  ["Fixed", /^(fix|repair|correct|mend|handle)\b/i],
  ["Removed", /^(remove|drop|delete)\b/i],
  ["Documentation", /^(doc|docs|document|readme)\b/i],
];

function sectionOf({ subject }: Commit): string {
  return SECTIONS.find(([, first]) => first.test(subject))?.[0] ?? "Changed";
}

/** Parses the server's log: `Commit: ...`, `Author: ...`, `Date: ...`, `Message: ...`. */
export function parseLog(log: string): Commit[] {
  return log
    .split(/^Commit: /m)
    .slice(1)
    .map((block) => {
      const field = (name: string) =>
        new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1]?.trim() ?? "";
      return {
        hash: /[0-9a-f]{7,40}/.exec(block)?.[0].slice(0, 7) ?? "unknown",
        date: field("Date").slice(0, 10),
        subject: field("Message"),
      };
    });
}

export default async function changelog() {
  const [repository = ".", count = "20"] = args;
  const log: string = await tools.git.git_log({
    repo_path: repository,
    max_count: Number(count),
  });
  const commits = parseLog(log).filter(({ subject }) => !/^merge\b/i.test(subject));

  const lines = ["# Changelog", ""];
  const sections = Object.groupBy(commits, sectionOf);
  for (const title of ["Added", "Changed", "Fixed", "Removed", "Documentation"]) {
    const entries = sections[title];
    if (entries === undefined) continue;
    lines.push(`## ${title}`, "");
    for (const { hash, subject } of entries) lines.push(`- ${subject} (${hash})`);
    lines.push("");
  }
  return lines.join("\n");
}
