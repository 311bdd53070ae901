// Audits a folder of service configurations: reads 50 files and returns one small table.
//
//   pml run --config examples/config-audit/servers.json examples/config-audit/audit.ts

interface Config {
  service: string;
  port: number;
  debug?: boolean;
  tls?: { enabled: boolean; minVersion?: string };
  replicas?: number;
  image: string;
}

interface Finding {
  file: string;
  rule: string;
  detail: string;
}

const RULES: Record<string, (config: Config) => string | undefined> = {
  "debug is off": ({ debug }) => (debug ? "debug is on" : undefined),
  "TLS is on": ({ tls }) => (tls?.enabled ? undefined : "TLS is off"),
  "TLS is 1.2 or newer": ({ tls }) =>
    tls?.enabled && Number(tls.minVersion ?? "1.0") < 1.2
      ? `the lowest version is ${tls.minVersion ?? "not set"}`
      : undefined,
  "images are pinned": ({ image }) =>
    /:(?!latest$)[\w.-]+$/.test(image) ? undefined : `${image} may change under us`,
};

export default async function audit() {
  const { files } = await tools.demo.list_files({ suffix: ".json" });
  const configs: Config[] = await Promise.all(
    files.map(({ path }: { path: string }) => tools.demo.read_json({ path })),
  );

  const findings: Finding[] = [];
  const ports = new Map<number, string>();
  for (const [i, config] of configs.entries()) {
    const file: string = files[i].path;
    for (const [rule, check] of Object.entries(RULES)) {
      const detail = check(config);
      if (detail !== undefined) findings.push({ file, rule, detail });
    }
    const taken = ports.get(config.port);
    if (taken !== undefined) {
      findings.push({ file, rule: "ports are unique", detail: `${config.port} is ${taken}'s` });
    }
    ports.set(config.port, config.service);
  }

  const byRule = Object.groupBy(findings, ({ rule }) => rule);
  return {
    files: files.length,
    findings: findings.length,
    byRule: Object.fromEntries(
      Object.entries(byRule).map(([rule, found]) => [rule, found!.length]),
    ),
    worst: findings.slice(0, 5),
  };
}
