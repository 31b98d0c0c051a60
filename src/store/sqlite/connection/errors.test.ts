import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreFull, StoreUnavailable } from "../../store.ts";
import { openingError } from "../whole/alone.ts";
import { storeError } from "./errors.ts";

const ofSQLite = (message: string, errcode: number) => Object.assign(new Error(message), { errcode });
const ofSystem = (code: string) => Object.assign(new Error(`${code}: failed, read`), { code, syscall: "read" });

test("reports a failure of the disk, the file or a lock with its cause and fix, and not as a fault", () => {
  const errors = [
    ofSQLite("database is locked", 5),
    ofSQLite("unable to open database file", 14),
    ofSystem("EIO"),
    ofSystem("EMFILE"),
  ].map((error) => storeError(error));

  for (const error of errors) assert.ok(error instanceof StoreUnavailable);
  assert.deepEqual(
    errors.map((error) => /fuser on the file|ulimit -n|EIO|EMFILE/.exec((error as Error).message)?.[0]),
    ["fuser on the file", "ulimit -n", "EIO", "EMFILE"],
  );
  assert.ok(storeError(ofSystem("ENOSPC")) instanceof StoreFull);
});

test("returns the error of a wrong statement or of a bug unchanged", () => {
  for (const error of [ofSQLite("no such column: a", 1), new TypeError("x is not a function")])
    assert.equal(storeError(error), error);
});

test("explains disk failures to commands that read a file, with SQLite's result code", () => {
  const said = (errcode: number): string => String(openingError(ofSQLite("disk I/O error", errcode), "x.db"));

  assert.match(said(4874), /the disk may be full \(disk I\/O error\), code 4874$/);
  assert.match(said(266), /disk I\/O error, code 266$/);
});
