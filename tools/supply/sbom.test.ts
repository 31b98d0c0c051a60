// The bill of materials must name every package of the lock file that users install, and no package that only
// developers install.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
}

const root = path.join(import.meta.dirname, "../..");
const read = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), "utf8"));

test("lists exactly the packages that users install in the bill of materials", () => {
  const { packages } = read("package-lock.json") as { readonly packages: Readonly<Record<string, Locked>> };
  const { components } = read("latchkey.cdx.json") as { readonly components: readonly { readonly purl: string }[] };

  const installed = Object.entries(packages)
    .filter(([place, { dev }]) => place !== "" && dev !== true)
    .map(([place, { version }]) => `${place.slice(place.lastIndexOf("node_modules/") + 13)}@${version}`);
  const named = components.map(({ purl }) => decodeURIComponent(/^pkg:npm\/([^?]+)/.exec(purl)![1]!));

  assert.deepEqual(named.toSorted(), [...new Set(installed)].toSorted());
});
