// Loaded with `--import`. Imports of "latchkey" then get the source or the tested build, so that examples and docs need
// no `dist`.
import { resolveModule } from "./command.ts";
import { hookDoors } from "./hook-doors.ts";

hookDoors(resolveModule);
