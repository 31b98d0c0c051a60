/** What is to be made: names that were checked, and the way of logging in. */
export interface Plan {
  /** Where the project stands; `.` for the folder one is in. */
  readonly folder: string;
  /** The name in package.json. */
  readonly name: string;
  /** What people call it, as its pages and its documentation do. */
  readonly title: string;
  /** One of what is kept, as the resource is called: `order_line`. */
  readonly resource: string;
  readonly login: Login;
}

/** The ways of logging in that can be chosen, each with what is said of it. */
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

/** A name that npm takes, from whatever a folder is called; empty where nothing of it can be used. */
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

/** What the project is called by people: the folder's own name, or that of the package in words where it is no more than that. */
export function titleOf(folder: string): string {
  if (/[^a-z0-9-]/.test(folder)) return folder;
  const words = folder.split("-").map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return words.join(" ").replaceAll(/\bApi\b/g, "API");
}

/** What is wrong with the name of a resource; null where nothing is. */
export function resourceMistake(name: string): string | null {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name) || name.length > 40)
    return `${JSON.stringify(name)} is no name of a resource. Write one of them, in small letters, digits and underscores: book, order_line.`;
  if (taken.has(name)) return `${name} is what the service itself has. Choose another name.`;
  if (reserved.has(variableOf(pluralOf(name))) || reserved.has(variableOf(name)))
    return `${name} is a word of JavaScript. Choose another name.`;
  return null;
}

/** Resources, tables and addresses that are there already. */
const taken = new Set(
  "user account session key api_token api problem doc metric live health console latchkey outbox import revocation binding family".split(
    " ",
  ),
);

/** Words that are no name of a variable in a module, and the names that the files of the project import. */
const reserved = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function " +
    "if implements import in instanceof interface let new null package private protected public return static super switch this throw true try " +
    "typeof var void while with yield administrator anyOf caller config mount owner readOnly reference text test assert factory api draft made read"
  ).split(" "),
);

/** Many of them, as English has it for most words: `books`, `boxes`, `stories`. */
export function pluralOf(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/.test(name) ? `${name}es` : `${name}s`;
}

/** `order_lines` as a variable: `orderLines`. */
export function variableOf(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
