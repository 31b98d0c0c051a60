import { readFileSync } from "node:fs";
import path from "node:path";
import { providersMistakes, type IdentityProviderDeclaration } from "../../door/auth.ts";
import { Secret } from "../../door/index.ts";
import { isObject } from "../objects.ts";
import { readErrorCode } from "./error.ts";
import { checkKeyIsClosed } from "./open-key.ts";
import type { Readings } from "./reading.ts";

/** The members of an entry in the file, and their names in a declaration. */
const members = {
  id: "id",
  title: "title",
  issuer: "issuer",
  client_id: "clientId",
  client_secret: "clientSecret",
  scopes: "scopes",
  create: "create",
  trust_email: "trustEmail",
  level: "level",
} as const satisfies Readonly<Record<string, keyof IdentityProviderDeclaration>>;

const shape = '[{"id", "title", "issuer", "client_id", "client_secret_file"}]';

/**
 * Reads the identity providers from the JSON file. Adds every mistake to `problems`, each with a JSON pointer into the
 * file.
 */
export function readIdentityProviders(
  { identityProviders, publicURL, schemes }: Readings,
  problems: string[],
): readonly IdentityProviderDeclaration[] {
  const { value: file, label } = identityProviders;
  if (file === null) return [];
  if (publicURL.value === null && !publicURL.isWrong)
    problems.push(`${publicURL.label} is missing. Give the public address of the service, because ${label} is given.`);
  if (!schemes.isWrong && !schemes.value.includes("session"))
    problems.push(
      `${label} is set, but ${schemes.label} does not contain session. Add session there, or remove this setting.`,
    );
  const read = readEntries(file);
  if ("wrong" in read) {
    problems.push(`${label} names ${file}, ${read.wrong}`);
    return [];
  }
  const reading: ReadingFile = { file, label, problems };
  const isOpenSecret = read.entries.some((entry) => isObject(entry) && entry["client_secret"] !== undefined);
  if (isOpenSecret) problems.push(...checkKeyIsClosed(identityProviders));
  const declared = read.entries.map((entry, at) =>
    isObject(entry) ? readDeclaration(entry, `/${at}`, reading) : entry,
  );
  const mistakes = providersMistakes(declared);
  problems.push(...mistakes.map((mistake) => `${label}: ${withPointer(mistake)}${mistake.endsWith("?") ? "" : "."}`));
  return mistakes.length > 0 ? [] : (declared as readonly IdentityProviderDeclaration[]);
}

interface ReadingFile {
  readonly file: string;
  readonly label: string;
  readonly problems: string[];
}

function readEntries(file: string): { readonly entries: readonly unknown[] } | { readonly wrong: string } {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return { wrong: `which cannot be read (${readErrorCode(error)}). Name a JSON file that this process may read.` };
  }
  try {
    const entries: unknown = JSON.parse(text);
    if (Array.isArray(entries)) return { entries };
  } catch {
    // Does not show the text, which may contain a secret.
  }
  return { wrong: `which is not a JSON array. Write ${shape} in it.` };
}

/** Returns the declaration of an entry. Its values are checked afterwards. */
function readDeclaration(
  entry: Readonly<Record<string, unknown>>,
  pointer: string,
  reading: ReadingFile,
): Readonly<Record<string, unknown>> {
  const { client_secret_file: secretFile, ...rest } = entry;
  const named = Object.entries(rest).map(([name, value]) => [
    Object.hasOwn(members, name) ? members[name as keyof typeof members] : name,
    value,
  ]);
  const declared = Object.fromEntries(named) as Readonly<Record<string, unknown>>;
  const { scopes } = declared;
  // The scopes may also be one text with spaces, like the parameter `scope`.
  const split = typeof scopes === "string" ? { scopes: scopes.split(" ") } : {};
  return { ...declared, ...split, ...readSecret(declared["clientSecret"], secretFile, pointer, reading) };
}

function readSecret(
  inlineSecret: unknown,
  file: unknown,
  pointer: string,
  { file: ofEntry, label, problems }: ReadingFile,
): { readonly clientSecret?: Secret } {
  // A placeholder, so that later checks do not report the same mistake as a missing secret.
  const placeholder = new Secret("none");
  if (inlineSecret !== undefined && file !== undefined) {
    problems.push(`${label}: ${pointer} has client_secret and client_secret_file. Keep one of them.`);
    return { clientSecret: placeholder };
  }
  if (inlineSecret === undefined && file === undefined) {
    problems.push(
      `${label}: ${pointer} has no client_secret_file. Write the secret of the provider into a file and name it.`,
    );
    return { clientSecret: placeholder };
  }
  if (file === undefined) {
    if (isSecretText(inlineSecret)) return { clientSecret: new Secret(inlineSecret) };
    problems.push(
      `${label}: ${pointer}/client_secret is not a text of 1 to 4096 characters. Write the secret of the provider.`,
    );
    return { clientSecret: placeholder };
  }
  return {
    clientSecret: readSecretFile(file, `${label}: ${pointer}/client_secret_file`, ofEntry, problems) ?? placeholder,
  };
}

/** A relative path starts at the folder of the JSON file. */
function readSecretFile(fileName: unknown, label: string, jsonFile: string, problems: string[]): Secret | null {
  if (typeof fileName !== "string" || fileName === "") {
    problems.push(`${label} is not a path. Name the file with the secret.`);
    return null;
  }
  const file = path.resolve(path.dirname(jsonFile), fileName);
  problems.push(...checkKeyIsClosed({ value: file, label }));
  try {
    const secret = readFileSync(file, "utf8").trim();
    if (isSecretText(secret)) return new Secret(secret);
    problems.push(`${label}: ${file} holds no secret: one line of 1 to 4096 characters.`);
  } catch (error) {
    problems.push(
      `${label}: ${file} cannot be read (${readErrorCode(error)}). Name a file that this process may read.`,
    );
  }
  return null;
}

function isSecretText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 4096 && !/[\u0000-\u001f\u007f]/.test(value);
}

/** Turns `providers[0].clientId` into `/0/client_id`. */
function withPointer(mistake: string): string {
  const written = Object.fromEntries(Object.entries(members).map(([name, declared]) => [declared, name]));
  return mistake
    .replaceAll(/\bproviders\[(\d+)\](?:\.(\w+))?/g, (_, at: string, member?: string) =>
      member === undefined ? `/${at}` : `/${at}/${written[member] ?? member}`,
    )
    .replaceAll(/\b(?:clientId|clientSecret|trustEmail)\b/g, (name) => written[name]!);
}
