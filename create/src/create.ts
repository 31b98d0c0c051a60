import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs, styleText } from "node:util";
import { ask, type Answers } from "./asking.ts";
import { nameLock, type Locks } from "./lock.ts";
import { isLogin, logins, packageName, resourceMistake, teamNames, toTitle, type Plan } from "./names.ts";
import { CreateError, projectFiles, writeProject, type Versions } from "./project.ts";

const usage = `Makes a project with Latchkey: an API of your own with logins, pages and tests.

Usage: npm create latchkey [folder] [-- options]

  --resource <name>   one of what you keep, like book or order_line
  --login <way>       ${Object.keys(logins).join(", ")}
  --sign-up           people create their own accounts, with an address that they prove by mail
  --teams             records (task) belong to projects, and only members of a project see them; with --sign-up
  --yes               ask nothing, and take what is not given: my-api, book, session, no sign-up, no teams
  --version           show the version
  --help              show this
`;

const standard = { folder: "my-api", resource: "book", login: "session", signUp: false, teams: false } as const;

/** Returns the exit status: 0 done, 1 failed, 2 wrong usage. */
async function run(args: readonly string[]): Promise<number> {
  const options = readArguments(args);
  if (typeof options === "string") return fail(options, 2);
  if (options.help) return print(usage);
  if (options.version) return print(`${readBuilt<Versions>("versions").latchkey}\n`);
  const asks = !options.yes && process.stdin.isTTY && process.stdout.isTTY;
  const usual = options.teams === true ? { ...standard, resource: "task" } : standard;
  const answers = asks ? await ask(options, usual) : { ...usual, ...pickAnswers(options) };
  if (answers === null) return fail("Nothing was made.", 1);
  const plan = buildPlan(answers);
  if (typeof plan === "string") return fail(plan, 2);
  try {
    const lock = readBuilt<Locks>("locks")[nameLock(plan)]!;
    const files = projectFiles(plan, readBuilt<Versions>("versions"), lock);
    writeProject(path.resolve(plan.folder), files);
    return print(nextSteps(plan, [...files.keys()]));
  } catch (error) {
    if (error instanceof CreateError) return fail(error.message, 1);
    throw error;
  }
}

interface Given {
  readonly folder?: string | undefined;
  readonly resource?: string | undefined;
  readonly login?: string | undefined;
  readonly signUp?: boolean | undefined;
  readonly teams?: boolean | undefined;
  readonly yes: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

function readArguments(args: readonly string[]): Given | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        resource: { type: "string" },
        login: { type: "string" },
        "sign-up": { type: "boolean" },
        teams: { type: "boolean" },
        yes: { type: "boolean", short: "y", default: false },
        help: { type: "boolean", short: "h", default: false },
        version: { type: "boolean", default: false },
      },
    });
    if (positionals.length > 1) return `Give one folder: ${positionals.join(" ")} are ${positionals.length}.`;
    const { "sign-up": signUp, ...others } = values;
    return { folder: positionals[0], signUp, ...others };
  } catch (error) {
    return `${error instanceof Error ? error.message.split(". ")[0] : String(error)}. See: npm create latchkey -- --help`;
  }
}

function pickAnswers({ folder, resource, login, signUp, teams }: Given): Partial<Answers> {
  const answers = { folder, resource, login, signUp, teams };
  return Object.fromEntries(Object.entries(answers).filter(([, value]) => value !== undefined));
}

/** Returns the plan, or a sentence with the mistake. */
function buildPlan({ folder, resource, login, signUp, teams }: Answers): Plan | string {
  if (/[\0-\x1f\x7f]/.test(folder) || folder.trim() === "")
    return "The folder needs a name without control characters.";
  const base = path.basename(path.resolve(folder));
  const name = packageName(base);
  if (name === "") return `No name of a package can be made of ${JSON.stringify(folder)}. Use letters or digits.`;
  const mistake = resourceMistake(resource);
  if (mistake !== null) return mistake;
  if (teams && teamNames.has(resource)) return `${resource} is what the teams have. Choose another name.`;
  if (!isLogin(login))
    return `${JSON.stringify(login)} is no way of logging in. There are ${Object.keys(logins).join(", ")}.`;
  return { folder, name, title: toTitle(base), resource, login, signUp: signUp || teams, teams };
}

/** Reads a file that the build has written: the versions of this release, or the locks. */
function readBuilt<T>(name: "versions" | "locks"): T {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, `${name}.json`), "utf8")) as T;
}

function nextSteps({ folder }: Plan, files: readonly string[]): string {
  const where = path.relative(process.cwd(), path.resolve(folder));
  const quoted = /^[\w./-]+$/.test(where) ? where : `'${where.replaceAll("'", `'\\''`)}'`;
  const isColoured = process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "";
  const made = isColoured ? styleText("green", "Made") : "Made";
  const steps = [...(where === "" ? [] : [`cd ${quoted}`]), "npm install", "npm run dev", "npm test"];
  return `${made} ${where === "" ? "." : where}: ${files.length} files.\n\nNext:\n${steps.map((step) => `  ${step}`).join("\n")}\n\nREADME.md shows the first request.\n`;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

function fail(message: string, status: number): number {
  process.stderr.write(`${message}\n`);
  return status;
}

process.exitCode = await run(process.argv.slice(2));
