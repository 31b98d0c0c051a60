import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { asNobody } from "../../../../tests/harness/as-nobody.ts";
import type { Observation } from "../../../core/observation.ts";
import { parseSigningKeys } from "./signing-keys.ts";
import { watchSigningKeys } from "./signing-watched-keys.ts";

const place = mkdtempSync(path.join(tmpdir(), "latchkey-keys-"));
const file = path.join(place, "keys.json");

after(() => rmSync(place, { recursive: true, force: true }));

const makeKey = () => generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
const readKid = (jwk: object): string => parseSigningKeys(JSON.stringify({ keys: [jwk] }), "a key").signing.kid;

function put(...keys: readonly object[]): void {
  writeFileSync(`${file}.new`, JSON.stringify({ keys }));
  renameSync(`${file}.new`, file);
}

function watch() {
  const observations: Observation[] = [];
  let now = 0;
  const keys = watchSigningKeys(file, { observe: (observation) => observations.push(observation), now: () => now });
  return { keys, observations, wait: (ms: number) => (now += ms) };
}

test("signs with a new key within a second, and looks for an unknown key immediately", () => {
  const [old, next] = [makeKey(), makeKey()];
  put(old);
  const { keys, wait } = watch();
  put(next, old);

  assert.equal(keys.signing.kid, readKid(old));
  assert.equal(keys.find(readKid(next))?.kid, readKid(next));
  assert.deepEqual([keys.signing.kid, keys.version], [readKid(next), 1]);

  put(next);
  assert.equal(keys.find(readKid(old))?.kid, readKid(old));
  wait(1000);
  assert.deepEqual([keys.find(readKid(old)), keys.version], [null, 2]);
});

test("publishes the current content of the file", () => {
  const [old, next] = [makeKey(), makeKey()];
  put(old);
  const { keys } = watch();

  put(old, next);

  assert.deepEqual(
    keys.jwks().keys.map(({ kid }) => kid),
    [readKid(old), readKid(next)],
  );
});

test("reports each unusable state of the file once, and keeps the keys until the file is usable", () => {
  const [old, next] = [makeKey(), makeKey()];
  put(old);
  const { keys, observations, wait } = watch();

  writeFileSync(file, "nonsense");
  for (let seconds = 0; seconds < 3; seconds++) {
    wait(1000);
    assert.equal(keys.signing.kid, readKid(old));
  }
  rmSync(file);
  wait(1000);
  assert.equal(keys.signing.kid, readKid(old));
  put(next);
  wait(1000);

  assert.equal(keys.signing.kid, readKid(next));
  assert.deepEqual(
    observations.map(({ kind }) => kind),
    ["notice", "notice"],
  );
});

test("reads an unreadable file as soon as its permissions allow it", () => {
  const [old, next] = [makeKey(), makeKey()];
  chmodSync(place, 0o755);
  put(old);
  const { keys, wait } = watch();
  const kidAsNobody = (): string => (wait(1000), asNobody(() => keys.signing.kid));
  put(next);
  chmodSync(file, 0o000);
  assert.equal(kidAsNobody(), readKid(old));

  chmodSync(file, 0o444);

  assert.equal(kidAsNobody(), readKid(next));
});
