import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { settingsTable } from "../../src/service/settings/table.ts";
import { startPostgres } from "../../tests/harness/postgres.ts";
import { basicHeader } from "../../tests/harness/serve.ts";
import { startService } from "../../tests/harness/service-process.ts";

// The tests run neither Grafana nor Kubernetes. They check that both can read the files, and that the files match the
// service.

const root = path.join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const rules = "deploy/prometheus/alerts.yaml";
const dashboard = JSON.parse(read("deploy/grafana/latchkey.json")) as Dashboard;
const manifests = ["latchkey", "service-monitor"].flatMap((name) =>
  parseAllDocuments(read(`deploy/kubernetes/${name}.yaml`)).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as Manifest;
  }),
);

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
  }[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects by looking
  readonly spec?: any;
}

function manifest(kind: string): Manifest {
  const found = manifests.find((each) => each.kind === kind);
  assert.ok(found !== undefined, kind);
  return found;
}

test("has alert rules that Prometheus accepts, and that fire as `alerts.test.yaml` requires", () => {
  execFileSync("promtool", ["check", "rules", path.join(root, rules)]);
  execFileSync("promtool", ["test", "rules", path.join(root, "deploy/prometheus/alerts.test.yaml")]);
});

test("uses in the dashboard only expressions that Prometheus accepts", () => {
  const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const lines = expressions.map((expr, at) => {
    const filled = expr.replaceAll("$__rate_interval", "5m").replaceAll("$job", "latchkey");
    return `  - { record: "panel:${at}", expr: ${JSON.stringify(filled)} }`;
  });
  const folder = path.join(import.meta.dirname, "generated");
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, "dashboard.yaml");
  writeFileSync(file, ["groups:", "- name: dashboard", "  rules:", ...lines, ""].join("\n"));

  execFileSync("promtool", ["check", "rules", file]);
  rmSync(file);
});

test("uses in the rules and the dashboard only metrics that the service reports", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  await using service = await startService({
    LATCHKEY_DATABASE: await server.makeDatabase(),
    LATCHKEY_SECRET: "a secret that all processes of the service know",
  });
  const ask = async (): Promise<string> =>
    (await fetch(`${service.address}/metrics`, { headers: basicHeader("admin", service.password) })).text();
  // Causes a refusal, because the metric of an event has no series before its first event.
  await fetch(`${service.address}/protected/`, { headers: { authorization: "Bearer x.y.z" } });
  await ask();
  const metricNames = new Set([...(await ask()).matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name));

  const used = [read(rules), ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))]
    .flatMap((text) => text.match(/\b(?:latchkey|process)_\w+\b/g) ?? [])
    .map((name) => name.replace(/_bucket$/, ""));

  assert.ok(used.length > 20);
  assert.deepEqual(
    used.filter((name) => !metricNames.has(name)),
    [],
  );
});

test("places the panels next to each other, each with a separate number and the chosen data source", () => {
  const { panels } = dashboard;

  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)}:${y + Math.floor(at / w)}`),
  );
  assert.equal(new Set(cells).size, cells.length);
  for (const { targets } of panels) for (const { datasource } of targets) assert.equal(datasource.uid, "${datasource}");
});

test("uses in the manifests only members that Kubernetes knows, with values of the right types", () => {
  const types: Readonly<Record<string, string>> = {
    ConfigMap: "core/v1",
    Deployment: "apps/v1",
    Service: "core/v1",
    PodDisruptionBudget: "policy/v1",
  };
  const lines = manifests
    .filter(({ kind }) => kind !== "ServiceMonitor")
    .flatMap((each, at) => {
      const place = types[each.kind];
      assert.ok(place !== undefined, each.kind);
      return [
        `import type { ${each.kind} as T${at} } from "kubernetes-types/${place}.d.ts";`,
        `export const m${at}: T${at} = ${JSON.stringify(each)};`,
      ];
    });
  const folder = path.join(import.meta.dirname, "generated");
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, "manifests.ts");
  writeFileSync(file, lines.join("\n"));

  const options =
    "--noEmit --strict --module nodenext --skipLibCheck --allowImportingTsExtensions --ignoreConfig".split(" ");
  execFileSync(path.join(root, "node_modules/.bin/tsc"), [...options, file], { stdio: "inherit" });
  rmSync(file);
});

test("uses only existing settings in the manifests, and no secret value", () => {
  const { initContainers, containers } = manifest("Deployment").spec.template.spec;
  const settings = manifest("ConfigMap").data!;
  for (const [name, value] of Object.entries(settings)) {
    const setting = Object.values(settingsTable).find((each) => each.name === name);
    assert.ok(setting !== undefined, name);
    assert.equal("wrong" in setting.parse(value), false, `${name}=${value}`);
  }
  for (const { name, value, valueFrom } of [...initContainers, ...containers].flatMap(({ env }) => env)) {
    assert.ok(
      Object.values(settingsTable).some((each) => each.name === name),
      name,
    );
    assert.equal(value, undefined, `${name} comes from a Secret`);
    assert.ok(valueFrom.secretKeyRef.key.length > 0);
  }
  assert.ok(manifests.every(({ kind }) => kind !== "Secret"));
});

test("declares two replicas with probes, an init container that migrates, and the port and labels that the Service selects", () => {
  const { replicas, strategy, selector, template } = manifest("Deployment").spec;
  const { containers, initContainers, enableServiceLinks, terminationGracePeriodSeconds } = template.spec;
  const [{ ports, livenessProbe, readinessProbe }] = containers;

  assert.ok(replicas >= 2);
  assert.equal(strategy.rollingUpdate.maxUnavailable, 0);
  // With service links, Kubernetes would set a variable LATCHKEY_PORT, which the service would read as its setting.
  assert.equal(enableServiceLinks, false);
  assert.ok(terminationGracePeriodSeconds >= 20);
  assert.deepEqual([livenessProbe.httpGet.path, readinessProbe.httpGet.path], ["/livez", "/readyz"]);
  assert.deepEqual(initContainers[0].args, ["db", "migrate"]);
  assert.equal(initContainers[0].image, containers[0].image);
  assert.notEqual(
    initContainers[0].env[0].valueFrom.secretKeyRef.name,
    containers[0].env[0].valueFrom.secretKeyRef.name,
  );
  for (const { securityContext } of [...containers, ...initContainers]) {
    assert.equal(securityContext.readOnlyRootFilesystem, true);
    assert.deepEqual(securityContext.capabilities.drop, ["ALL"]);
  }
  const labels = template.metadata.labels as object;
  for (const chosen of [
    selector.matchLabels,
    manifest("Service").spec.selector,
    manifest("PodDisruptionBudget").spec.selector.matchLabels,
  ])
    assert.deepEqual(chosen, labels);
  assert.ok(manifest("PodDisruptionBudget").spec.minAvailable < replicas);
  const image = /^EXPOSE (\d+)$/m.exec(read("Dockerfile"))![1];
  assert.equal(String(ports[0].containerPort), image);
  assert.equal(manifest("Service").spec.ports[0].targetPort, ports[0].name);
  assert.equal(manifest("ServiceMonitor").spec.endpoints[0].port, manifest("Service").spec.ports[0].name);
});

test("has a unit that systemd accepts, and creates its user", () => {
  const exposure = execFileSync(
    "systemd-analyze",
    ["security", "--offline=true", path.join(root, "deploy/latchkey.service")],
    {
      encoding: "utf8",
    },
  );
  const users = execFileSync("systemd-sysusers", ["--dry-run", path.join(root, "deploy/latchkey.sysusers")], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

  assert.match(exposure, /Overall exposure level for latchkey\.service: 1\.\d OK/);
  assert.equal(typeof users, "string");
  assert.match(read("deploy/latchkey.service"), /^User=latchkey$/m);
  assert.match(read("deploy/latchkey.sysusers"), /^u latchkey /m);
});
