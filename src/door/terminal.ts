/**
 * Names for the `latchkey` command only: the package does not export this file. Importing it loads only these two
 * modules.
 */
import "../core/node-version.ts";

export { visible, visibleLines } from "../core/visible.ts";
