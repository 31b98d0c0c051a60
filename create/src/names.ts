/** The project to create: checked names, and the login method. */
export interface Plan {
  /** The folder of the project. `.` for the current one. */
  readonly folder: string;
  /** The name in package.json. */
  readonly name: string;
  /** The title for people, in pages and in the documentation. */
  readonly title: string;
  /** The name of the resource in the singular: `order_line`. */
  readonly resource: string;
  readonly login: Login;
  /** True if people create their own accounts, with an address that they prove by mail. */
  readonly signUp: boolean;
  /** True if records belong to projects with members. */
  readonly teams: boolean;
}

/** The login methods to choose from, with their descriptions. */
export const logins = {
  session: "a cookie, for people with a browser",
  bearer: "tokens that are refreshed, for apps and other sites",
  token: "one token each, for scripts",
  basic: "name and password with each request",
} as const;

export type Login = keyof typeof logins;

export function isLogin(text: string): text is Login {
  return Object.hasOwn(logins, text);
}

/** Returns a name that npm accepts for any folder name. Empty if no part can be used. */
export function packageName(folder: string): string {
  return folder
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 100);
}

/** Returns the title of the project: the folder's name, or the package name in words if they are the same. */
export function toTitle(folder: string): string {
  if (/[^a-z0-9-]/.test(folder)) return folder;
  const words = folder.split("-").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return words.join(" ").replaceAll(/\bApi\b/g, "API");
}

/** Returns the mistake in the name of a resource, or null. */
export function resourceMistake(name: string): string | null {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name) || name.length > 40)
    return `${JSON.stringify(name)} is no name of a resource. Write one of them, in small letters, digits and underscores: book, order_line.`;
  if (taken.has(name)) return `${name} is what the service itself has. Choose another name.`;
  if (reserved.has(toVariable(toPlural(name))) || reserved.has(toVariable(name)))
    return `${name} is a word of JavaScript. Choose another name.`;
  return null;
}

/** Names of existing resources, tables and paths. */
const taken = new Set(
  "user account session key api_token api problem doc metric live health console latchkey outbox import revocation binding family".split(
    " ",
  ),
);

/** Names that the files of teams use. */
export const teamNames: ReadonlySet<string> = new Set(["project", "projects", "member", "members", "member_of"]);

/** Words that are no name of a variable in a module, and the names that the files of the project import. */
const reserved = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function " +
    "if implements import in instanceof interface let new null package private protected public return static super switch this throw true try " +
    "typeof var void while with yield administrator anyOf caller config mount owner readOnly reference text test assert factory api draft made read"
  ).split(" "),
);

/** Many of them, as English has it for most words: `books`, `boxes`, `stories`. */
export function toPlural(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/.test(name) ? `${name}es` : `${name}s`;
}

/** Returns `order_lines` as a variable: `orderLines`. */
export function toVariable(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
