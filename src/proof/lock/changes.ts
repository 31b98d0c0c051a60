import { parseLock } from "./lock-file.ts";
import type { DeclaredPermissions } from "./permissions-of.ts";
import {
  ANY_USER,
  ANYONE,
  compareTexts,
  formatActorCondition,
  formatSentence,
  NOBODY_ELSE,
  parseSentence,
  type Sentence,
} from "./sentence.ts";

/** The sentences about one action, endpoint or field before and after a change. */
interface Changed {
  readonly what: string;
  readonly before: readonly Sentence[];
  readonly after: readonly Sentence[];
}

/** Returns what has changed since a lock was written, in sentences. None: the lock fits. */
export function describeChanges(lock: string, { sections, fields }: DeclaredPermissions): readonly string[] {
  const before = parseLock(lock);
  const after = sections.flat();
  const unreadable = before.filter((line) => parseSentence(line) === null).map((line) => `no longer: ${line}`);
  const [old, now] = [groupByWhat(before), groupByWhat(after)];
  const whats = [...new Set([...old.keys(), ...now.keys()])].toSorted(compareTexts);
  const changes = whats.flatMap((what) =>
    describe({ what, before: old.get(what) ?? [], after: now.get(what) ?? [] }, fields),
  );
  return [...unreadable, ...changes];
}

function groupByWhat(lines: readonly string[]): ReadonlyMap<string, readonly Sentence[]> {
  return Map.groupBy(
    lines.flatMap((line) => parseSentence(line) ?? []),
    ({ what }) => what,
  );
}

function describe(changed: Changed, fields: ReadonlySet<string>): readonly string[] {
  const [had, has] = [hasRule(changed.before), hasRule(changed.after)];
  if (had && !has) return [describeRemovedRule(changed, fields)];
  if (!had && has) return [describeNewRule(changed)];
  const missing = (from: readonly Sentence[], among: readonly Sentence[]): readonly Sentence[] => {
    const known = new Set(among.map(formatSentence));
    return from.filter((sentence) => !known.has(formatSentence(sentence)));
  };
  return describeActors({
    ...changed,
    added: missing(changed.after, changed.before),
    removed: missing(changed.before, changed.after),
  });
}

function hasRule(sentences: readonly Sentence[]): boolean {
  return sentences.some(({ subject }) => subject === NOBODY_ELSE);
}

function describeNewRule({ what, after }: Changed): string {
  const actors = after.filter(({ subject }) => subject !== NOBODY_ELSE).map(formatActor);
  return actors.length === 0 ? `nobody may now ${what}` : `only ${joinNames(actors)} may now ${what}`;
}

/** Without a rule, a field is read and written with its record. A removed field has no rule either. */
function describeRemovedRule({ what }: Changed, fields: ReadonlySet<string>): string {
  const [, verb = "", field = ""] = /^(\w+) (.*)$/.exec(what) ?? [];
  const resource = field.replace(/^\S+ of /, "");
  return fields.has(field)
    ? `everyone who may ${verb} ${resource} may now ${what}`
    : `${field} is gone, with its rule to ${verb} it`;
}

interface ChangedActors extends Changed {
  readonly added: readonly Sentence[];
  readonly removed: readonly Sentence[];
}

/**
 * A right that a wider one replaces is not lost, and the rest of a narrowed right is not new. Such changes are part of
 * the sentence about the wider right.
 */
function describeActors({ before, after, added, removed }: ChangedActors): readonly string[] {
  const described: string[] = [];
  const paired = new Set<Sentence>();
  for (const one of added) {
    const other = removed.filter(({ subject }) => subject === one.subject);
    if (other.length !== 1 || added.filter(({ subject }) => subject === one.subject).length !== 1) continue;
    paired.add(one).add(other[0]!);
    described.push(`${one.subject} may ${one.what}: now ${formatCondition(one)}, before ${formatCondition(other[0]!)}`);
  }
  const rest = (all: readonly Sentence[]): readonly Sentence[] => all.filter((each) => !paired.has(each));
  for (const one of rest(added))
    if (!before.some((other) => covers(other, one)))
      described.push(formatSentence({ ...one, what: `now ${one.what}` }));
  for (const one of rest(removed)) {
    if (after.some((other) => covers(other, one))) continue;
    const still = rest(added)
      .filter((other) => covers(one, other))
      .map(formatActor);
    described.push(
      `${formatSentence({ ...one, what: `no longer ${one.what}` })}${still.length === 0 ? "" : `; still may: ${joinNames(still)}`}`,
    );
  }
  // Rights that follow from others in the lock itself: they are shown unchanged.
  return described.length > 0 ? described : describeEach(added, removed);
}

function describeEach(added: readonly Sentence[], removed: readonly Sentence[]): readonly string[] {
  return [
    ...added.map((one) => formatSentence({ ...one, what: `now ${one.what}` })),
    ...removed.map((one) => formatSentence({ ...one, what: `no longer ${one.what}` })),
  ];
}

function formatCondition({ conditions }: Sentence): string {
  return conditions.length === 0 ? "always" : `only if ${conditions.join(" and ")}`;
}

function formatActor({ subject, conditions }: Sentence): string {
  return conditions.length === 0 ? subject : `${subject} (if ${conditions.join(" and ")})`;
}

function joinNames(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)!}`;
}

/** Returns true if each caller of the second sentence is one of the first. */
function covers(wide: Sentence, narrow: Sentence): boolean {
  const conditions = new Set(narrow.conditions);
  return coversActor(wide.subject, narrow) && wide.conditions.every((condition) => conditions.has(condition));
}

function coversActor(wide: string, { subject, conditions }: Sentence): boolean {
  if (wide === subject || wide === ANYONE) return true;
  if (wide === ANY_USER) return subject !== ANYONE;
  const actors = [formatActorCondition(subject), ...conditions];
  // "members with role owner of the project" are also "members of the project".
  const wider = actors.map((actor) => actor.replace(/ with .* of the /, " of the "));
  return [...actors, ...wider].includes(formatActorCondition(wide));
}
