import type { NewUser, People } from "../../door/auth.ts";
import type { Change, Store } from "../../door/stores.ts";
import { readImportedUser, type ImportOptions } from "./imported-user.ts";

export type { ImportOptions } from "./imported-user.ts";

/** One line of a file, by column name. */
export interface ImportLine {
  readonly line: number;
  readonly record: Readonly<Record<string, unknown>>;
}

/** A refused line with the reason, which never shows a password. */
export interface RefusedLine {
  readonly line: number;
  readonly reasons: readonly string[];
}

/** The result for some lines. */
export interface ImportedBatch {
  readonly imported: number;
  readonly refused: readonly RefusedLine[];
}

/** The target of an import. */
export interface Importing {
  readonly store: Store;
  readonly people: People;
}

interface Candidate {
  readonly line: number;
  readonly user: NewUser;
}

/** Imports users in one transaction, as far as possible. A refused line does not affect the others. */
export async function importUsers(
  parts: Importing,
  lines: readonly ImportLine[],
  options: ImportOptions,
): Promise<ImportedBatch> {
  const refused: RefusedLine[] = [];
  const candidates: Candidate[] = [];
  for (const { line, record } of lines) {
    const user = readImportedUser(record, parts.people.accounts, options);
    if ("reasons" in user) refused.push({ line, reasons: user.reasons });
    else candidates.push({ line, user });
  }
  const good = await withoutTaken(parts, candidates, refused);
  const imported = await writeAll(parts, good, refused);
  return { imported, refused: refused.toSorted((one, other) => one.line - other.line) };
}

/**
 * Returns the users whose address and username are free, and refuses the others before the write. Otherwise, a second
 * import of the same file would need a transaction for each refused line.
 */
async function withoutTaken(
  { store, people: { accounts } }: Importing,
  candidates: readonly Candidate[],
  refused: RefusedLine[],
): Promise<readonly Candidate[]> {
  const looked = await Promise.all(
    candidates.map(async (candidate) => {
      const { email, username } = candidate.user;
      const [sameEmail, sameName] = await Promise.all([
        store.findBy(accounts.users.collection, "email", email),
        accounts.findByUsername(username),
      ]);
      return {
        candidate,
        reasons: [...(sameEmail === null ? [] : [taken("email")]), ...(sameName === null ? [] : [taken("username")])],
      };
    }),
  );
  for (const { candidate, reasons } of looked) if (reasons.length > 0) refused.push({ line: candidate.line, reasons });
  return looked.filter(({ reasons }) => reasons.length === 0).map(({ candidate }) => candidate);
}

/** Writes all users in one transaction. If the store refuses a line, the others are written without it. */
async function writeAll(parts: Importing, candidates: readonly Candidate[], refused: RefusedLine[]): Promise<number> {
  let imported = 0;
  for (let rest = candidates; rest.length > 0;) {
    const { outcome, starts } = await write(parts, rest);
    if (outcome.kind === "written") return imported + rest.length;
    if (outcome.kind !== "taken" && (outcome.kind !== "refused" || outcome.name !== "taken"))
      throw new Error(`The store answered ${outcome.kind} to new users.`);
    const at = starts.findLastIndex((start) => start <= outcome.change);
    refused.push({ line: rest[at]!.line, reasons: [taken(outcome.kind === "taken" ? outcome.column : "username")] });
    imported += await writeAll(parts, rest.slice(0, at), refused);
    rest = rest.slice(at + 1);
  }
  return imported;
}

/** Writes all users. Returns the changes too, and the index of the first change of each user. */
async function write({ store, people }: Importing, candidates: readonly Candidate[]) {
  const changes: Change[] = [];
  const starts: number[] = [];
  for (const { user } of candidates) {
    starts.push(changes.length);
    changes.push(...people.accounts.insertUser(user, changes.length));
  }
  return { outcome: await store.write({ changes }), starts };
}

function taken(column: string | null): string {
  return column === null ? "another user has these values already." : `${column}: another user has it already.`;
}
