import { brotliDecompressSync } from "node:zlib";
import { commonPasswordsData } from "./common-passwords-data.ts";

/**
 * Whether everyone's first guess would be this password, without regard to case. Knows those of eight or more
 * characters. Unpacked for each question (under 1 ms): a password is set rarely, and the list would stay in memory for good.
 */
export function isCommonPassword(password: string): boolean {
  const list = brotliDecompressSync(Buffer.from(commonPasswordsData, "base64")).toString("latin1");
  return !password.includes("\n") && list.includes(`\n${password.toLowerCase()}\n`);
}
