import { readFileSync } from "node:fs";
import { defineIssuers, IssuersError, type TrustedIssuer } from "../../door/auth.ts";
import type { ConfigFile } from "./config-file/config-file.ts";
import { readErrorCode } from "./error.ts";
import type { Readings } from "./reading.ts";

/**
 * Reads the outside issuers whose tokens are accepted, from the named file or from the config file. Adds every mistake
 * to `problems`.
 */
export function readIssuers(
  { issuers: named, schemes }: Readings,
  { issuers: listed }: ConfigFile,
  ownIssuer: string,
  problems: string[],
): readonly TrustedIssuer[] {
  if (named.from === null && listed === undefined) return [];
  const label = named.from === null ? listLabel : named.label;
  if (named.from === "config" && listed !== undefined)
    problems.push(`${label} and ${listLabel} are both set. Keep one of them.`);
  // An operator who declares issuers expects that their tokens are accepted, which needs the scheme bearer.
  if (!schemes.isWrong && !schemes.value.includes("bearer"))
    problems.push(
      `${label} is set, but ${schemes.label} does not contain bearer. Add bearer there, or remove this setting.`,
    );
  if (named.from === null) return define(listed, label, ownIssuer, problems);
  if (named.value === null) return [];
  const declared = readDeclarations(named.value);
  if (!("wrong" in declared)) return define(declared.value, label, ownIssuer, problems);
  problems.push(`${label} names ${named.value}, ${declared.wrong}`);
  return [];
}

const listLabel = "issuers in the config file";

function define(declared: unknown, label: string, ownIssuer: string, problems: string[]): readonly TrustedIssuer[] {
  try {
    return defineIssuers(declared, ownIssuer);
  } catch (error) {
    if (!(error instanceof IssuersError)) throw error;
    problems.push(...error.problems.map((problem) => `${label}: ${problem}`));
    return [];
  }
}

/**
 * Returns the declarations with the names of the toolkit. The file has `trust_email`, as the file of identity providers
 * does.
 */
function readMembers(declared: unknown): unknown {
  if (!Array.isArray(declared)) return declared;
  return declared.map((entry: unknown) => {
    if (typeof entry !== "object" || entry === null || !Object.hasOwn(entry, "trust_email")) return entry;
    const { trust_email: trustEmail, ...rest } = entry as Record<string, unknown>;
    return { ...rest, trustEmail };
  });
}

function readDeclarations(file: string): { readonly value: unknown } | { readonly wrong: string } {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return { wrong: `which cannot be read (${readErrorCode(error)}). Name a JSON file that this process may read.` };
  }
  try {
    return { value: readMembers(JSON.parse(text)) };
  } catch {
    return { wrong: 'which is not JSON. Write [{"issuer", "audience", "jwksURL", "algorithms"}] in it.' };
  }
}
