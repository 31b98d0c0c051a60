/** One permission: `editor may delete orders, if their role is …`. */
export interface Sentence {
  readonly subject: string;
  /** The action with its resource, or the verb with its field: `delete orders`, `read budget of projects`. */
  readonly what: string;
  /** Empty if there is no condition. */
  readonly conditions: readonly string[];
}

/** The subject of callers who may be unknown. */
export const ANYONE = "anyone";

/** The subject of callers who are logged in. */
export const ANY_USER = "any logged-in user";

/** The subject of the sentence that a field has a rule. */
export const NOBODY_ELSE = "nobody else";

/** Returns the condition that a caller is also this actor. */
export function formatActorCondition(subject: string): string {
  return `they are ${subject}`;
}

export function formatSentence({ subject, what, conditions }: Sentence): string {
  return `${subject} may ${what}${conditions.length === 0 ? "" : `, if ${conditions.join(" and ")}`}`;
}

/** Parses a line of a lock. Returns null if it is not a sentence. */
export function parseSentence(line: string): Sentence | null {
  const parts = /^(.+?) may (.+?)(?:, if (.+))?$/.exec(line);
  if (parts === null) return null;
  return { subject: parts[1]!, what: parts[2]!, conditions: parts[3]?.split(" and ") ?? [] };
}

/** Formats sentences, each once: by resource or field, and then by actor, so that a reader compares actors. */
export function sortSentences(sentences: readonly Sentence[]): readonly string[] {
  const keyed = sentences.map((sentence) => ({ text: formatSentence(sentence), keys: sortKeys(sentence) }));
  const sorted = keyed.toSorted((one, other) => {
    const at = one.keys.findIndex((key, place) => key !== other.keys[place]);
    return at === -1 ? 0 : compareTexts(one.keys[at]!, other.keys[at]!);
  });
  return [...new Set(sorted.map(({ text }) => text))];
}

/** Fields follow actions. Endpoints are sorted by path. The last sentence about a field says that it has a rule. */
function sortKeys({ subject, what, conditions }: Sentence): readonly string[] {
  const isOfField = /^(read|write) \w+ of /.test(what) ? "1" : "0";
  const path = what.replace(/^call ([A-Z]+) (.*)$/, "call $2 $1");
  return [isOfField, path, subject === NOBODY_ELSE ? "1" : "0", subject, conditions.join(" and ")];
}

/** Compares by code units, so that every machine sorts in the same way. */
export function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
