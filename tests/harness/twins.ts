import assert from "node:assert/strict";
import type { Answered } from "./serve.ts";

/**
 * Compares the answers of two services to the same request. Some values cannot be equal: request ids and the last uses
 * of credentials are left out. Tags, tokens and cookies of one service have to be twins of those of the other: always in
 * the same places.
 */
export class Twins {
  readonly #twins = [new Map<string, string>(), new Map<string, string>()] as const;

  /** Throws if an answer says something that the other one does not say. */
  requireEqual(one: Answered, other: Answered, about: string): void {
    // Most answers are equal without masks.
    if (sameAsTheyAre(one, other)) return;
    const [left, right] = [split(one), split(other)];
    if (left.text !== right.text) assert.fail(`${about}: ${findDifference(left.text, right.text)}`);
    for (const [at, value] of left.opaque.entries()) {
      const twin = right.opaque[at]!;
      for (const [known, from, to] of [
        [this.#twins[0], value, twin],
        [this.#twins[1], twin, value],
      ] as const) {
        assert.equal(known.get(from) ?? to, to, `${about}: a tag or token has changed in one service alone`);
        known.set(from, to);
      }
    }
  }
}

function sameAsTheyAre(one: Answered, other: Answered): boolean {
  if (one.status !== other.status || one.text !== other.text) return false;
  const names = new Set([...one.headers.keys(), ...other.headers.keys()]);
  return [...names].every((name) => UNLIKE.has(name) || one.headers.get(name) === other.headers.get(name));
}

/** The header fields that differ between any two answers. */
const UNLIKE = new Set(["date", "x-request-id"]);

/** Returns the first lines that differ. A whole page would be too long for a message. */
function findDifference(one: string, other: string): string {
  const [left, right] = [one.split("\n"), other.split("\n")];
  const lines = [...left.keys(), left.length].filter(
    (at) => left[at] !== right[at] && !(left[at] ?? "").startsWith("content-length"),
  );
  return lines
    .slice(0, 3)
    .map((at) => `\n- ${left[at] ?? "nothing"}\n+ ${right[at] ?? "nothing"}`)
    .join("");
}

const OPAQUE = [
  // The tag of an answer, and the tag in a page.
  /(?<=\netag: (?:W\/)?")[\w.~-]+/g,
  /(?<=(?:If-Match: |data-match="|data-header="If-Match" value="|name="_match" value="|<code>)&quot;)[\w.~-]{12,}(?=&quot;)/g,
  /(?<=<span class="s">&quot;\\&quot;)[\w.~-]{12,}(?=\\&quot;)/g,
  // The key of a form, which is drawn for each page.
  /(?<=name="_key" value=")[\w-]{36}/g,
  // Cookies and tokens, and the ids of sessions.
  /(?<=\/sessions\/|"id":"|<id>|<td class="clip"><span><bdi>|&quot;id&quot;: <span class="s">&quot;)[\w-]{16}(?=["<&])/g,
  /(?<=\nset-cookie: \w+=)[\w.~-]+/g,
  /\blk_\w+/g,
];

const REQUEST_IDS = [
  /request_id(?:"|&quot;)?: ?(?:<span class="s">)?(?:"|&quot;)([\w-]+)/,
  /<request_id>([\w-]+)/,
  /Request <code>([\w-]+)/,
  /X-Request-Id<\/dt><dd><code>([\w-]+)/,
];

/** A credential is used before its use is stored, so one service may store it later. */
const LAST_USE = /(?<=last_used_at(?:"?: ?"|>))[^"<]+/g;

/** Returns an answer as text without its opaque values, and these values. */
function split({ status, headers, text }: Answered): { readonly text: string; readonly opaque: readonly string[] } {
  const fields = [...headers].filter(([name]) => !UNLIKE.has(name));
  const opaque: string[] = [];
  let whole = `${status}\n${fields.map((each) => each.join(": ")).join("\n")}\n\n${text}`;
  for (const id of [headers.get("x-request-id"), ...REQUEST_IDS.map((each) => each.exec(text)?.[1])])
    if (typeof id === "string") whole = whole.replaceAll(id, "");
  whole = whole.replace(/\beyJ[\w-]+\.([\w-]+)\.[\w-]+/g, (_, claims: string) => showClaims(claims));
  whole = whole.replace(LAST_USE, "");
  for (const each of OPAQUE) whole = whole.replace(each, (value) => (opaque.push(value), ""));
  return { text: whole, opaque };
}

/** Returns the claims of a token without its ids. */
function showClaims(claims: string): string {
  const {
    jti: _id,
    fam: _family,
    ...others
  } = JSON.parse(Buffer.from(claims, "base64url").toString()) as object & Record<string, unknown>;
  return JSON.stringify(others);
}
