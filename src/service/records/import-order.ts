import { Flaw, type ServedMount } from "../../door/resources.ts";
import type { Key } from "../../door/stores.ts";
import type { ImportLine } from "./import-users.ts";
import { parseId, parseValue, type RecordReading } from "./read-record.ts";

/**
 * A line and its position in the import order. This is its line number, or a number after the last line if the record
 * waits for others.
 */
export interface OrderedLine extends ImportLine {
  readonly place: number;
  /**
   * The references to records that cannot come before this one. The record is created without them, and they are set at
   * the end.
   */
  readonly late: readonly string[];
}

/** A reference that is set at the end. */
export interface LateReference extends OrderedLine {
  readonly id: Key;
}

/**
 * The order in which the records of a file are imported. A record that refers to a later record of the file waits until
 * the whole file is read. The order depends only on the file, so a resumed import uses the same order.
 */
export interface ImportOrder {
  /** Returns the lines in the import order. A line without a record keeps its position. */
  orderLines<L extends { readonly line: number }>(lines: AsyncIterable<ImportLine | L>): AsyncIterable<OrderedLine | L>;
  /** Returns the references that are still missing after `orderLines` has returned all lines. */
  lateReferences(): readonly LateReference[];
  /** Returns the optional fields that refer only to records which `orderLines` has already returned. */
  givenReferences(record: ImportLine["record"]): readonly string[];
}

/** A field that refers to records of a resource. */
export interface FileReference {
  readonly name: string;
  /** The name of the collection of the records. */
  readonly to: string;
  /** True if a record can be created without it. */
  readonly isOptional: boolean;
}

/** Returns the references of a resource, in columns and in lists. */
export function collectReferences({ collection, links }: ServedMount): readonly FileReference[] {
  const columns = collection.columns.flatMap(({ name, nullable = false, references }) =>
    references === undefined ? [] : [{ name, to: references.collection, isOptional: nullable }],
  );
  return [...columns, ...links.map(({ field, to }) => ({ name: field, to, isOptional: true }))];
}

/**
 * Returns the ids that a field of a record refers to. An invalid value refers to none, and is refused later with its
 * line.
 */
export function readTargets(
  { resource }: ServedMount,
  name: string,
  record: ImportLine["record"],
  isText: boolean,
): readonly Key[] {
  const value = record[name] ?? null;
  const field = Object.hasOwn(resource.fields, name) ? resource.fields[name]! : null;
  const read = value === null || field === null ? null : parseValue(field, value, isText);
  if (read === null || read instanceof Flaw) return [];
  return (Array.isArray(read) ? read : [read]) as readonly Key[];
}

/** Makes the order of one import. */
export function importOrder(
  mount: ServedMount,
  { isText, withIds }: Pick<RecordReading, "isText" | "withIds">,
): ImportOrder {
  const { resource } = mount;
  // If the service assigns new ids, a reference cannot name a record by its id in the file.
  const own = withIds ? collectReferences(mount).filter(({ to }) => to === mount.collection.name) : [];
  const orderedKeys = new Set<Key>();
  const waiting: WaitingLine[] = [];
  const late: LateReference[] = [];
  let last = 0;

  /** Returns the other records that each field refers to. */
  function collectTargets({ record, id }: Pick<WaitingLine, "record" | "id">): readonly Target[] {
    return own.flatMap((field) =>
      readTargets(mount, field.name, record, isText)
        .filter((each) => each !== id)
        .map((to) => ({ field, to })),
    );
  }

  function parseKey(record: ImportLine["record"]): Key | null {
    const id = own.length === 0 ? null : parseId(record["id"], resource.id);
    return id instanceof Flaw ? null : id;
  }

  async function* orderLines<L extends { readonly line: number }>(
    lines: AsyncIterable<ImportLine | L>,
  ): AsyncGenerator<OrderedLine | L> {
    for await (const read of lines) {
      last = Math.max(last, read.line);
      if (!isRecord(read)) {
        yield read;
        continue;
      }
      const { line, record } = read;
      const each = { line, record, id: parseKey(record) };
      const targets = collectTargets(each);
      if (targets.every(({ to }) => orderedKeys.has(to))) {
        if (each.id !== null) orderedKeys.add(each.id);
        yield { line, record, place: line, late: [] };
      } else waiting.push({ ...each, targets });
    }
    for (const [each, fields] of inOrder(waiting)) {
      const { line, record, id } = each;
      if (id !== null) orderedKeys.add(id);
      const ordered = { line, record, place: ++last, late: fields };
      if (fields.length > 0 && id !== null) late.push({ ...ordered, id });
      yield ordered;
    }
  }

  return {
    orderLines,
    lateReferences: () => late.map((each, at) => ({ ...each, place: last + 1 + at })),
    givenReferences(record) {
      const targets = collectTargets({ record, id: null });
      const isGiven = ({ name }: FileReference): boolean =>
        targets.every(({ field, to }) => field.name !== name || orderedKeys.has(to));
      return own.filter((field) => field.isOptional && isGiven(field)).map(({ name }) => name);
    },
  };
}

function isRecord<L extends { readonly line: number }>(read: ImportLine | L): read is ImportLine {
  return "record" in read;
}

interface WaitingLine extends ImportLine {
  readonly id: Key | null;
  readonly targets: readonly Target[];
}

interface Target {
  readonly field: FileReference;
  readonly to: Key;
}

/**
 * Yields each record after the records that it refers to. If only records in a circle of references are left, yields
 * one that can be created without the references that are still open. `late` has the names of these references.
 */
function* inOrder(waiting: readonly WaitingLine[]): Generator<readonly [each: WaitingLine, late: readonly string[]]> {
  const ids = new Set(waiting.map(({ id }) => id));
  const left = new Map(
    waiting.map((each) => [each, new Set(each.targets.flatMap(({ to }) => (ids.has(to) ? [to] : [])))]),
  );
  const pairs = [...left].flatMap(([each, open]) => [...open].map((to) => ({ each, to })));
  const referring = Map.groupBy(pairs, ({ to }) => to);
  const ready = waiting.filter((each) => left.get(each)!.size === 0);
  let first = 0;

  function markYielded(each: WaitingLine): void {
    left.delete(each);
    if (each.id === null) return;
    for (const { each: other } of referring.get(each.id) ?? []) {
      const open = left.get(other);
      if (open?.delete(each.id) === true && open.size === 0) ready.push(other);
    }
  }

  function openFields(each: WaitingLine): readonly FileReference[] {
    return [...new Set(each.targets.flatMap(({ field, to }) => (left.get(each)!.has(to) ? [field] : [])))];
  }

  /**
   * Returns the first record that can be created without its open references. Otherwise returns the first record, which
   * will be refused.
   */
  function cutCircle(): readonly [WaitingLine, readonly string[]] {
    while (!left.has(waiting[first]!)) first++;
    let at = first;
    while (at < waiting.length && !(left.has(waiting[at]!) && openFields(waiting[at]!).every(isOptional))) at++;
    const each = waiting[at] ?? waiting[first]!;
    const fields = openFields(each).filter(isOptional);
    return [each, fields.map(({ name }) => name)];
  }

  for (let at = 0; left.size > 0;) {
    const next = ready[at];
    if (next !== undefined) at++;
    const [each, late] = next === undefined ? cutCircle() : [next, []];
    markYielded(each);
    yield [each, late];
  }
}

function isOptional({ isOptional: is }: FileReference): boolean {
  return is;
}
