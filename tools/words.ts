/**
 * Finds comments and messages that are hard to read, names in words of no standard, and commit subjects that are not
 * imperative. `npm run words` runs it, and exits with 1 above the limit. `npm run words -- src/http` shows the
 * sentences of a folder. The script knows patterns, not meaning: rewrite a sentence for a reader, not for the script.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseSync, Visitor } from "oxc-parser";

/** Most comments and most messages that may be flagged, in percent. */
const MOST_PERCENT = 2;

/** The newest commits whose subjects are checked. */
const COMMITS = 20;

/** Longest subject, without its type, in characters. */
const LONGEST_SUBJECT = 72;

/** Patterns that a plain sentence does not contain, and the advice for each. */
const rules: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/\b(?:who|whom|what|which)(?:so)?ever\b/i, "name the subject"],
  [/\b(?:no|any|some|every)body\b/i, "name the subject: no user, another process, every caller"],
  [/^(?:What|Who|Whose|Whom|Of|Where|That)\b[^?]*$/, "begin with the subject or with a verb"],
  [/\bwhere (?:it|its|they|there|one|that|this|he|she|we|none|the caller|a caller)\b/i, "write if, or when"],
  [/\b(?:is|are|was|were|be|been|being|get|gets) told\b/i, "use log, report, return, warn or show"],
  [/\b(?:tells|told) (?:of|that|it|what|who|whether|how)\b/i, "use log, report, return, warn or show"],
  [/\bstands?\b(?! (?:for|out|alone)\b)|\bstood\b/i, "use is, is in, is stored or remains"],
  [
    /\b(?:begun|meanwhile|thereof|wherein|whereby|hence|likewise|beforehand|anew|alike|besides|onwards?|thus|upon)\b/i,
    "use a plain word",
  ],
  [/\b(?:is|are|has|have) (?:gone|ended)\b|\bcomes? to an end\b/i, "use deleted, closed, expired, revoked or stopped"],
  [/\bbut for\b|\bfor the sake of\b|\bone's own\b|\bof (?:one's|its|their|his) own\b/i, "say it directly"],
];

interface Flagged {
  readonly file: string;
  readonly sentence: string;
  readonly advice: string;
}

/** Returns the sentences of a text that a rule flags. */
function flag(file: string, text: string): readonly Flagged[] {
  const plain = text.replace(/`[^`]*`/g, "`x`").replace(/\{@link [^}]*\}/g, "x");
  return plain.split(/(?<=[.!?:;])\s+|\n{2,}/).flatMap((each) => {
    const sentence = each.trim();
    const rule = sentence.length < 12 ? undefined : rules.find(([pattern]) => pattern.test(sentence));
    return rule === undefined ? [] : [{ file, sentence, advice: rule[1] }];
  });
}

/** Names of variables, functions and members that say nothing, or say it in words of no standard. */
const oldNames = /^#?(?:tell|told|telling|heard|anew|kept)$|^#?(?:tell|told|kept)[A-Z]|(?:Told|Heard|Anew)(?:[A-Z]|$)/;

/** Returns the names in a file that the pattern matches. */
function collectOldNames(file: string): readonly string[] {
  const found = new Set<string>();
  new Visitor({
    Identifier: ({ name }) => oldNames.test(name) && found.add(name),
    PrivateIdentifier: ({ name }) => oldNames.test(name) && found.add(`#${name}`),
  }).visit(parseSync(file, readFileSync(file, "utf8")).program);
  return [...found];
}

/** The fewest words of a text in the code that is for a reader, and not a name, a path or a type. */
const FEWEST_WORDS = 4;

/** Returns the texts in the code of a file: messages, titles, descriptions. The values inside a template become `x`. */
function collectMessages(file: string): readonly string[] {
  const found: string[] = [];
  const add = (text: string): void => {
    if (text.trim().split(/\s+/).length >= FEWEST_WORDS) found.push(text);
  };
  new Visitor({
    Literal: ({ value }) => typeof value === "string" && add(value),
    TemplateLiteral: ({ quasis }) => add(quasis.map(({ value }) => value.raw).join("`x`")),
  }).visit(parseSync(file, readFileSync(file, "utf8")).program);
  return found;
}

/** Returns the comments of a file without their marks. Line comments that follow each other are one comment. */
function collectComments(file: string): readonly string[] {
  const text = readFileSync(file, "utf8");
  const found: string[] = [];
  let end = -1;
  for (const comment of parseSync(file, text).comments) {
    const body = comment.value.replace(/^[ \t]*\*/gm, "").trim();
    const continues = comment.type === "Line" && end >= 0 && /^\n[ \t]*$/.test(text.slice(end, comment.start));
    if (continues) found.push(`${found.pop()} ${body}`);
    else if (!/^(?:@ts-|oxlint)/.test(body)) found.push(body);
    end = comment.type === "Line" ? comment.end : -1;
  }
  return found;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const git = (...parameters: readonly string[]): string[] =>
  execFileSync("git", parameters, { encoding: "utf8", maxBuffer: 2 ** 26 })
    .split("\n")
    .filter(Boolean);

/**
 * Returns the mistake in the subject of a commit. Returns null if there is none. A subject without a type comes from a
 * merge.
 */
function findMistake(subject: string): string | null {
  const rest = /^\w+(?:\([^)]*\))?!?: (.*)$/.exec(subject)?.[1];
  if (rest === undefined) return null;
  const [first = ""] = rest.split(" ");
  if (rest.length > LONGEST_SUBJECT) return `longer than ${LONGEST_SUBJECT} characters after its type`;
  const isVerb =
    /^[a-z]+$/.test(first) && !/(?:[^s]s|ed|ing)$/.test(first.replace(/^(?:bring|need|speed|feed)$/, "do"));
  return isVerb && !/^(?:a|an|the|no|not|what|who|where|when|if|of|in|on)$/.test(first) ? null : "not imperative";
}

const [place] = process.argv.slice(2);
const folders = place === undefined ? ["src", "tests", "tools", "bench", "create", "examples"] : [place];
const files = git("ls-files", "--", ...folders).filter((file) => /\.(?:ts|mts|js|mjs)$/.test(file));
const kinds = {
  comments: files.flatMap((file) => collectComments(file).map((text) => flag(file, text))),
  messages: files
    .filter((file) => file.startsWith("src/") && !file.endsWith(".test.ts"))
    .flatMap((file) => collectMessages(file).map((text) => flag(file, text))),
};
let isHard = false;
for (const [kind, texts] of Object.entries(kinds)) {
  const flagged = texts.filter((each) => each.length > 0);
  const percent = (100 * flagged.length) / Math.max(texts.length, 1);
  isHard ||= percent > MOST_PERCENT;
  if (place !== undefined || percent > MOST_PERCENT)
    for (const { file, sentence, advice } of flagged.flat()) print(`${file}: ${sentence}\n  ${advice}`);
  print(
    `${flagged.length} of ${texts.length} ${kind} are hard to read: ${percent.toFixed(1)} % (at most ${MOST_PERCENT} %)`,
  );
}

const named = files
  .filter((file) => file.startsWith("src/"))
  .flatMap((file) => collectOldNames(file).map((name) => `${file}: ${name}`));
for (const line of named) print(`${line}\n  use the term of the field: report, log, received, again, stored`);

const subjects = place === undefined ? git("log", "--no-merges", `-${COMMITS}`, "--format=%s") : [];
const wrong = subjects.flatMap((subject) => {
  const mistake = findMistake(subject);
  return mistake === null ? [] : [`commit subject: ${subject}\n  ${mistake}`];
});
for (const line of wrong) print(line);
process.exitCode = isHard || wrong.length > 0 || named.length > 0 ? 1 : 0;
