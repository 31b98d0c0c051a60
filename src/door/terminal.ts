/** For the command only. It is not exported by the package, and loads nothing else. */
import "../core/node-version.ts";

export { visible, visibleLines } from "../core/visible.ts";
