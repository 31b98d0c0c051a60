import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { fillLock } from "./lock.ts";
import { toPlural, toVariable, type Plan } from "./names.ts";
import { firstRequest, howToSignUp, howToWrite, listDrafts, teamsRow } from "./readme.ts";

/** Thrown with a message for the user. Nothing was created, or everything was undone. */
export class CreateError extends Error {}

const template = path.join(import.meta.dirname, "../template");
/** The files of a project with teams. They come in place of those of the template, or beside them. */
const teamsTemplate = path.join(import.meta.dirname, "../teams");

/** The exact versions that the project is made with: those that this release was tested with. */
export interface Versions {
  readonly latchkey: string;
  readonly node: string;
  readonly typescript: string;
  readonly nodeTypes: string;
}

/**
 * Every file of the project, by its path with slashes. `lock` has the permissions of the template with the answers of
 * the plan. Null: the project has no lock yet. package.json comes last: without it nothing looks like a project.
 */
export function projectFiles(plan: Plan, versions: Versions, lock: string | null): ReadonlyMap<string, string> {
  const files = new Map([template, ...(plan.teams ? [teamsTemplate] : [])].flatMap(collectFiles));
  const made = [...files.keys()]
    .toSorted()
    .map(
      (name) => [toFileName(name, plan), fill(readFileSync(files.get(name)!, "utf8"), name, plan, versions)] as const,
    );
  return new Map([
    ...made,
    ...(lock === null ? [] : [["permissions.lock", fillLock(lock, toPlural(plan.resource))] as const]),
    ["package.json", formatPackageJSON(plan, versions)],
  ]);
}

/** Returns the files of a folder, by their paths in it with slashes. */
function collectFiles(folder: string): readonly (readonly [string, string])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => [path.relative(folder, file).split(path.sep).join("/"), file] as const);
}

/**
 * npm leaves dot files out of packages, or renames them: in the template they begin with `_`. The settings of the
 * compiler are not those of this repository.
 */
function toFileName(file: string, { resource }: Plan): string {
  return file
    .replace(/(^|\/)_/, "$1.")
    .replace(".template.", ".")
    .replace("books", toPlural(resource).replaceAll("_", "-"));
}

/** The template is a project that works, of books: their words become the words of the plan. */
function fill(text: string, file: string, plan: Plan, versions: Versions): string {
  const { name, title, resource, login, signUp, teams } = plan;
  const plural = toPlural(resource);
  const isCode = file.endsWith(".ts");
  const words: Readonly<Record<string, string>> = {
    book: isCode ? toVariable(resource) : resource.replaceAll("_", " "),
    books: isCode ? toVariable(plural) : plural,
    mountedBooks: toVariable(`mounted_${plural}`),
  };
  return (
    text
      .replaceAll(/"(books?)"/g, (_, word: string) => JSON.stringify(word === "book" ? resource : plural))
      .replaceAll(/\/books\b(?!\.)/g, `/${plural}`)
      .replaceAll(/\/books(?=\.(?:test\.)?ts)/g, `/${plural.replaceAll("_", "-")}`)
      .replaceAll(/(?<!\/)\b(?:books?|mountedBooks)\b/g, (word) => words[word]!)
      .replaceAll("my-api", name)
      .replaceAll('"My API"', () => JSON.stringify(title))
      .replaceAll("My API", () => title)
      .replace('  settings: { schemes: ["session"] },\n', signUp ? signUpSettings : "$&")
      .replace('["session"]', JSON.stringify([login]))
      .replace(/(?<=How people log in\. Others: ).*?(?=\. S)/, otherLogins(login))
      // A session has no registered challenge, so an unknown caller gets 403. The other methods answer 401.
      .replace(
        '403, "authentication_failed"',
        login === "session" ? '403, "authentication_failed"' : '401, "not_authenticated"',
      )
      .replaceAll("NODE_VERSION", versions.node)
      .replaceAll("FIRST_REQUEST", () => firstRequest(teams, plural))
      .replaceAll("HOW_TO_WRITE", () => howToWrite(login, listDrafts(teams, plural)))
      .replace("HOW_TEAMS_WORK\n", () => (teams ? teamsRow : ""))
      .replace("HOW_TO_SIGN_UP\n", () => (signUp ? howToSignUp : ""))
  );
}

/** The settings of a project in which people sign up. */
const signUpSettings = `  settings: {
    schemes: ["session"],
    // Everyone may create an account, and proves an e-mail address first.
    registration: "verified",
    // Each mail is a file in mails/. In production, LATCHKEY_MAIL_URL names a mail server, and LATCHKEY_MAIL_FROM the sender.
    mailURL: "file:mails",
    mailFrom: "no-reply@example.com",
  },
`;

function otherLogins(login: string): string {
  return ["session", "basic", "token", "bearer"].filter((each) => each !== login).join(", ");
}

function formatPackageJSON({ name }: Plan, { latchkey, node, typescript, nodeTypes }: Versions): string {
  const project = {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: {
      dev: "latchkey dev",
      start: "latchkey",
      test: "latchkey prove --check && node --test",
      types: "tsc --noEmit",
    },
    dependencies: { latchkey },
    // npm puts it first on the path of the scripts, so they work where the system has an older Node. Its binary comes
    // by a script.
    devDependencies: { "@types/node": nodeTypes, node, typescript },
    allowScripts: { node: true },
  };
  return `${JSON.stringify(project, null, 2)}\n`;
}

/**
 * Writes the project, or nothing: a folder that is new comes into being whole, and one that is there has to be empty.
 */
export function writeProject(folder: string, files: ReadonlyMap<string, string>): void {
  const there = requireEmpty(folder);
  // Not in the middle of it: it takes some milliseconds.
  const wait = (): void => undefined;
  process.on("SIGINT", wait).on("SIGTERM", wait);
  const written: string[] = [];
  let place = folder;
  try {
    if (!there) place = makeBeside(folder);
    for (const [name, text] of files) {
      const file = path.join(place, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text, { flag: "wx" });
      written.push(file);
    }
    if (!there) renameSync(place, folder);
  } catch (error) {
    takeBack(place, written, there);
    throw new CreateError(
      `${folder} cannot be written (${getErrorCode(error)}). ${describeCure(error)} Nothing was made.`,
    );
  } finally {
    process.off("SIGINT", wait).off("SIGTERM", wait);
  }
}

/** Returns a new folder with a unique name and the usual permissions. */
function makeBeside(folder: string): string {
  mkdirSync(path.dirname(folder), { recursive: true });
  const place = mkdtempSync(`${folder}.new-`);
  chmodSync(place, 0o777 & ~process.umask());
  return place;
}

/** Returns true if the folder exists. Throws if it is not empty. */
function requireEmpty(folder: string): boolean {
  const mistake = folderMistake(folder);
  if (mistake !== null) throw new CreateError(`${mistake} Nothing was written.`);
  return existsSync(folder);
}

/** Returns the reason why a project cannot be created there, or null. A repository without files counts as empty. */
export function folderMistake(folder: string): string | null {
  if (!existsSync(folder)) return null;
  let found: readonly string[];
  try {
    found = readdirSync(folder).filter((name) => name !== ".git");
  } catch (error) {
    return `${folder} is no folder that can be read (${getErrorCode(error)}). Choose another name.`;
  }
  if (found.length === 0) return null;
  const shown = found.slice(0, 3).join(", ") + (found.length > 3 ? ` and ${found.length - 3} more` : "");
  return `${folder} is not empty (${shown}). Choose another name, or an empty folder.`;
}

function takeBack(place: string, written: readonly string[], there: boolean): void {
  if (!there) return rmSync(place, { recursive: true, force: true });
  for (const file of written) rmSync(file, { force: true });
  for (const name of new Set(written.map((file) => path.relative(place, file).split(path.sep)[0]!)))
    if (written.some((file) => file.startsWith(path.join(place, name) + path.sep)))
      rmSync(path.join(place, name), { recursive: true, force: true });
}

function getErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

function describeCure(error: unknown): string {
  switch (getErrorCode(error)) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return "You may not write there: choose another place.";
    case "ENOSPC":
      return "The disk is full: make room.";
    default:
      return "Choose another place.";
  }
}
