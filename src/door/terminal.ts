/** For the command. It is no part of the package's exports, and loads nothing else. */
import "../core/node-version.ts";

export { visible, visibleLines } from "../core/visible.ts";
