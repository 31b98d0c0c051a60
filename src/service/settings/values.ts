import { isIP } from "node:net";
import { parsePasswordCost, type PasswordCost } from "../../door/auth.ts";
import { parseBasePath, parseOrigin, parseTrustedProxies } from "../../door/http.ts";
import { Secret } from "../../door/index.ts";
import { nearest } from "../../door/resources.ts";
import { aTablePrefix, isPostgresURL, postgresURLMistakes } from "../../door/stores.ts";

/**
 * The value of a setting, or the mistakes in its text. Each mistake is a sentence without its first word, the name of
 * the setting, which later code adds. `besides` is the part of the value that is usable despite the mistakes, so that
 * later checks can use it.
 */
export type Parsed<T> = { readonly value: T } | { readonly wrong: readonly string[]; readonly besides?: T };

/** Reads the text of a setting. */
export type Parse<T> = (text: string) => Parsed<T>;

/** The names of the built-in schemes. */
export type SchemeName = (typeof schemeNames)[number];

/** The database that stores all data. */
export type Database = (
  | { readonly kind: "sqlite"; /** The path of the file, or `:memory:`. */ readonly path: string }
  | { readonly kind: "postgres"; readonly url: Secret }
) & {
  /** The prefix of the service's table names. */
  readonly tablePrefix?: string;
};

/** The name of the service. */
export const serviceName = "latchkey";
/**
 * The first administrator's e-mail if the username is not one. Its domain is reserved and can never be registered (RFC
 * 2606 §2), and validators accept it.
 */
export const firstEmail = "admin@example.invalid";

const schemeNames = ["basic", "session", "token", "bearer", "remote-user", "custom-header"] as const;
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/;

const labels = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.(?!$)|$))+$/i;

/** Header fields with a fixed meaning, which cannot carry a username. */
const takenHeaders = [
  "authorization",
  "cookie",
  "host",
  "x-custom-token",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-remote-email",
  "x-remote-name",
  "x-remote-user-secret",
];

/** Returns a valid value. */
export function right<T>(value: T): Parsed<T> {
  return { value };
}

/** Returns the mistakes. */
export function wrong(...sentences: readonly string[]): { readonly wrong: readonly string[] } {
  return { wrong: sentences };
}

/** Parses a number without sign, fraction or leading zero. */
export function wholeNumber(from: number, to: number, what = "a whole number"): Parse<number> {
  return (text) => {
    const number = /^(?:0|[1-9]\d{0,9})$/.test(text) ? Number(text) : -1;
    return number >= from && number <= to
      ? right(number)
      : wrong(`is ${shown(text)}. Write ${what} from ${from} to ${to}.`);
  };
}

/** Parses a duration in seconds. */
export function seconds(from: number, to: number): Parse<number> {
  return wholeNumber(from, to, "a whole number of seconds");
}

/** Parses one of a few words. */
export function choice<const T extends string>(...words: readonly T[]): Parse<T> {
  return (text) => {
    const word = words.find((each) => each === text);
    return word === undefined ? wrong(`is ${shown(text)}. Write ${words.join(" or ")}.`) : right(word);
  };
}

/** Parses `true` or `false`. */
export function yesOrNo(text: string): Parsed<boolean> {
  return text === "true" || text === "false"
    ? right(text === "true")
    : wrong(`is ${shown(text)}. Write true or false.`);
}

/** Parses an IP address, or a name that the system can resolve. */
export function hostName(text: string): Parsed<string> {
  // If the last part has only digits, some programs read the name as an IP address.
  const isName = text.length <= 253 && labels.test(text) && !/(?:^|\.)\d+$/.test(text);
  return isIP(text) !== 0 || isName
    ? right(text)
    : wrong(
        `is ${shown(text)}. Write an IP address (127.0.0.1, ::1, 0.0.0.0) or a host name, without port or brackets.`,
      );
}

/**
 * Parses `sqlite:PATH`, `sqlite::memory:` or `postgres://…`. Does not show an invalid value, which may contain a
 * password.
 */
export function database(text: string): Parsed<Database> {
  if (isPostgresURL(text)) {
    const url = new Secret(text);
    const mistakes = postgresURLMistakes(url);
    return mistakes.length === 0
      ? right({ kind: "postgres", url })
      : wrong(...mistakes.map((mistake) => `is wrong: ${mistake}${mistake.endsWith("?") ? "" : "."}`));
  }
  const path = text.startsWith("sqlite:") ? text.slice("sqlite:".length) : "";
  // SQLite would not read a URI, or a text that starts with a colon, as the name of a file.
  const isFile = isPlainText(path) && !/^(?::|\/\/|file:)|\/$/.test(path);
  if (isFile || path === ":memory:") return right({ kind: "sqlite", path });
  const [, other] = /^(?!sqlite|postgres|file)([a-z]{1,20}):\/\//.exec(text) ?? [];
  return wrong(
    `${other === undefined ? "names no database" : `names a database of ${other}, which is not supported`}. Write sqlite:PATH (sqlite:latchkey.db, sqlite:/var/lib/latchkey/latchkey.db), sqlite::memory: or postgres://USER:PASSWORD@HOST/NAME.`,
  );
}

/** Parses the path of a file. */
export function filePath(text: string): Parsed<string> {
  return isPlainText(text) ? right(text) : wrong(`is ${shown(text)}. Write the path of a file.`);
}

/**
 * Parses the server's secret. Earlier secrets follow on separate lines: the first one signs, all verify. The same text
 * gives the same bytes, from a file or from the environment.
 */
export function serverSecret(text: string): Parsed<Secret> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length <= 1) return oneSecret(lines[0] ?? "");
  const parsed = lines.map(oneSecret);
  const problems = parsed.flatMap((each, at) => {
    if (lines.indexOf(lines[at]!) < at) return [`has the same secret twice, on line ${at + 1}. Keep one.`];
    return "wrong" in each ? each.wrong.map((sentence) => `${sentence} (secret ${at + 1} of ${lines.length})`) : [];
  });
  if (problems.length > 0) return wrong(...problems);
  const [first, ...older] = parsed.flatMap((each) => ("value" in each ? [each.value] : []));
  return right(new Secret(first!.reveal(), older));
}

function oneSecret(text: string): Parsed<Secret> {
  const cure = "Make one with: openssl rand -base64 48";
  if ([...text].length < 32) return wrong(`is shorter than 32 characters. ${cure}`);
  if (!isPlainText(text)) return wrong(`has control characters, or white space at an end. ${cure}`);
  if (isRepeated(text, 8)) return wrong(`repeats a few characters, so it is easy to guess. ${cure}`);
  return right(new Secret(text));
}

/** Parses a secret that is sent in a header field. */
export function headerSecret(from: number): Parse<Secret> {
  const cure = "Make one with: openssl rand -hex 32";
  return (text) => {
    if (!/^[\x21-\x7e]+$/.test(text) || text.length < from || text.length > 4096)
      return wrong(`cannot travel in a header: it takes ${from} to 4096 visible ASCII characters. ${cure}`);
    // A short secret may have fewer different characters than a long one.
    return isRepeated(text, from < 32 ? 5 : 8)
      ? wrong(`repeats a few characters, so it is easy to guess. ${cure}`)
      : right(new Secret(text));
  };
}

/** Returns true if a text has fewer different characters than any generated secret. */
function isRepeated(text: string, different: number): boolean {
  return new Set(text).size < different;
}

/** Parses a password without checks. Later code applies the rules. */
export function password(text: string): Parsed<Secret> {
  return right(new Secret(text));
}

/** Parses the cost of a password hash, in the notation of hashes. */
export function passwordCost(text: string): Parsed<PasswordCost> {
  const cost = parsePasswordCost(text);
  return cost === null
    ? wrong(
        `is ${shown(text)}. Write m=19456,t=2,p=1 (KiB, passes, lanes) or a higher cost: OWASP also allows m=47104,t=1, m=12288,t=3, m=9216,t=4 and m=7168,t=5. At most m=262144, t=64, p=16, and m times t 1048576.`,
      )
    : right(cost);
}

/** Parses the name that a user logs in with. */
export function username(text: string): Parsed<string> {
  return isPlainText(text) && !text.includes(":") && [...text].length <= 150
    ? right(text)
    : wrong(
        `is ${shown(text)}. Write 1 to 150 characters without a colon, control characters, or white space at an end.`,
      );
}

/** Parses a comma-separated list of schemes. */
export function schemeList(text: string): Parsed<readonly SchemeName[]> {
  const all = schemeNames.join(", ");
  const names = splitEntries(text);
  if (names.length === 0) return wrong(`is empty. Name one or more of ${all}.`);
  const problems = names.flatMap((name, at) => {
    if (!isSchemeName(name))
      return [
        `names ${shown(name)}, which is not a scheme. The nearest is ${nearest(name, schemeNames)}; there are ${all}.`,
      ];
    return names.indexOf(name) < at ? [`names ${name} twice. Name it once.`] : [];
  });
  const validNames = names.filter(isSchemeName);
  return problems.length > 0 ? { ...wrong(...problems), besides: validNames } : right(validNames);
}

/** Parses origins exactly as browsers send them (RFC 6454 §6.2), comma-separated. */
export function originList(text: string): Parsed<readonly string[]> {
  const origins = splitEntries(text);
  const problems = origins.flatMap((origin) => {
    const exact = parseOrigin(origin);
    if (exact === origin) return [];
    const form = "scheme://host or scheme://host:port, such as https://app.example or capacitor://localhost";
    return [`has ${shown(origin)}, which is not an origin as a browser sends it. Write ${exact ?? form}.`];
  });
  return problems.length > 0 ? wrong(...problems) : right(origins);
}

/** Parses a comma-separated list of addresses, CIDR ranges and `unix`. */
export function proxyList(text: string): Parsed<readonly string[]> {
  const { proxies, problems } = parseTrustedProxies(text);
  return problems.length > 0 ? wrong(...problems.map((each) => `cannot be used. ${each}`)) : right(proxies);
}

/** Parses the name of a header field (RFC 9110 §5.1) without another meaning. */
export function headerName(text: string): Parsed<string> {
  if (!/^[\w!#$%&'*+.^`|~-]{1,100}$/.test(text)) {
    return wrong(`is ${shown(text)}, which is not the name of a header. Write one such as X-Remote-User.`);
  }
  return takenHeaders.includes(text.toLowerCase())
    ? wrong(`is ${text}, which has another use. Choose another header, such as X-Remote-User.`)
    : right(text);
}

/** Parses the path under which everything is served. Returns it without a slash at its end. */
export function basePath(text: string): Parsed<string> {
  const path = parseBasePath(text);
  return path === null
    ? wrong(`is ${shown(text)}. Write a path such as /api/v1: segments of letters, digits and -._~ behind slashes.`)
    : right(path);
}

/** Parses the prefix of table names. */
export function tablePrefix(text: string): Parsed<string> {
  return aTablePrefix(text) === null
    ? right(text)
    : wrong(
        `is ${shown(text)}. Write up to 20 lower-case letters, digits and underscores with an underscore at the end, like lk_; latchkey_, sqlite_ and pg_ are reserved.`,
      );
}

/** Parses the base of links: an absolute URL. Returns it without a slash at its end. */
export function baseURL(text: string): Parsed<string> {
  const url = parseWebURL(text);
  return url === null || /[?#]/.test(text) || url.username !== "" || url.password !== ""
    ? wrong(`is ${shown(text)}. Write an address such as https://api.example, without query, fragment or user.`)
    : right((url.origin + url.pathname).replace(/\/+$/, ""));
}

/** Parses a name that is used in tokens. */
export function issuerName(text: string): Parsed<string> {
  return isPlainText(text) && text.length <= 255
    ? right(text)
    : wrong(`is ${shown(text)}. Write up to 255 characters, without white space at an end.`);
}

function isSchemeName(text: string): text is SchemeName {
  return schemeNames.some((name) => name === text);
}

function isPlainText(text: string): boolean {
  return text !== "" && text === text.trim() && !controlCharacter.test(text) && text.isWellFormed();
}

export function splitEntries(text: string): readonly string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

function parseWebURL(text: string): URL | null {
  return /^https?:\/\/[^\s\\]+$/i.test(text) ? URL.parse(text) : null;
}

/** Returns the useful part of a value for messages, without the text before an `@` in a URL. */
export function shown(text: string): string {
  const open = text.replace(/\/\/[^/]*@/, "//…@");
  return JSON.stringify(open.length > 80 ? `${open.slice(0, 80)}…` : open);
}
