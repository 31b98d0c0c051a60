/** For the command only. The package does not export this file. It loads only the modules below. */
import "../core/node-version.ts";

export { visible, visibleLines } from "../core/visible.ts";
