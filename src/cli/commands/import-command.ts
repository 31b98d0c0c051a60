import type { ImportLine, RefusedLine } from "../../service/records/import-users.ts";
import type { Operator } from "../../service/system/operator.ts";
import { importError, openImportFile, type ImportFile, type ImportFormat } from "../input/import-file.ts";
import { exits, UsageError, print, printError } from "../output.ts";
import { makeProgress } from "../progress.ts";
import { describeFirstAdministrator } from "../serving/banner.ts";
import { withOperator } from "../with-operator.ts";

/** The options of `latchkey user import`. */
export interface ImportCommandOptions {
  readonly format?: string;
  readonly staffIsAdmin?: boolean;
  readonly json?: boolean;
}

// The number of users in a transaction: enough to share a disk sync, but few enough to let the service write in
// between.
const BATCH = 500;

/** The results of the import so far. */
interface Tally {
  imported: number;
  skipped: number;
  refused: number;
  /** Filled only for JSON output. Otherwise refused lines are printed immediately. */
  readonly refusedLines: RefusedLine[];
}

/** Imports users from a file. Reports every line that was refused, and the number of imported lines. */
export async function importFile(
  name: string,
  { format, staffIsAdmin = false, json = false }: ImportCommandOptions,
): Promise<void> {
  const file = await openImportFile(name, requireFormat(format));
  const tally: Tally = { imported: 0, skipped: 0, refused: 0, refusedLines: [] };
  await withOperator(
    async (operator) => {
      // Creates the first administrator before the users. Otherwise a user in the file could take the administrator's
      // username, and the next start of the service could not create the administrator.
      const first = await operator.makeFirstAdministrator();
      if (first !== null) printError(`${describeFirstAdministrator(first)}\n`);
      await importAll(operator, file, { staffIsAdmin, json }, tally);
    },
    { mayCreate: true },
  );
  const { imported, skipped, refused, refusedLines } = tally;
  if (json)
    print(
      `${JSON.stringify({ imported, skipped, refused: refusedLines.toSorted((one, other) => one.line - other.line) })}\n`,
    );
  else
    print(`${imported} imported, ${refused} refused${skipped === 0 ? "" : `, ${skipped} of other models skipped`}.\n`);
  if (refused > 0) process.exitCode = exits.failed;
}

async function importAll(
  operator: Operator,
  file: ImportFile,
  { staffIsAdmin, json }: { readonly staffIsAdmin: boolean; readonly json: boolean },
  tally: Tally,
): Promise<void> {
  const progress = makeProgress("Importing");
  let batch: ImportLine[] = [];

  const refuse = (lines: readonly RefusedLine[]): void => {
    tally.refused += lines.length;
    if (json) tally.refusedLines.push(...lines);
    else if (lines.length > 0) {
      progress.end();
      for (const { line, reasons } of lines) printError(`${file.unit} ${line}: ${reasons.join(" ")}\n`);
    }
  };
  const flush = async (): Promise<void> => {
    const { imported, refused } = await operator.importUsers(batch, { staffIsAdmin, now: Date.now() });
    batch = [];
    tally.imported += imported;
    refuse(refused);
    const { done, total } = file.progress();
    progress.report(done, total, tally.imported + tally.refused);
  };

  try {
    for await (const line of file.lines) {
      if ("record" in line) batch.push(line);
      else if ("reasons" in line) refuse([line]);
      else tally.skipped++;
      if (batch.length === BATCH) await flush();
    }
    await flush();
  } catch (error) {
    const before = `${tally.imported} were imported before the error. If you import the file again, those are refused as taken.`;
    throw importError(error, tally.imported, before);
  } finally {
    progress.end();
  }
}

function requireFormat(format: string | undefined): ImportFormat | null {
  if (format === undefined || format === "csv" || format === "jsonl" || format === "json") return format ?? null;
  throw new UsageError("--format is csv, jsonl or json.");
}
