/**
 * Builds `create/dist`: the package that creates projects has no dependencies, and runs on an older Node than the
 * projects do. Needs `npm run build`: the built command writes the permissions of each kind of project.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { nameLock, type Locks } from "../../create/src/lock.ts";
import { logins, type Login, type Plan } from "../../create/src/names.ts";
import { projectFiles, writeProject, type Versions } from "../../create/src/project.ts";

const root = path.join(import.meta.dirname, "../..");
const { version, devDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
  version: string;
  devDependencies: Readonly<Record<"node" | "typescript" | "@types/node", string>>;
};
const create = path.join(root, "create");
rmSync(path.join(create, "dist"), { recursive: true, force: true });
await build({
  entryPoints: [path.join(create, "src/create.ts")],
  outfile: path.join(create, "dist/create.js"),
  banner: { js: "#!/usr/bin/env node" },
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  logLevel: "warning",
});
const { node, typescript, "@types/node": nodeTypes } = devDependencies;
const versions: Versions = { latchkey: version, node, typescript, nodeTypes };
write("versions", versions);
write("locks", makeLocks());

function write(name: string, value: unknown): void {
  writeFileSync(path.join(create, `dist/${name}.json`), `${JSON.stringify(value, null, 2)}\n`);
}

/** Makes the projects of all answers that change permissions, and lets the command write the lock of each. */
function makeLocks(): Locks {
  const place = mkdtempSync(path.join(tmpdir(), "latchkey-locks-"));
  try {
    mkdirSync(path.join(place, "node_modules"));
    symlinkSync(root, path.join(place, "node_modules/latchkey"));
    return Object.fromEntries(
      listPlans().map((plan) => [nameLock(plan), makeLock(path.join(place, plan.folder), plan)]),
    );
  } finally {
    rmSync(place, { recursive: true });
  }
}

function listPlans(): readonly Plan[] {
  const names = { name: "my-api", title: "My API", resource: "book" };
  return (Object.keys(logins) as readonly Login[]).flatMap((login) =>
    [
      { signUp: false, teams: false },
      { signUp: true, teams: false },
      { signUp: true, teams: true },
    ].map((answers) => ({ ...names, folder: nameLock({ login, ...answers }), login, ...answers })),
  );
}

function makeLock(folder: string, plan: Plan): string {
  writeProject(folder, projectFiles(plan, versions, null));
  // Not with the settings of this machine, which change permissions.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("LATCHKEY_")));
  const command = path.join(root, "dist/cli/latchkey.js");
  execFileSync(process.execPath, [command, "prove", "--lock"], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return readFileSync(path.join(folder, "permissions.lock"), "utf8");
}
