import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreFull, StoreUnavailable } from "../store.ts";
import { storeError } from "./errors.ts";
import { openingError } from "./whole/alone.ts";

const ofSQLite = (message: string, errcode: number) => Object.assign(new Error(message), { errcode });
const ofSystem = (code: string) => Object.assign(new Error(`${code}: failed, read`), { code, syscall: "read" });

test("what the disk, the file or a lock fails with is told with its cause and the cure, and is no fault", () => {
  const told = [
    ofSQLite("database is locked", 5),
    ofSQLite("unable to open database file", 14),
    ofSystem("EIO"),
    ofSystem("EMFILE"),
  ].map((error) => storeError(error));

  for (const error of told) assert.ok(error instanceof StoreUnavailable);
  assert.deepEqual(
    told.map((error) => /fuser on the file|ulimit -n|EIO|EMFILE/.exec((error as Error).message)?.[0]),
    ["fuser on the file", "ulimit -n", "EIO", "EMFILE"],
  );
  assert.ok(storeError(ofSystem("ENOSPC")) instanceof StoreFull);
});

test("a mistake in a statement or in a program stays what it is", () => {
  for (const error of [ofSQLite("no such column: a", 1), new TypeError("x is not a function")])
    assert.equal(storeError(error), error);
});

test("a command that reads a file is told what the disk fails with, and how it is mended", () => {
  const said = (errcode: number): string => String(openingError(ofSQLite("disk I/O error", errcode), "x.db"));

  assert.match(said(4874), /the disk may be full \(disk I\/O error\), code 4874$/);
  assert.match(said(266), /disk I\/O error, code 266$/);
});
